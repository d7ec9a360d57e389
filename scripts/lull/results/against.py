# SPDX-License-Identifier: BSD-3-Clause
"""Compares figures of papers and data sheets with ours, one line each.

An analysis with such figures has a function `against(stored) -> list[Against]`, which needs only its stored tables.
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
    """The best modern alternative to the mechanism, if the question has one."""
    source: str = ""


def of_folder(folder: Path) -> list[Against]:
    analysis, stored = drawing.read(folder)
    tell: Callable[[Stored], list[Against]] | None = getattr(analysis, "against", None)
    return [] if tell is None else tell(stored)
