# SPDX-License-Identifier: BSD-3-Clause
"""Options that mean the same in several commands."""

from pathlib import Path
from typing import Annotated

import typer

from lull.files import paths
from lull.runspec.period import period as period
from lull.runspec.policy import choices
from lull.runspec.spec import SEED_MAX, EngineName, Flavour

PlatformOption = Annotated[
    str,
    typer.Option(
        "--platform", "-p", help="machine: a name from `lull platform list`, or a YAML file of yours", metavar="P"
    ),
]
EngineOption = Annotated[
    EngineName | None,
    typer.Option("--engine", "-e", help="simulator; if not given, gem5 where one is found, else qemu"),
]
Gem5Option = Annotated[
    str | None,
    typer.Option(
        help="path of the gem5 binary; if not given, $GEM5, or gem5.opt, gem5.fast or gem5 on PATH", metavar="FILE"
    ),
]
FlavourOption = Annotated[
    Flavour,
    typer.Option(
        help="kernel configuration: debug (KASAN, lockdep), race (KCSAN), torture (rcutorture), rt (PREEMPT_RT), "
        "or default"
    ),
]
StatsPeriodOption = Annotated[
    str | None,
    typer.Option(
        "--stats-period",
        help="on gem5, dump statistics at least this often in simulated time, such as 1ms or 250us",
        metavar="TIME",
    ),
]
SeedOption = Annotated[int, typer.Option(help="seed of everything random in a run", min=0, max=SEED_MAX)]
ShadowOption = Annotated[
    bool | None,
    typer.Option(help="add or remove the shadow core; if neither is given, the platform file decides"),
]
OutOption = Annotated[
    Path | None, typer.Option(help="folder for the run; if not given, runs/<time>-<platform>-<engine>")
]


def complete_result(incomplete: str) -> list[str]:
    """Return the names of published results that begin with a text, for shell completion."""
    names = sorted(path.parent.name for path in paths.RESULTS.glob("*/manifest.json"))
    return [name for name in names if name.startswith(incomplete)]


def complete_setting(incomplete: str) -> list[str]:
    """Return the words that complete a `--set`: keys of the policy, or after the `=` the values of that key."""
    key, equals, _ = incomplete.partition("=")
    known = choices()
    words = [f"{key}={value}" for value in known.get(key, ())] if equals else [f"{name}=" for name in known]
    return [word for word in words if word.startswith(incomplete)]
