# SPDX-License-Identifier: BSD-3-Clause
"""What an analysis draws of the tables that it found."""

from matplotlib.figure import Figure

from lull.figures import drawing
from lull.figures.drawing import Stored
from lull.figures.origin import Origin
from lull.figures.result import Result
from lull.scenario.load import load_scenario

GEM5 = Origin("gem5", "24.0", "detailed", "tiny")
QEMU = Origin("qemu", "7.2", None, "tiny")


def figures(scenario: str, found: Result, origin: Origin = GEM5) -> dict[str, Figure]:
    analysis = load_scenario(scenario).analysis
    return {item.name: item.figure for item in drawing.of_tables(analysis, Stored(origin, found.tables))}
