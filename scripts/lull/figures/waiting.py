# SPDX-License-Identifier: BSD-3-Clause
"""Tables of programs that wait for a device: quantiles of a latency, and the power of windows."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lull.energy import rows
from lull.figures import repetitions
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import number, with_interval
from lull.results.drawing import Stored
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import bootstrap, student

WINDOWS = "windows.jsonl"

Row = dict[str, Any]


def df_windows(runs: Runs, place: Callable[[Run], Row], by_model: bool = False) -> pa.Table:
    """Return a row per window of statistics, on gem5 with the power of the machine and of its clusters.

    `by_model` adds the power of the clusters by Linux's energy model, from the same run.
    """
    columns = ("power", "cpus", "model") if by_model else ("power", "cpus")
    found = []
    for run in runs.runs:
        with run.understanding(WINDOWS):
            lines = [{"window": int(line["window"]), "seconds": int(line["window_us"]) / 1e6}
                     for line in run.lines(WINDOWS)]  # fmt: skip
        if runs.timed:
            powers = repetitions.watts(run, repetitions.edges(run, WINDOWS), _names)
            for line, own in zip(lines, powers, strict=True):
                line |= {f"{name}_w": own.get(name, 0.0) for name in columns}
        found += [{**place(run), **line} for line in lines]
    return pa.Table.from_pylist(found)


def parts_text(parts: pa.Table | None, names: Sequence[str], heading: str, about: str) -> str:
    """Return the section of a summary with the parts of each point's power. A row of `parts` is point, part, watts."""
    if parts is None or not parts.num_rows:
        return ""
    lines = []
    for point, own in by_point(parts).items():
        watts = {row["part"]: row["power_w"] for row in own}
        lines.append((point, *(f"{1e3 * watts[name]:.4g}" if name in watts else "-" for name in names)))
    return f"\n\n## {heading}, mW\n\n{about}\n\n" + markdown_table(("point", *names), lines)


