# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-control`: figure 6 of the EANeM paper, and how soon a step is over."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs

LOAD = "load.jsonl"
PLACE = ("delay_us", "delta_us", "interval_us")
STEP = 1
"""The phase that begins with the step."""
AFTER = 5
"""Intervals that a step may take."""
WRONG = 0.02
"""The error of the bandwidth that may be left."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    intervals = df_intervals(runs)
    tables = {"intervals": intervals, "points": df_points(intervals)}
    return conclude(tables, [run.name for run in runs.runs], runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    return Result(
        summary="## A step of the target\n\n"
        + waiting.so_far(table, points)
        + f"Error: of the mean bandwidth from the interval after the {AFTER}th on; spread: of these intervals "
        "(standard deviation). Payload is what counts.\n\n" + _points_text(table),
        tables=dict(tables),
        checks=checks(table) if timed else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    intervals = stored.rows("intervals")
    if intervals is None or not stored.origin.timed:
        return []
    return [Drawing("steps", plot_steps(intervals, stored.label), "Bandwidth by interval, after each step.")]


def df_intervals(runs: Runs) -> pa.Table:
    """A row per interval, before the step and after it."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _intervals(run)])


def _intervals(run: Run) -> list[Row]:
    with run.understanding(LOAD):
        return [
            {
                **waiting.place(run, PLACE),
                "phase": int(line["phase"]),
                "number": int(line["number"]),
                "target_mbit_s": int(line["target_kbit_s"]) / 1e3,
                "mbit_s": int(line["bytes"]) * 8e3 / int(line["ns"]),
                "window_bytes": int(line["monitor"]["window"]),
            }
            for line in run.lines(LOAD)
        ]


def df_points(intervals: pa.Table) -> pa.Table:
    """A row per step."""
    every = intervals.to_pylist()
    found = []
    for name in dict.fromkeys(row["point"] for row in every):
        own = [row for row in every if row["point"] == name and row["phase"] == STEP]
        before = next(row["target_mbit_s"] for row in every if row["point"] == name and row["phase"] < STEP)
        there = np.array([row["mbit_s"] for row in own if row["number"] >= AFTER])
        target = own[0]["target_mbit_s"]
        found.append(
            {
                **{key: own[0][key] for key in ("point", "group", *PLACE)},
                "before_mbit_s": before,
                "target_mbit_s": target,
                "mbit_s": float(there.mean()),
                "error": float(there.mean()) / target - 1,
                "spread": float(there.std()) / target,
            }
        )
    return pa.Table.from_pylist(found)


def _points_text(points: pa.Table) -> str:
    return markdown_table(
        ("group", "round trip, ms", "δ, µs", "before, Mbit/s", "target, Mbit/s", "there, Mbit/s", "error", "spread"),
        [
            (
                row["group"], f"{row['delay_us'] / 500:g}", row["delta_us"] or "own", f"{row['before_mbit_s']:g}",
                f"{row['target_mbit_s']:g}", f"{row['mbit_s']:.4g}", f"{100 * row['error']:+.2g} %",
                f"{100 * row['spread']:.2g} %",
            )
            for row in points.to_pylist()
        ],
    )  # fmt: skip


def checks(points: pa.Table) -> list[Check]:
    return [
        Check(
            f"{row['point']}: within {100 * WRONG:g} % of the target after {AFTER} intervals",
            abs(row["error"]) <= WRONG,
            f"{row['mbit_s']:.4g} Mbit/s of {row['target_mbit_s']:g}",
        )
        for row in points.to_pylist()
        if row["group"].startswith("rtt-")
    ]


def plot_steps(intervals: pa.Table, label: str) -> Figure:
    figure, axes = style.panels(1, 2, 2.6)
    every = intervals.to_pylist()
    for axis, group in zip(axes, ("rtt-1", "rtt-20"), strict=True):
        for name in dict.fromkeys(row["point"] for row in every if row["group"] == group):
            own = [row for row in every if row["point"] == name]
            step = sum(row["phase"] < STEP for row in own)
            at = [row["number"] + (step if row["phase"] >= STEP else 0) - step for row in own]
            axis.plot(at, [row["mbit_s"] for row in own], color="black", linewidth=0.8)
            axis.axhline(own[-1]["target_mbit_s"], color=style.GREYS[-1], linewidth=0.5)
        axis.set_title(group)
        axis.set_xlabel("intervals after the step")
    axes[0].set_ylabel("Mbit/s")
    figure.suptitle(f"Steps of the target\n{label}")
    return figure
