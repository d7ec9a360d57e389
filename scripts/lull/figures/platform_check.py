# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `platform-check`: does the hardware that sleeps do what it says?"""

from lull.figures import agreement, frequency, placement, routing
from lull.figures.drawing import Drawing, Stored
from lull.figures.result import Result
from lull.figures.source import Runs


def analyse(runs: Runs) -> Result:
    result = Result(summary="")
    for part in (agreement, frequency, routing, placement):
        part.extend(result, runs)
    return result


def draw(stored: Stored) -> list[Drawing]:
    return [drawing for part in (agreement, frequency, routing) for drawing in part.draw(stored)]
