# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `esm-gesture`: figures 6.3 and 6.4 of the paper, and events that nobody asked for."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lull.figures.esm import events as esm_events
from lull.figures.esm.events import Experiment
from lull.figures.esm.plots import Mark
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Result
from lull.scenario.runs import Runs

EXPERIMENT = Experiment(
    axis="moves",
    heading="motions a second",
    sooner_ms=[Mark("mean", 9.6), Mark("clicks only", 14, at=0), Mark("100 motions/s", 6, at=100)],
    saved_percent=[],
    aside=(
        "clicks-only",
        "clicks-only-shadow",
        "deeper",
        "deeper-shadow",
        "deeper-clicks-only-shadow",
        "clocks",
        "untouched",
        "shadow-at-rest",
        "slow-shadow",
        "clicks-only-slow-shadow",
        "deeper-slow-shadow",
        "boots",
    ),
)


def analyse(runs: Runs) -> Result:
    return esm_events.analyse(runs, EXPERIMENT)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    return esm_events.conclude(tables, EXPERIMENT)


def draw(stored: Stored) -> list[Drawing]:
    return esm_events.draw(stored, EXPERIMENT)


def against(stored: Stored) -> list[Against]:
    return esm_events.against(stored, EXPERIMENT)
