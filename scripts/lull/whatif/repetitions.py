# SPDX-License-Identifier: BSD-3-Clause
"""Finds repetitions among several runs: runs that differ only in their seeds, not in settings, engine or artifacts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull.rundir.folder import RunDir
from lull.rundir.manifest import makers
from lull.runspec import seeds
from lull.runspec.dotted import differing, flat

ENOUGH = 3
"""The smallest number of boots whose spread alone shows the effect of chance. Two may be alike by chance."""
_NAMED = 3
"""The number of settings that are named, among those in which runs differ."""


@dataclass(frozen=True)
class Repetitions:
    """Runs with the same settings, each with other seeds."""

    paths: tuple[Path, ...]
    boots: tuple[int, ...]
    """The seed of each run's boot."""

    @property
    def name(self) -> str:
        """Return the name of the mean of these runs."""
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
    """Return the groups of repetitions, and a sentence about each run that is not in the group of the first run."""
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
    """Return the settings and makers of a run without its seeds, and the seeds."""
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
