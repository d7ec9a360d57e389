# SPDX-License-Identifier: BSD-3-Clause
"""Figures of papers and data sheets beside ours, one line each.

An analysis that has such figures has a function `against(stored) -> list[Against]`, of its stored tables alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lull.results import drawing
from lull.results.drawing import Stored


@dataclass(frozen=True)
class Against:
    what: str
    unit: str
    here: str
    published: str
    baseline: str = "-"
    """The honest modern alternative to the mechanism, where the question has one."""
    source: str = ""


def of_folder(folder: Path) -> list[Against]:
    analysis, stored = drawing.read(folder)
    tell: Callable[[Stored], list[Against]] | None = getattr(analysis, "against", None)
    return [] if tell is None else tell(stored)
