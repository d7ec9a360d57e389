# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-mixed`: figure 5 of the EANeM paper."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import eanem, waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs

APPLICATION, TRANSFERS = "application.jsonl", "transfers.jsonl"
SAME = ("kernel", "percent", "threads", "governor")
"""What two points have in common that are compared by their way."""
PLACE = ("way", *SAME)
PAPER = {50: 3.11, 75: 2.35}
"""Performance per watt of EANeM by that of EAS without bandwidth control, by the goal in per cent."""
CAPPED = "uclamp"
"""The way whose programs ask for `cap` per cent of the fastest CPU at most. Tables call it `uclamp-35` for 35 %."""
TODAY = ("paced", "coalesce", "napi", "threaded", "slow_rate", CAPPED, "rcvbuf")
"""What Linux has today."""
LESS = 0.05
"""By how much a transfer may be slower than its bandwidth, where somebody holds it to that."""
ALIKE = 0.02
"""By how much goals may differ that are compared: each run measures its application's rate alone."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    windows = df_windows(runs)
    tables = {"windows": windows, "points": df_points(runs, windows)}
    if (decisions := eanem.df_decisions(runs.runs, _place)) is not None:
        tables["decisions"] = decisions
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    return Result(
        summary="## An application beside two transfers, by who chooses\n\n"
        + waiting.so_far(table, points)
        + "Performance: min(g, h) / g, where g is the application's goal and h its rate. Power of the CPUs with their "
        "L2s, from the ledger and by equation 3. Means over windows, with 95 % intervals. Least: the slowest "
        "transfer.\n\n" + _points_text(table) + _means_text(table) + eanem.decisions_text(tables.get("decisions")),
        tables=dict(tables),
        checks=[*checks(table), *eanem.rest_checks(tables.get("decisions"))] if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    return [Drawing("ways", plot_ways(points, stored.label), "Performance per watt of the CPUs, by way.")]


def against(stored: Stored) -> list[Against]:
    rows = eanem.per_watt(stored.rows("points"), SAME)
    told = []
    for percent, paper in PAPER.items():
        mean = _mean(rows, eanem.MANAGED, percent)
        if mean is None:
            continue
        today = {way: found["gain"] for way in _today(rows) if (found := _mean(rows, way, percent))}
        best = max(today, key=lambda way: today[way], default=None)
        told.append(
            Against(
                f"performance per watt of EANeM by that of EAS, goal of {percent} %, mean over {mean['points']} "
                "applications", "times", f"{mean['gain']:.3g}", f"{paper:g}",
                f"{today[best]:.3g} ({best})" if best else "-", source="EANeM paper, figure 5",
            )
        )  # fmt: skip
    return told


def _mean(rows: Sequence[Row], way: str, percent: int) -> Row | None:
    """Over the applications, as in the paper."""
    return eanem.mean_gain([row for row in rows if row["way"] == way and row["percent"] == percent])


def _today(rows: Sequence[Row]) -> list[str]:
    """The ways of today's Linux that have run, each cap of `uclamp` apart."""
    ways = dict.fromkeys(str(row["way"]) for row in rows)
    return [way for name in TODAY for way in ways if way.partition("-")[0] == name]


def _place(run: Run) -> Row:
    row = waiting.place(run, PLACE)
    return {**row, "way": f"{CAPPED}-{run.values['cap']}"} if row["way"] == CAPPED else row


def df_windows(runs: Runs) -> pa.Table:
    """A row per window: the application's rate, the transfers', and on gem5 watts."""
    every = waiting.by_point(waiting.df_windows(runs, _place, by_model=True))
    for run in runs.runs:
        own = every[run.name]
        with run.understanding(APPLICATION):
            for row, line in zip(own, run.lines(APPLICATION), strict=True):
                row["goal"], row["alone"] = float(line["goal"]), float(line["alone"])
                row["per_s"] = int(line["beats"]) / row["seconds"]
        transfers = _transfers(run)
        for row in own:
            row["mbit_s"] = 8e-6 * sum(each[row["window"]] for each in transfers) / row["seconds"]
    return pa.Table.from_pylist([row for own in every.values() for row in own])


def _transfers(run: Run) -> list[dict[int, int]]:
    """The bytes of each transfer by window."""
    found: dict[int, dict[int, int]] = {}
    with run.understanding(TRANSFERS):
        for line in run.lines(TRANSFERS):
            found.setdefault(int(line["transfer"]), {})[int(line["window"])] = int(line["bytes"])
    return list(found.values())


