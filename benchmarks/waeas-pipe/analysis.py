# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `waeas-pipe`: figure 12 of the WAEAS paper."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lull.figures import throughput
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Result
from lull.scenario.runs import Runs


def analyse(runs: Runs) -> Result:
    return throughput.analyse(runs, "sched-bench")


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    return throughput.conclude(tables, points)


def draw(stored: Stored) -> list[Drawing]:
    return throughput.draw(stored)


def against(stored: Stored) -> list[Against]:
    return throughput.against(stored, lambda _: "up to 2", "WAEAS paper, figure 12")
