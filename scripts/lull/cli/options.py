# SPDX-License-Identifier: BSD-3-Clause
"""Options that mean the same in several commands."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lull.errors import UserError
from lull.runspec.policy import choices
from lull.runspec.spec import SEED_MAX, SIMULATED_MAX_S, EngineName, Flavour

PlatformOption = Annotated[
    str, typer.Option("--platform", "-p", help="a name from `lull platform list`, or a file", metavar="P")
]
EngineOption = Annotated[EngineName | None, typer.Option("--engine", "-e", help="gem5 if found, else qemu")]
Gem5Option = Annotated[str | None, typer.Option(help="gem5 binary; $GEM5 or gem5.opt on PATH if not given")]
FlavourOption = Annotated[Flavour, typer.Option(help="kernel flavour")]
StatsPeriodOption = Annotated[
    str | None,
    typer.Option(
        "--stats-period",
        help="on gem5, begin a new window of statistics after this simulated time at the latest, such as 1ms or 250us",
        metavar="TIME",
    ),
]
SeedOption = Annotated[int, typer.Option(help="of everything random in the engine", min=0, max=SEED_MAX)]
ShadowOption = Annotated[bool | None, typer.Option(help="with or without the platform's shadow core")]
OutOption = Annotated[
    Path | None, typer.Option(help="folder for the run; runs/<time>-<platform>-<engine> if not given")
]

_PERIOD = re.compile(r"(\d+(?:\.\d+)?)(s|ms|us)")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
SHORTEST_PERIOD_S = 1e-6


def complete_setting(incomplete: str) -> list[str]:
    """For the shell: keys of what Linux is asked for, and after the `=` their values."""
    key, equals, _ = incomplete.partition("=")
    known = choices()
    words = [f"{key}={value}" for value in known.get(key, ())] if equals else [f"{name}=" for name in known]
    return [word for word in words if word.startswith(incomplete)]


def period(text: str | None) -> float | None:
    """Seconds of a time with its unit."""
    if text is None:
        return None
    match = _PERIOD.fullmatch(text)
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not SHORTEST_PERIOD_S <= seconds <= SIMULATED_MAX_S:
        raise UserError(
            f"--stats-period {text}: not a time from 1us to {SIMULATED_MAX_S:g}s; write one as 1ms, 250us or 0.1s"
        )
    return seconds


def overrides(settings: Sequence[str] | None, shadow: bool | None) -> list[str]:
    """`--shadow` is a short word for its key; an explicit `--set` of that key comes first and loses."""
    words = list(settings or [])
    if shadow is not None:
        words.append(f"shadow.enabled={str(shadow).lower()}")
    return words
