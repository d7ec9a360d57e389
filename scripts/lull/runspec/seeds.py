# SPDX-License-Identifier: BSD-3-Clause
"""The seeds of a run, in which repetitions of one measurement differ."""

import re
from typing import NamedTuple

from lull.runspec.spec import RunSpec

_OPTION = re.compile(r"(?<!\S)(?P<before>--seed[ =])(?P<seed>[0-9]+)\b")
"""The option of all guest programs of lull with a random load."""
_POISSON = re.compile(r"^(?P<before>[ \t]*poisson(?:[ \t]+[0-9]+){3}[ \t]+)(?P<seed>[0-9]+)\b", re.MULTILINE)
"""A line of random events in a schedule."""


class Seeds(NamedTuple):
    boot: int
    """The seed of Linux's random numbers (`boot_seed`)."""
    load: tuple[int, ...]
    """The seeds in the command, the peer's command, and the schedule."""
    engine: int


def of(spec: RunSpec) -> Seeds:
    load = [
        int(match["seed"])
        for pattern, text in ((_OPTION, spec.command), (_OPTION, spec.peer), (_POISSON, spec.schedule))
        for match in pattern.finditer(text or "")
    ]
    return Seeds(spec.platform.boot_seed, tuple(load), spec.seed)


def without(spec: RunSpec) -> RunSpec:
    """Return the RunSpec with 0 for each seed."""
    return spec.model_copy(
        update={
            "platform": spec.platform.model_copy(update={"boot_seed": 0}),
            "command": _zeroed(_OPTION, spec.command),
            "peer": _zeroed(_OPTION, spec.peer),
            "schedule": _zeroed(_POISSON, spec.schedule),
            "seed": 0,
        }
    )


def _zeroed(pattern: re.Pattern[str], text: str | None) -> str | None:
    return text and pattern.sub(r"\g<before>0", text)
