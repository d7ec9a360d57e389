# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-overhead`: how busy a CPU is with the monitor off and on."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lull.figures import waiting
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

LOAD = "load.jsonl"
PLACE = ("monitor", "kbit_s", "interval_us")
MOST, PAPER = 0.005, 0.0074
"""Of a CPU's time, that the monitor may take, and that the paper's takes."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    intervals = df_intervals(runs)
    tables = {"intervals": intervals, "points": df_points(intervals)}
    return conclude(tables, [run.name for run in runs.runs], runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    return Result(
        summary="## How busy the CPU is\n\n" + waiting.so_far(table, points) + _points_text(table),
        tables=dict(tables),
        checks=checks(table) if timed else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    return []


def against(stored: Stored) -> list[Against]:
    points = stored.rows("points")
    return [
        Against(
            f"the monitor at {row['kbit_s'] / 1e3:g} Mbit/s, of a CPU", "%", f"{100 * row['costs']:.2g}",
            f"{100 * PAPER:g}", source="EANeM paper, section IV",
        )
        for row in _costs(points)
    ]  # fmt: skip


def df_intervals(runs: Runs) -> pa.Table:
    """A row per interval that counts."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _intervals(run)])


def _intervals(run: Run) -> list[Row]:
    with run.understanding(LOAD):
        return [
            {
                **waiting.place(run, PLACE),
                "busy": 1 - min(int(line["slept_ns"]), int(line["ns"])) / int(line["ns"]),
                "mbit_s": int(line["bytes"]) * 8e3 / int(line["ns"]),
            }
            for line in run.lines(LOAD)
            if line["settled"]
        ]


def df_points(intervals: pa.Table) -> pa.Table:
    """A row per point."""
    every = intervals.to_pylist()
    found = []
    for name in dict.fromkeys(row["point"] for row in every):
        own = [row for row in every if row["point"] == name]
        busy, half = student.mean([row["busy"] for row in own])
        mbit_s, _ = student.mean([row["mbit_s"] for row in own])
        place = {key: own[0][key] for key in ("point", "group", *PLACE)}
        found.append({**place, "busy": busy, "busy_pm": half, "mbit_s": mbit_s})
    return pa.Table.from_pylist(found)


def _costs(points: pa.Table | None) -> list[Row]:
    """Of each rate that ran both ways: the part of the CPU's time that the monitor takes."""
    every = points.to_pylist() if points is not None else []
    found = []
    for row in every:
        other = next((each for each in every if not each["monitor"] and each["kbit_s"] == row["kbit_s"]), None)
        if row["monitor"] and other:
            found.append({**row, "costs": row["busy"] - other["busy"]})
    return found


def _points_text(points: pa.Table) -> str:
    costs = {row["point"]: row["costs"] for row in _costs(points)}
    return markdown_table(
        ("Mbit/s", "monitor", "there, Mbit/s", "busy, %", "the monitor takes, %"),
        [
            (
                f"{row['kbit_s'] / 1e3:g}", "on" if row["monitor"] else "off", f"{row['mbit_s']:.4g}",
                f"{100 * row['busy']:.4g}" + ("" if row["busy_pm"] is None else f" ± {100 * row['busy_pm']:.2g}"),
                f"{100 * costs[row['point']]:.3g}" if row["point"] in costs else "-",
            )
            for row in points.to_pylist()
        ],
    )  # fmt: skip


def checks(points: pa.Table) -> list[Check]:
    return [
        Check(
            f"{row['kbit_s'] / 1e3:g} Mbit/s: the monitor takes at most {100 * MOST:g} % of a CPU",
            row["costs"] <= MOST,
            f"{100 * row['costs']:.3g} %",
        )
        for row in _costs(points)
    ]
