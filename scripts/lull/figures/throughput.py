# SPDX-License-Identifier: BSD-3-Clause
"""Tables of programs that do the same again and again: how much in a second, with which power."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

STAMPS = "stamps.jsonl"
LOAD = ("kernel", "groups", "threads", "governor")
"""What two points share that are compared by their way. Each experiment has some of them."""
NEAR = 0.01
"""How much slower than EAS all of WAEAS may be."""
Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    windows = df_windows(runs)
    return conclude({"windows": windows, "points": df_points(runs, windows)}, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    return Result(
        summary="## Throughput and power\n\n"
        + waiting.so_far(table, points)
        + "Messages, trips to and fro, or units of work, a second; power of the machine and of its CPUs with their "
        "L2s; energy of CPUs and L2s for each of them. Means with 95 % intervals over windows.\n\n"
        + _points_text(table),
        tables=dict(tables),
        checks=checks(table) if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    return [Drawing("ways", plot_ways(points, stored.label), "Messages a second, and power of the CPUs.")]


def against(stored: Stored, paper: Callable[[Row], str], source: str) -> list[Against]:
    """Return by how much WAEAS is faster than EAS. `paper` says by how many per cent in the paper."""
    points = stored.rows("points")
    every = points.to_pylist() if points else []
    return [
        Against(
            f"{row['point']}: faster than EAS", "%", f"{100 * (row['per_s'] / eas['per_s'] - 1):.3g}", paper(row),
            source=source,
        )
        for row in every
        if row["way"] == "waeas" and (eas := _eas(every, row)) is not None
    ]  # fmt: skip


def _place(run: Run) -> Row:
    return waiting.place(run, ("way", *LOAD))


def df_windows(runs: Runs) -> pa.Table:
    """A row per window: messages in it, and watts."""
    found = waiting.df_windows(runs, _place).to_pylist()
    for run in runs.runs:
        own = [row for row in found if row["point"] == run.name]
        settle_us, window_us = (int(run.values[name]) for name in ("settle_us", "window_us"))
        for row in own:
            row["messages"] = 0
        with run.understanding(STAMPS):
            for line in run.lines(STAMPS):
                number = (int(line["ns"]) // 1000 - settle_us) // window_us
                if 0 <= number < len(own):
                    own[number]["messages"] += int(line["messages"])
    for row in found:
        row["per_s"] = row["messages"] / row["seconds"]
    return pa.Table.from_pylist(found)


def df_points(runs: Runs, windows: pa.Table) -> pa.Table:
    every = windows.to_pylist()
    found = []
    for run in runs.runs:
        own = [row for row in every if row["point"] == run.name]
        row = _place(run)
        for name in ("per_s", "power_w", "cpus_w"):
            if name in own[0]:
                row[name], row[f"{name}_pm"] = student.mean([each[name] for each in own])
        if "cpus_w" in row:
            row["cpus_uj"] = 1e6 * row["cpus_w"] / row["per_s"] if row["per_s"] else None
        found.append(row)
    return pa.Table.from_pylist(found)


def _eas(every: list[Row], row: Row) -> Row | None:
    return waiting.beside(every, row, "eas", LOAD)


def _points_text(points: pa.Table) -> str:
    every = points.to_pylist()
    timed = waiting.is_timed(points)
    headings = ("point", "way", "a second", "against EAS") + (
        ("power, mW", "CPUs, mW", "CPUs, µJ each") if timed else ()
    )
    rows = []
    for row in every:
        eas = _eas(every, row)
        half = row["per_s_pm"]
        rows.append(
            (
                row["point"], row["way"], f"{row['per_s']:.5g}" + ("" if half is None else f" ± {half:.2g}"),
                f"{100 * (row['per_s'] / eas['per_s'] - 1):+.3g} %" if eas and eas["per_s"] else "-",
                *(
                    (
                        waiting.watts_text(row, "power_w"), waiting.watts_text(row, "cpus_w"),
                        "-" if row["cpus_uj"] is None else f"{row['cpus_uj']:.4g}",
                    )
                    if timed
                    else ()
                ),
            )
        )  # fmt: skip
    return markdown_table(headings, rows)


def checks(points: pa.Table) -> list[Check]:
    every = points.to_pylist()
    return [
        Check(
            f"{row['point']}: at most {100 * NEAR:g} % slower than EAS",
            row["per_s"] >= (1 - NEAR) * eas["per_s"],
            f"{row['per_s']:.5g} a second, with EAS {eas['per_s']:.5g}",
        )
        for row in every
        if row["way"] == "waeas" and (eas := _eas(every, row)) is not None
    ]


def plot_ways(points: pa.Table, label: str) -> Figure:
    rows = points.to_pylist()
    at = range(len(rows))
    figure, axes = style.panels(2, 2, 4.2)
    axes[0].barh(at, [row["per_s"] / 1e3 for row in rows], color=style.GREYS[1], edgecolor="black")
    axes[0].set_xlabel("thousands a second")
    axes[1].barh(at, [1e3 * row["cpus_w"] for row in rows], color=style.GREYS[0], edgecolor="black")
    axes[1].set_xlabel("power of CPUs and L2s (mW)")
    waiting.label_points(axes, [row["point"] for row in rows])
    figure.suptitle(f"Tasks that wake each other\n{label}")
    return figure
