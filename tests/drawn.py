# SPDX-License-Identifier: BSD-3-Clause
"""The figures that an analysis draws of the tables that it found."""

from matplotlib.figure import Figure

from lull.results import drawing
from lull.results.drawing import Stored
from lull.results.result import Result
from lull.rundir.origin import Origin
from lull.scenario import experiments
from lull.scenario.load import load_scenario

GEM5 = Origin("gem5", "24.0", "detailed", "tiny")
QEMU = Origin("qemu", "7.2", None, "tiny")


def figures(scenario: str, found: Result, origin: Origin = GEM5) -> dict[str, Figure]:
    analysis = experiments.analysis_in(load_scenario(scenario).folder)
    return {item.name: item.figure for item in drawing.of_tables(analysis, Stored(origin, found.tables))}
