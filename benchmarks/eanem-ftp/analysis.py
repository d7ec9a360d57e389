# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-ftp`: figure 4 of the EANeM paper, and what Linux has today."""

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

LOAD, DECISIONS = "load.jsonl", "eanemd.jsonl"
SAME = ("kbit_s", "governor")
"""What two points have in common that are compared by their way."""
PLACE = ("way", *SAME)
PAPER = 4.79
"""Performance per watt of EANeM by that of EAS, on average from 100 to 400 Mbit/s."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    intervals, windows = df_intervals(runs), waiting.df_windows(runs, _place, by_model=True)
    tables = {"intervals": intervals, "windows": windows, "points": df_points(runs, intervals, windows)}
    if decisions := [row for run in runs.runs for row in _decisions(run)]:
        tables["decisions"] = pa.Table.from_pylist(decisions)
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    return Result(
        summary="## A download, by what is done about it\n\n"
        + waiting.so_far(table, points)
        + "Performance: min(g, h) / g, where g is the bandwidth to go for and h what was there. Power of the CPUs with "
        "their L2s from the ledger, and by equation 3 with Linux's coefficients; of the machine.\n\n"
        + _points_text(table)
        + _decisions_text(tables.get("decisions")),
        tables=dict(tables),
        checks=checks(table) if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    return [] if points is None else [Drawing("power", plot_power(points, stored.label), "Power of the CPUs.")]


def against(stored: Stored) -> list[Against]:
    points = stored.rows("points")
    gains = [
        gain for row in waiting.per_watt(points, SAME) if row["way"] == "eanem" and (gain := row["gain"]) is not None
    ]
    if not gains:
        return []
    mean = sum(gains) / len(gains)
    return [
        Against(
            "performance per watt of EANeM by that of EAS, mean over the bandwidths", "times", f"{mean:.3g}",
            f"{PAPER:g}", source="EANeM paper, figure 4",
        )
    ]  # fmt: skip


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE)


def df_intervals(runs: Runs) -> pa.Table:
    """A row per interval that counts."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _intervals(run)])


def _intervals(run: Run) -> list[Row]:
    with run.understanding(LOAD):
        return [
            {**_place(run), "number": int(line["number"]), "mbit_s": int(line["bytes"]) * 8e3 / int(line["ns"])}
            for line in run.lines(LOAD)
            if line["settled"]
        ]


def _decisions(run: Run) -> list[Row]:
    if run.values["way"] != "eanem":
        return []
    with run.understanding(DECISIONS):
        return [
            {
                **_place(run),
                "why": line["why"],
                "packets_s": float(line["packets_s"]),
                "cluster": line.get("cluster"),
                "cores": line.get("cores"),
                "mhz": line.get("mhz"),
            }
            for line in run.lines(DECISIONS)
            if line["level"] == 1
        ]


def df_points(runs: Runs, intervals: pa.Table, windows: pa.Table) -> pa.Table:
    """A row per point: bandwidth, performance, and on gem5 power."""
    every, all_windows = intervals.to_pylist(), windows.to_pylist()
    found = []
    for run in runs.runs:
        rates = [row["mbit_s"] for row in every if row["point"] == run.name]
        mean, half = student.mean(rates)
        goal = int(run.values["kbit_s"]) / 1e3
        row = {**_place(run), "mbit_s": mean, "mbit_s_pm": half, "performance": min(goal, mean) / goal}
        for name in ("power_w", "cpus_w", "model_w"):
            watts = [each[name] for each in all_windows if each["point"] == run.name and name in each]
            if watts:
                row[name] = student.mean(watts)[0]
        found.append(row)
    return pa.Table.from_pylist(found)


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = ("goal, Mbit/s", "way", "there, Mbit/s", "performance") + (
        ("CPUs, mW", "by equation 3, mW", "machine, mW", "performance per watt, by EAS", "by equation 3")
        if timed
        else ()
    )
    rows = [
        (
            f"{row['kbit_s'] / 1e3:g}", row["way"], f"{row['mbit_s']:.4g}", f"{row['performance']:.3f}",
            *(
                (
                    *(f"{1e3 * row[name]:.4g}" for name in ("cpus_w", "model_w", "power_w")),
                    *("-" if row[name] is None else f"{row[name]:.3g}" for name in ("gain", "model_gain")),
                )
                if timed
                else ()
            ),
        )
        for row in waiting.per_watt(points, SAME)
    ]  # fmt: skip
    return markdown_table(headings, rows)


def _decisions_text(decisions: pa.Table | None) -> str:
    if decisions is None:
        return ""
    rows = [
        (
            row["point"],
            row["why"],
            f"{row['packets_s']:.4g}",
            row["cluster"] or "-",
            row["cores"] or "-",
            row["mhz"] or "-",
        )
        for row in decisions.to_pylist()
    ]
    return "\n## What the manager decided\n\n" + markdown_table(
        ("point", "why", "packets/s", "cluster", "cores", "MHz"), rows
    )


def checks(points: pa.Table) -> list[Check]:
    return [
        Check(
            f"{row['point']}: performance per watt at least the paper's, by that of EAS",
            row["gain"] >= PAPER,
            f"{row['gain']:.3g} times, in the paper {PAPER:g}",
        )
        for row in waiting.per_watt(points, SAME)
        if row["way"] == "eanem" and row["gain"] is not None
    ]


def plot_power(points: pa.Table, label: str) -> Figure:
    figure, (axis,) = style.panels(1, 1, 2.6)
    rows = points.to_pylist()
    for number, way in enumerate(dict.fromkeys(row["way"] for row in rows)):
        own = sorted((row for row in rows if row["way"] == way), key=lambda row: int(row["kbit_s"]))
        axis.plot(
            [row["kbit_s"] / 1e3 for row in own], [1e3 * row["cpus_w"] for row in own], color="black", linewidth=0.8,
            marker=style.MARKERS[number % len(style.MARKERS)], markersize=5, label=way,
        )  # fmt: skip
    axis.set_xlabel("bandwidth to go for (Mbit/s)")
    axis.set_ylabel("power of the CPUs (mW)")
    axis.legend()
    figure.suptitle(f"A download\n{label}")
    return figure
