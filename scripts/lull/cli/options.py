# SPDX-License-Identifier: BSD-3-Clause
"""Options that mean the same in several commands."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lull.runspec import EngineName, Flavour

PlatformOption = Annotated[
    str, typer.Option("--platform", "-p", help="a name from `lull platform list`, or a file", metavar="P")
]
EngineOption = Annotated[EngineName | None, typer.Option("--engine", "-e", help="gem5 if found, else qemu")]
Gem5Option = Annotated[str | None, typer.Option(help="gem5 binary; $GEM5 or gem5.opt on PATH if not given")]
FlavourOption = Annotated[Flavour, typer.Option(help="kernel flavour")]
ShadowOption = Annotated[bool | None, typer.Option(help="with or without the platform's shadow core")]
OutOption = Annotated[
    Path | None, typer.Option(help="folder for the run; runs/<time>-<platform>-<engine> if not given")
]


def overrides(settings: Sequence[str] | None, shadow: bool | None) -> list[str]:
    """`--shadow` is a short word for its key; an explicit `--set` of that key comes first and loses."""
    words = list(settings or [])
    if shadow is not None:
        words.append(f"shadow.enabled={str(shadow).lower()}")
    return words