def _names(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the sums to which a row of the ledger is added: calibrated watts of the machine, and of its clusters."""
    if row["band"] == rows.RAW:
        return ()
    if row["backend"] == "em":
        return () if row["cluster"] is None else ("model",)
    return ("power",) if row["cluster"] is None else ("power", "cpus")


def point(latencies: NDArray[np.float64], windows: list[Row]) -> Row:
    """Return quantiles of the latency with bootstrap intervals, and the mean power of the windows."""
    return quantiles(latencies) | means(windows, ("power_w", "cpus_w"))


def quantiles(latencies: NDArray[np.float64]) -> Row:
    """Return the number of latencies, and their median and p99 with the ends of bootstrap intervals."""
    row: Row = {"events": int(latencies.size)}
    found = bootstrap.quantiles(latencies, [0.5, 0.99])
    for name, (value, low, high) in zip(("median", "p99"), found, strict=True):
        row |= {f"{name}_us": value, f"{name}_low_us": low, f"{name}_high_us": high}
    return row


def df_points(
    runs: Runs,
    place: Callable[[Run], Row],
    events: pa.Table,
    windows: pa.Table,
    latency: str,
    more: Callable[[Run, list[Row]], Row] | None = None,
) -> pa.Table:
    """Return a row per point: quantiles of the events' column `latency`, power of windows, and columns of `more`."""
    every, all_windows = by_point(events), by_point(windows)
    found = []
    for run in runs.runs:
        own = every[run.name]
        row = place(run) | point(np.array([each[latency] for each in own]), all_windows[run.name])
        found.append(row | (more(run, own) if more else {}))
    return pa.Table.from_pylist(found)


def by_point(table: pa.Table) -> dict[str, list[Row]]:
    """Return the rows of each point, in the table's order."""
    found: dict[str, list[Row]] = {}
    for row in table.to_pylist():
        found.setdefault(row["point"], []).append(row)
    return found


def means(own: Sequence[Row], names: Sequence[str]) -> Row:
    """Return the mean `name` of each column that the rows have, with half its interval `name_pm`."""
    found: Row = {}
    for name in names:
        if name in own[0]:
            found[name], found[f"{name}_pm"] = student.mean([each[name] for each in own])
    return found


def at_most(row: Row, other: Row, name: str) -> float:
    """Return the largest ratio of a row's mean to another's that both intervals allow.

    The interval of the ratio itself would allow less. So a goal that this ratio reaches is surely reached.
    """
    most, least = student.ends(row[name], row[f"{name}_pm"])[1], student.ends(other[name], other[f"{name}_pm"])[0]
    return math.inf if least <= 0 else most / least


def so_far(rows_of_points: pa.Table, names: Sequence[str]) -> str:
    """Return a sentence on how many points have run; empty if all have."""
    there = len(set(rows_of_points["point"].to_pylist()))
    return "" if there >= len(names) else f"{there} of {len(names)} points have run so far.\n\n"


def is_timed(points: pa.Table) -> bool:
    """Return true if the points have watts, which only points of gem5 have."""
    return "power_w" in points.column_names


def drawable(stored: Stored) -> pa.Table | None:
    """Return the stored points if they have watts to draw, else None."""
    points = stored.rows("points")
    return points if points is not None and stored.origin.timed and is_timed(points) else None


def beside(every: Sequence[Row], row: Row, way: str, same: Sequence[str]) -> Row | None:
    """Return the first point by the way `way` that has the same values in the columns `same`."""
    return next((other for other in every if other["way"] == way and alike(other, row, same)), None)


def alike(one: Row, other: Row, same: Sequence[str]) -> bool:
    """Return true if two points have the same values in the columns `same`. A missing value equals a missing one."""
    return all(one.get(name) == other.get(name) for name in same)


def cheapest(ran: Sequence[Row], kept: Sequence[Row]) -> tuple[Row, Row] | None:
    """Return the point with the least power among those that do enough (`kept`), and the table's columns about it.
    Return None if only one point has run, or if none does enough."""
    if len(ran) < 2 or not kept:
        return None
    best = min(kept, key=lambda row: float(row["power_w"]))
    return best, {
        "best": best["point"], "ran": len(ran), "kept": len(kept), "best_power_w": best["power_w"],
        "best_power_w_pm": best["power_w_pm"],
    }  # fmt: skip


def place(run: Run, names: Sequence[str]) -> Row:
    """Return the columns that identify a row's point: its name, its group, and its values with these names."""
    return {"point": run.name, "group": run.group, **{name: run.values[name] for name in names if name in run.values}}


def with_defaults(table: pa.Table, defaults: Mapping[str, Any]) -> pa.Table:
    """Return the table with defaults for parameters that are newer than some of its points."""
    for name, value in defaults.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), pa.scalar(value).type))
        column = table.column_names.index(name)
        table = table.set_column(column, name, pc.fill_null(table[name], value))
    return table


def label_points(axes: Sequence[Axes], names: Sequence[str]) -> None:
    """Give each point a line, from top to bottom, with names only at the first panel."""
    for panel, axis in enumerate(axes):
        axis.set_yticks(range(len(names)), [""] * len(names) if panel else list(names))
        axis.invert_yaxis()


def quantile_text(row: Row, name: str) -> str:
    value, low, high = (number(row[f"{name}{end}_us"]) for end in ("", "_low", "_high"))
    return f"{value} [{low}, {high}]"


def mean_text(row: Row, name: str, scale: float = 1.0, digits: int = 4) -> str:
    return with_interval(row[name], row[f"{name}_pm"], digits=digits, scale=scale)


def watts_text(row: Row, name: str) -> str:
    return mean_text(row, name, 1e3)


def ends_text(row: Row, name: str, scale: float = 1.0, sign: str = "") -> str:
    """Return a value with the ends of its interval, `name_low` and `name_high`; only the value if it has no ends."""
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return "-"
    there = number(scale * value, sign=sign)
    if not math.isfinite(high - low):
        return there
    return f"{there} [{number(scale * low, 3, sign)}, {number(scale * high, 3, sign)}]"
