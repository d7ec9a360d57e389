# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `waeas-parmi`: table 2 of the WAEAS paper."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lull.figures import throughput
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Result
from lull.scenario.runs import Runs

PAPER = {
    "bitcount": 2.44, "susan": 0.01, "basicmath": 0.81, "patricia": 46.20, "dijkstra": 1.92, "stringsearch": 1.23,
    "sha1": -13.87,
}  # fmt: skip
"""By how many per cent WAEAS is faster than EAS."""
PAPER_SAVES = {
    "bitcount": 4.04, "susan": 4.68, "basicmath": 6.33, "patricia": 48.51, "dijkstra": 8.09, "stringsearch": 4.38,
    "sha1": -10.16,
}  # fmt: skip
"""By how many per cent less power it takes, by the paper's equation 7."""


def analyse(runs: Runs) -> Result:
    return throughput.analyse(runs, "parmi")


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    return throughput.conclude(tables, points)


def draw(stored: Stored) -> list[Drawing]:
    return throughput.draw(stored)


def against(stored: Stored) -> list[Against]:
    return throughput.against(
        stored, lambda row: f"{PAPER[row['kernel']]:g}", "WAEAS paper, table 2",
        saves=lambda row: f"{PAPER_SAVES[row['kernel']]:g}",
    )  # fmt: skip
