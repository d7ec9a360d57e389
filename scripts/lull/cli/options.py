# SPDX-License-Identifier: BSD-3-Clause
"""Options that mean the same in several commands."""

from pathlib import Path
from typing import Annotated

import typer

from lull.runspec.period import period as period
from lull.runspec.policy import choices
from lull.runspec.spec import SEED_MAX, EngineName, Flavour

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


def complete_setting(incomplete: str) -> list[str]:
    """For the shell: keys of what Linux is asked for, and after the `=` their values."""
    key, equals, _ = incomplete.partition("=")
    known = choices()
    words = [f"{key}={value}" for value in known.get(key, ())] if equals else [f"{name}=" for name in known]
    return [word for word in words if word.startswith(incomplete)]
