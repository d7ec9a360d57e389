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
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

LOAD = "load.jsonl"
PLACE = ("delay_us", "delta_us", "interval_us")
STEP = 1
"""The phase that begins with the step."""
AFTER = 5
"""Intervals that a step may take."""
GOALS = "rtt-"
"""The groups that the goal is about."""
WRONG = 0.02
"""The error of the bandwidth that may be left."""
OPPOSITE = -0.25
"""The correlation of neighbouring intervals up to which they count as different in opposite directions. Half-way from
that of whole windows, -0.5, to that of independent intervals, 0."""
BAND = 0.05
"""By so much an interval may be off when the step is over: at 50 Mbit/s a packet is 2.3 % of 10 ms."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    return conclude({"intervals": df_intervals(runs)}, [run.name for run in runs.runs], runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the intervals of those points that have run, of all."""
    table = df_points(tables["intervals"])
    return Result(
        summary="## A step of the target\n\n"
        + waiting.so_far(table, points)
        + f"Error: of the bandwidth from the interval after the {AFTER}th on. Spread: the standard deviation of the "
        "intervals. Neighbours: the correlation of each interval with the next. It is about -0.5 if intervals differ "
        "because a whole window falls into one or into the next. Bandwidth is then the slope of the line through the "
        "bytes received so far, at the ends of these intervals, with the 95 % interval of the slope. If the "
        f"correlation is above {OPPOSITE}, bandwidth is the mean of the intervals, with the 95 % interval of "
        "independent values. Beyond: how far the worst interval was on the other side of the target. Over: "
        f"after how many intervals all others are within {100 * BAND:g} %; not known where intervals that have settled "
        "spread by more than half of this. Only payload counts.\n\n" + _points_text(table),
        tables={**tables, "points": table},
        checks=checks(table) if timed else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    intervals, points = stored.rows("intervals"), stored.rows("points")
    if intervals is None or points is None or not stored.origin.timed:
        return []
    return [
        Drawing("targets", plot_targets(points, stored.label), "Mean bandwidth and its spread, by the target."),
        Drawing("steps", plot_steps(intervals, stored.label), "Bandwidth by interval, after each step."),
    ]


def against(stored: Stored) -> list[Against]:
    points = stored.rows("points")
    rows = points.to_pylist() if points and stored.origin.timed else []
    return [
        Against(
            f"bandwidth off its target, at most, {group}", "%",
            f"{100 * max(abs(row['error']) for row in rows if row['group'] == group):.2g}", "tracks it",
            source="EANeM paper, figure 6",
        )
        for group in dict.fromkeys(row["group"] for row in rows if row["group"].startswith(GOALS))
    ]  # fmt: skip


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
    found = []
    for every in waiting.by_point(intervals).values():
        own = [row for row in every if row["phase"] == STEP]
        target = own[0]["target_mbit_s"]
        before = next(row["target_mbit_s"] for row in every if row["phase"] < STEP)
        shares = [row["mbit_s"] / target - 1 for row in own]
        there = [share for row, share in zip(own, shares, strict=True) if row["number"] >= AFTER]
        neighbours = student.neighbours(there)
        error, half = _error(there, neighbours)
        spread = float(np.std(there))
        found.append(
            {
                **{key: own[0][key] for key in ("point", "group", *PLACE)},
                "before_mbit_s": before,
                "target_mbit_s": target,
                "mbit_s": target * (1 + error),
                "error": error,
                "error_pm": half,
                "spread": spread,
                "neighbours": neighbours,
                "beyond": max(0.0, *shares) if target > before else -min(0.0, *shares),
                "over_after": _over_after(shares) if _is_steady(spread) else None,
            }
        )
    table = pa.Table.from_pylist(found)
    # Maybe known of no step.
    for name, kind in (("over_after", pa.int64()), ("neighbours", pa.float64())):
        table = table.set_column(table.column_names.index(name), name, table[name].cast(kind))
    return table


def _error(shares: Sequence[float], neighbours: float | None) -> tuple[float, float | None]:
    """Return the mean error with half its interval. The narrow interval of the growth of bytes holds only if intervals
    differ from their neighbours in opposite directions. Else the interval is that of independent values."""
    if neighbours is not None and neighbours > OPPOSITE:
        return student.mean(shares)
    return student.growth(shares)


def _is_steady(spread: float) -> bool:
    """Return true if single intervals tell when a step is over: two standard deviations are within the band.

    Intervals swing more than that if an interval has a few windows of bytes.
    """
    return 2 * spread <= BAND


def _over_after(shares: Sequence[float]) -> int | None:
    """After how many intervals a step is over: all others are within the band. None if the last one is not."""
    wrong = [number for number, share in enumerate(shares) if abs(share) > BAND]
    last = wrong[-1] + 1 if wrong else 0
    return last if last < len(shares) else None


def _points_text(points: pa.Table) -> str:
    return markdown_table(
        ("group", "round trip, ms", "δ, µs", "before, Mbit/s", "target, Mbit/s", "there, Mbit/s", "error, %", "spread",
         "neighbours", "beyond", "over, intervals", "ms"),
        [
            (
                row["group"], f"{row['delay_us'] / 500:g}", row["delta_us"] or "own", f"{row['before_mbit_s']:g}",
                f"{row['target_mbit_s']:g}", f"{row['mbit_s']:.4g}", waiting.mean_text(row, "error", 100, 2),
                f"{100 * row['spread']:.2g} %", _neighbours_text(row["neighbours"]), f"{100 * row['beyond']:.2g} %",
                *_over_text(row),
            )
            for row in points.to_pylist()
        ],
    )  # fmt: skip


def _neighbours_text(correlation: float | None) -> str:
    return "-" if correlation is None else f"{correlation:.2f}"


def _over_text(row: Row) -> tuple[str, str]:
    after = row["over_after"]
    if after is None:
        return ("never" if _is_steady(row["spread"]) else "not known", "-")
    return (f"{after}", f"{after * row['interval_us'] / 1e3:g}")


def checks(points: pa.Table) -> list[Check]:
    """The goal, judged by the end of the interval that is farther from the target."""
    return [
        Check(
            f"{row['point']}: within {100 * WRONG:g} % of the target after {AFTER} intervals",
            max(map(abs, student.ends(row["error"], row["error_pm"]))) <= WRONG,
            f"{waiting.mean_text(row, 'error', 100, 2)} %: {row['mbit_s']:.4g} Mbit/s of {row['target_mbit_s']:g}",
        )
        for row in points.to_pylist()
        if row["group"].startswith(GOALS)
    ]


def plot_targets(points: pa.Table, label: str) -> Figure:
    every = points.to_pylist()
    groups = _groups(every)
    figure, axes = style.panels(len(groups), min(2, len(groups)), 2.6)
    for axis, group in zip(axes, groups, strict=True):
        own = [row for row in every if row["group"] == group]
        targets = [row["target_mbit_s"] for row in own]
        axis.plot([0, max(targets)], [0, max(targets)], color=style.GREYS[2], linewidth=0.5)
        axis.errorbar(
            targets, [row["mbit_s"] for row in own], [row["spread"] * row["target_mbit_s"] for row in own],
            color="black", linestyle="none", marker=style.MARKERS[0], markersize=3, capsize=2,
        )  # fmt: skip
        axis.set_title(group)
        axis.set_xlabel("target (Mbit/s)")
    axes[0].set_ylabel("Mbit/s")
    figure.suptitle(f"Bandwidth by its target\n{label}")
    return figure


def _groups(rows: Sequence[Row]) -> list[str]:
    """A panel for each group that has run."""
    return list(dict.fromkeys(row["group"] for row in rows))


def plot_steps(intervals: pa.Table, label: str) -> Figure:
    every = intervals.to_pylist()
    groups = _groups(every)
    figure, axes = style.panels(len(groups), min(2, len(groups)), 2.6)
    for axis, group in zip(axes, groups, strict=True):
        for name in dict.fromkeys(row["point"] for row in every if row["group"] == group):
            own = [row for row in every if row["point"] == name]
            step = sum(row["phase"] < STEP for row in own)
            at = [row["number"] + (step if row["phase"] >= STEP else 0) - step for row in own]
            axis.plot(at, [row["mbit_s"] for row in own], color="black", linewidth=0.8)
            axis.axhline(own[-1]["target_mbit_s"], color=style.GREYS[0], linewidth=0.8)
        axis.set_title(group)
        axis.set_xlabel("intervals after the step")
    axes[0].set_ylabel("Mbit/s")
    figure.suptitle(f"Steps of the target\n{label}")
    return figure