def df_points(runs: Runs, windows: pa.Table) -> pa.Table:
    """A row per point: goal, rate, performance, bandwidth, and on gem5 power."""
    every = waiting.by_point(windows)
    found = []
    for run in runs.runs:
        own = every[run.name]
        row = {**_place(run), "goal": own[0]["goal"], "alone": own[0]["alone"]}
        row |= waiting.means(own, ("per_s", "mbit_s", *eanem.POWERS))
        seconds = sum(each["seconds"] for each in own)
        row["least_mbit_s"] = min(8e-6 * sum(each.values()) / seconds for each in _transfers(run))
        row["asked_mbit_s"] = int(run.values["kbit_s"]) / 1e3
        row["performance"] = min(row["goal"], row["per_s"]) / row["goal"]
        found.append(row)
    return pa.Table.from_pylist(found)


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = (
        "application",
        "goal, %",
        "way",
        "goal, /s",
        "there, /s",
        "performance",
        "transfers, Mbit/s",
        "least",
    ) + (("CPUs, mW", "by equation 3, mW", "performance per watt, by EAS", "by equation 3") if timed else ())
    rows = [
        (
            row["kernel"], row["percent"], row["way"], f"{row['goal']:.5g}", f"{row['per_s']:.5g}",
            f"{row['performance']:.3f}", f"{row['mbit_s']:.4g}", f"{row['least_mbit_s']:.4g}",
            *(
                (waiting.watts_text(row, "cpus_w"), waiting.watts_text(row, "model_w"), *eanem.gain_texts(row))
                if timed
                else ()
            ),
        )
        for row in eanem.per_watt(points, SAME)
    ]  # fmt: skip
    return markdown_table(headings, rows)


def _means_text(points: pa.Table) -> str:
    if not waiting.is_timed(points):
        return ""
    rows = eanem.per_watt(points, SAME)
    found = [
        (
            percent, way, mean["points"], waiting.mean_text(mean, "gain", digits=3),
            waiting.mean_text(mean, "model_gain", digits=3), f"{paper:g}" if way == eanem.MANAGED else "-",
        )
        for percent, paper in PAPER.items()
        for way in ("control", *_today(rows), eanem.MANAGED)
        if (mean := _mean(rows, way, percent))
    ]  # fmt: skip
    headings = ("goal, %", "way", "applications", "performance per watt, by EAS", "by equation 3", "in the paper")
    return "\n## On average over the applications\n\nWith 95 % intervals over the applications.\n\n" + markdown_table(
        headings, found
    )


def checks(points: pa.Table) -> list[Check]:
    """The paper's figure is a mean over applications; a transfer that starves is no saving."""
    rows = eanem.per_watt(points, SAME)
    found = [
        eanem.gain_check(f"goal of {percent} %", mean, paper)
        for percent, paper in PAPER.items()
        if (mean := _mean(rows, eanem.MANAGED, percent))
    ]
    return [*found, *_goal_checks(rows), *_alone_checks(rows)] + [
        Check(
            f"{row['point']}: each transfer gets its bandwidth",
            row["least_mbit_s"] >= (1 - LESS) * row["asked_mbit_s"],
            f"the slowest {row['least_mbit_s']:.4g} Mbit/s of {row['asked_mbit_s']:g}",
        )
        for row in rows
        if row["way"] != eanem.EAS
    ]


def _goal_checks(rows: Sequence[Row]) -> list[Check]:
    """A run whose application was slow alone has an easier goal than the run that it is compared with."""
    pairs = [
        (row, eas) for row in rows if row["way"] != eanem.EAS and (eas := waiting.beside(rows, row, eanem.EAS, SAME))
    ]
    if not pairs:
        return []
    worst, eas = max(pairs, key=lambda pair: abs(pair[0]["goal"] / pair[1]["goal"] - 1))
    return [
        Check(
            "goals that are compared are alike",
            abs(worst["goal"] / eas["goal"] - 1) <= ALIKE,
            f"least so in {worst['point']}: {worst['goal']:.5g} beats/s, with EAS {eas['goal']:.5g}",
        )
    ]


def _alone_checks(rows: Sequence[Row]) -> list[Check]:
    """Goals are shares of the rate alone. An application that is faster beside transfers was not at its fastest alone,
    and its goal is too easy."""
    if not rows:
        return []
    worst = max(rows, key=lambda row: float(row["per_s"]) / float(row["alone"]))
    return [
        Check(
            "no application is faster beside transfers than alone",
            worst["per_s"] <= (1 + ALIKE) * worst["alone"],
            f"most so in {worst['point']}: {worst['per_s']:.5g} beats/s, alone {worst['alone']:.5g}",
        )
    ]


def plot_ways(points: pa.Table, label: str) -> Figure:
    rows = points.to_pylist()
    at = range(len(rows))
    figure, axes = style.panels(2, 2, 4.6)
    axes[0].barh(at, [row["performance"] for row in rows], color=style.GREYS[1], edgecolor="black")
    axes[0].set_xlabel("performance, min(g, h) / g")
    axes[1].barh(at, [1e3 * row["cpus_w"] for row in rows], color=style.GREYS[0], edgecolor="black")
    axes[1].set_xlabel("power of CPUs and L2s (mW)")
    waiting.label_points(axes, [row["point"] for row in rows])
    figure.suptitle(f"An application beside two transfers\n{label}")
    return figure
