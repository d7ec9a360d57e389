# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `esm-keyboard`: figures 6.2 and 6.5 of the paper."""

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
    axis="rate",
    heading="keys a minute",
    sooner_ms=[Mark("mean", 13.6)],
    saved_percent=[Mark("at most", 23.8)],
    aside=("boots",),
)


def analyse(runs: Runs) -> Result:
    return esm_events.analyse(runs, EXPERIMENT)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    return esm_events.conclude(tables, EXPERIMENT)


def draw(stored: Stored) -> list[Drawing]:
    return esm_events.draw(stored, EXPERIMENT)


def against(stored: Stored) -> list[Against]:
    return esm_events.against(stored, EXPERIMENT)
