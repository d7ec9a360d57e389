# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-mixed`: figure 5 of the EANeM paper."""

from collections.abc import Mapping, Sequence
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

APPLICATION, TRANSFERS, DECISIONS = "application.jsonl", "transfers.jsonl", "eanemd.jsonl"
SAME = ("kernel", "percent", "threads", "governor")
"""What two points have in common that are compared by their way."""
PLACE = ("way", *SAME)
PAPER = {50: 3.11, 75: 2.35}
"""Performance per watt of EANeM by that of EAS without bandwidth control, by the goal in per cent."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    windows = df_windows(runs)
    tables = {"windows": windows, "points": df_points(runs, windows)}
    if decisions := [row for run in runs.runs for row in _decisions(run)]:
        tables["decisions"] = pa.Table.from_pylist(decisions)
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    return Result(
        summary="## An application beside two transfers, by who chooses\n\n"
        + waiting.so_far(table, points)
        + "Performance: min(g, h) / g, where g is the application's goal and h its rate. Power of the CPUs with their "
        "L2s, from the ledger and by equation 3. Means over windows, with 95 % intervals.\n\n"
        + _points_text(table)
        + _means_text(table)
        + _decisions_text(tables.get("decisions")),
        tables=dict(tables),
        checks=checks(table) if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    return [Drawing("ways", plot_ways(points, stored.label), "Performance per watt of the CPUs, by way.")]


def against(stored: Stored) -> list[Against]:
    points = stored.rows("points")
    return [
        Against(
            f"performance per watt of EANeM by that of EAS, goal of {percent} %, mean over {len(gains)} applications",
            "times", f"{sum(gains) / len(gains):.3g}", f"{PAPER[percent]:g}", source="EANeM paper, figure 5",
        )
        for percent in PAPER
        if points is not None and (gains := _gains(waiting.per_watt(points, SAME), "eanem", percent, "gain"))
    ]  # fmt: skip


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE)


def df_windows(runs: Runs) -> pa.Table:
    """A row per window: the application's rate, the transfers', and on gem5 watts."""
    found = waiting.df_windows(runs, _place, by_model=True).to_pylist()
    for run in runs.runs:
        own = [row for row in found if row["point"] == run.name]
        with run.understanding(APPLICATION):
            for row, line in zip(own, run.lines(APPLICATION), strict=True):
                row["goal"], row["alone"] = float(line["goal"]), float(line["alone"])
                row["per_s"] = int(line["beats"]) / row["seconds"]
        with run.understanding(TRANSFERS):
            transfers: dict[tuple[int, int], int] = {
                (int(line["transfer"]), int(line["window"])): int(line["bytes"]) for line in run.lines(TRANSFERS)
            }
        for row in own:
            rates = [
                8e-6 * count / row["seconds"]
                for (_, window), count in transfers.items()
                if window == row["window"]
            ]  # fmt: skip
            row["mbit_s"], row["least_mbit_s"] = sum(rates), min(rates)
    return pa.Table.from_pylist(found)


def df_points(runs: Runs, windows: pa.Table) -> pa.Table:
    """A row per point: goal, rate, performance, bandwidth, and on gem5 power."""
    every = windows.to_pylist()
    found = []
    for run in runs.runs:
        own = [row for row in every if row["point"] == run.name]
        row = {**_place(run), "goal": own[0]["goal"], "alone": own[0]["alone"]}
        for name in ("per_s", "mbit_s", "power_w", "cpus_w", "model_w"):
            if name in own[0]:
                row[name], row[f"{name}_pm"] = student.mean([each[name] for each in own])
        row["performance"] = min(row["goal"], row["per_s"]) / row["goal"]
        found.append(row)
    return pa.Table.from_pylist(found)


def _decisions(run: Run) -> list[Row]:
    """A row per decision of the second level."""
    if run.values["way"] != "eanem":
        return []
    with run.understanding(DECISIONS):
        lines = [line for line in run.lines(DECISIONS) if line["level"] == 2 and "watts" in line]
        return [
            {
                **_place(run),
                "why": line["why"],
                "rate": next((each["rate"] for each in line["applications"] if "rate" in each), None),
                "little": int(line["little"]["cores"]),
                "little_mhz": int(line["little"]["mhz"]),
                "big": int(line["big"]["cores"]),
                "big_mhz": int(line["big"]["mhz"]),
                "net_cores": int(line["net_cores"]),
                "watts": float(line["watts"]),
            }
            for line in lines
        ]


def _gains(rows: Sequence[Row], way: str, percent: int, name: str) -> list[float]:
    return [
        row[name]
        for row in rows
        if row["way"] == way and row["percent"] == percent and row["group"] != "today" and row[name] is not None
    ]


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = ("application", "goal, %", "way", "goal, /s", "there, /s", "performance", "transfers, Mbit/s") + (
        ("CPUs, mW", "by equation 3, mW", "performance per watt, by EAS", "by equation 3") if timed else ()
    )
    rows = [
        (
            row["kernel"], row["percent"], row["way"], f"{row['goal']:.5g}", f"{row['per_s']:.5g}",
            f"{row['performance']:.3f}", f"{row['mbit_s']:.4g}",
            *(
                (waiting.watts_text(row, "cpus_w"), waiting.watts_text(row, "model_w"), *map(_times, _both(row)))
                if timed
                else ()
            ),
        )
        for row in waiting.per_watt(points, SAME)
    ]  # fmt: skip
    return markdown_table(headings, rows)


def _both(row: Row) -> tuple[float | None, float | None]:
    return row["gain"], row["model_gain"]


def _times(gain: float | None) -> str:
    return "-" if gain is None else f"{gain:.3g}"


def _means_text(points: pa.Table) -> str:
    if not waiting.is_timed(points):
        return ""
    rows = waiting.per_watt(points, SAME)
    found = [
        (
            percent, way, len(gains), f"{sum(gains) / len(gains):.3g}",
            f"{sum(by_model) / len(by_model):.3g}", f"{PAPER[percent]:g}" if way == "eanem" else "-",
        )
        for percent in PAPER
        for way in ("control", "eanem")
        if (gains := _gains(rows, way, percent, "gain"))
        and (by_model := _gains(rows, way, percent, "model_gain"))
    ]  # fmt: skip
    headings = ("goal, %", "way", "applications", "performance per watt, by EAS", "by equation 3", "in the paper")
    return "\n## On average over the applications\n\n" + markdown_table(headings, found)


def _decisions_text(decisions: pa.Table | None) -> str:
    if decisions is None:
        return ""
    rows = [
        (
            row["point"], row["why"], "-" if row["rate"] is None else f"{row['rate']:.5g}",
            f"{row['little']} at {row['little_mhz']}", f"{row['big']} at {row['big_mhz']}", row["net_cores"],
        )
        for row in decisions.to_pylist()
    ]  # fmt: skip
    headings = ("point", "why", "rate, /s", "little cores at MHz", "big cores at MHz", "cores of packets")
    return "\n## What the manager's second level decided\n\n" + markdown_table(headings, rows)


def checks(points: pa.Table) -> list[Check]:
    return [
        Check(
            f"{row['point']}: performance per watt at least the paper's mean, by that of EAS",
            row["gain"] >= PAPER[row["percent"]],
            f"{row['gain']:.3g} times, in the paper {PAPER[row['percent']]:g}",
        )
        for row in waiting.per_watt(points, SAME)
        if row["way"] == "eanem" and row["gain"] is not None and row["percent"] in PAPER
    ]


def plot_ways(points: pa.Table, label: str) -> Figure:
    rows = points.to_pylist()
    at = range(len(rows))
    figure, axes = style.panels(1, 2, 4.6)
    axes[0].barh(at, [row["performance"] for row in rows], color=style.GREYS[1], edgecolor="black")
    axes[0].set_xlabel("performance, min(g, h) / g")
    axes[1].barh(at, [1e3 * row["cpus_w"] for row in rows], color=style.GREYS[0], edgecolor="black")
    axes[1].set_xlabel("power of CPUs and L2s (mW)")
    waiting.label_points(axes, [row["point"] for row in rows])
    figure.suptitle(f"An application beside two transfers\n{label}")
    return figure
