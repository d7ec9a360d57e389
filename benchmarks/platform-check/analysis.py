# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `platform-check`: does the hardware that sleeps do what it says?"""

from lull.results.drawing import Drawing, Stored
from lull.results.result import Result
from lull.scenario.runs import Runs

from . import agreement, frequency, placement, routing


def analyse(runs: Runs) -> Result:
    result = Result(summary="")
    for part in (agreement, frequency, routing, placement):
        part.extend(result, runs)
    return result


def draw(stored: Stored) -> list[Drawing]:
    return [drawing for part in (agreement, frequency, routing) for drawing in part.draw(stored)]
