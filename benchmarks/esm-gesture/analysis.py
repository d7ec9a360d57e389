# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `esm-gesture`: figures 6.3 and 6.4 of the paper, and events that nobody asked for."""

from lull.figures.esm import checks as esm_checks
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
    aside=("clicks-only", "clicks-only-shadow"),
)


def analyse(runs: Runs) -> Result:
    result, table = esm_events.analyse(runs, EXPERIMENT)
    if runs.timed:
        for group, name in (("clicks-only", "ESM"), ("clicks-only-shadow", "ESM with the shadow core")):
            says = f"{name} burns less than epoll where most events are not asked for"
            result.checks += esm_checks.less_power(table, f"{group}/esm-", "clicks-only/epoll-", EXPERIMENT.axis, says)
    return result


def draw(stored: Stored) -> list[Drawing]:
    return esm_events.draw(stored, EXPERIMENT)


def against(stored: Stored) -> list[Against]:
    return esm_events.against(stored, EXPERIMENT)
