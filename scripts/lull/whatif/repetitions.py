# SPDX-License-Identifier: BSD-3-Clause
"""Which of several runs are repetitions of one another: made of the same, asked the same, with other seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull.rundir.folder import RunDir
from lull.rundir.manifest import makers
from lull.runspec import seeds
from lull.runspec.dotted import differing, flat

ENOUGH = 3
"""Boots whose spread says by itself what chance does. Two may come out alike."""
_NAMED = 3
"""Settings that are named, of those in which runs differ."""


@dataclass(frozen=True)
class Repetitions:
    """Runs with the same settings, each with other seeds."""

    paths: tuple[Path, ...]
    boots: tuple[int, ...]
    """Of each run the seed of its boot."""

    @property
    def name(self) -> str:
        """What the mean of these runs is called."""
        return f"mean of {len(self.paths)} repetitions of {self.paths[0]}"

    @property
    def note(self) -> str:
        boots = len(set(self.boots))
        how = (
            f"measured by the spread of {boots} boots"
            if boots >= ENOUGH
            else f"that of a single run, or the spread if that is larger: these runs are of {boots} "
            f"boot{'s' if boots > 1 else ''}, and {ENOUGH} would measure it"
        )
        return f"the runs are {', '.join(map(str, self.paths))}; the error bars' part for chance is {how}"


def of(paths: Sequence[Path]) -> tuple[list[Repetitions], list[str]]:
    """Those that have repetitions among the runs, and a sentence about each run that is not pooled with the first."""
    alike: list[tuple[dict[str, Any], dict[seeds.Seeds, Path]]] = []
    again = []
    for path in paths:
        about, own = _about(path)
        known = next((runs for other, runs in alike if other == about), None)
        if known is None:
            alike.append((about, {own: path}))
        elif own in known:
            again.append(f"{path}: not pooled with {known[own]}, which has the same seeds: it is the same run again")
        else:
            known[own] = path
    groups = [Repetitions(tuple(runs.values()), tuple(own.boot for own in runs)) for _, runs in alike]
    others = [
        f"{_named(group)}: not pooled with {groups[0].paths[0]}, which differs in {_differences(alike[0][0], about)}"
        for group, (about, _) in zip(groups[1:], alike[1:], strict=True)
    ]
    return [group for group in groups if len(group.paths) > 1], [*again, *others]


def _about(path: Path) -> tuple[dict[str, Any], seeds.Seeds]:
    """What was asked and what made the run, without the seeds; and these."""
    rundir = RunDir.open(path)
    spec, made_by = rundir.spec(), rundir.manifest()
    about = {
        **seeds.without(spec).model_dump(mode="json"),
        **makers(made_by["engine"], made_by["artifacts"]),
    }
    return flat(about), seeds.of(spec)


def _named(group: Repetitions) -> str:
    return f"{group.paths[0]}{' and its repetitions' if len(group.paths) > 1 else ''}"


def _differences(first: dict[str, Any], second: dict[str, Any]) -> str:
    keys = differing(first, second)
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(keys[:_NAMED]) + more
