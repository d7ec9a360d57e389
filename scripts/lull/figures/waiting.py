# SPDX-License-Identifier: BSD-3-Clause
"""Tables of programs that wait for a device: quantiles of a latency, and the power of windows beside them."""

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
    """A row per window of statistics: on gem5 the power of the machine, and of its clusters.

    `by_model` adds the power of the clusters as Linux's energy model has it, from the same run.
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
    """The section of a summary that says of what a point's power consists: rows of a point, a part and its watts."""
    if parts is None or not parts.num_rows:
        return ""
    lines = []
    for point, own in by_point(parts).items():
        watts = {row["part"]: row["power_w"] for row in own}
        lines.append((point, *(f"{1e3 * watts[name]:.4g}" if name in watts else "-" for name in names)))
    return f"\n\n## {heading}, mW\n\n{about}\n\n" + markdown_table(("point", *names), lines)


def _names(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The sums that a row of the ledger counts in: calibrated watts of the machine, and of its clusters."""
    if row["band"] == rows.RAW:
        return ()
    if row["backend"] == "em":
        return () if row["cluster"] is None else ("model",)
    return ("power",) if row["cluster"] is None else ("power", "cpus")


def point(latencies: NDArray[np.float64], windows: list[Row]) -> Row:
    """Quantiles of the latency with bootstrap intervals, and the mean power of the windows."""
    return quantiles(latencies) | means(windows, ("power_w", "cpus_w"))


def quantiles(latencies: NDArray[np.float64]) -> Row:
    """The number of latencies, and their median and p99 with the ends of bootstrap intervals."""
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
    """A row per point: quantiles of a column of its events, the power of its windows, and what `more` has to add."""
    every, all_windows = by_point(events), by_point(windows)
    found = []
    for run in runs.runs:
        own = every[run.name]
        row = place(run) | point(np.array([each[latency] for each in own]), all_windows[run.name])
        found.append(row | (more(run, own) if more else {}))
    return pa.Table.from_pylist(found)


def by_point(table: pa.Table) -> dict[str, list[Row]]:
    """The rows of each point, in the table's order."""
    found: dict[str, list[Row]] = {}
    for row in table.to_pylist():
        found.setdefault(row["point"], []).append(row)
    return found


def means(own: Sequence[Row], names: Sequence[str]) -> Row:
    """The mean of those of these columns that the rows have, each `name` with half its interval `name_pm`."""
    found: Row = {}
    for name in names:
        if name in own[0]:
            found[name], found[f"{name}_pm"] = student.mean([each[name] for each in own])
    return found


def at_most(row: Row, other: Row, name: str) -> float:
    """How many times another's mean this one may be: the most that both intervals allow.

    It is more than the interval of the ratio itself would give, so that a goal that this reaches is reached.
    """
    most, least = student.ends(row[name], row[f"{name}_pm"])[1], student.ends(other[name], other[f"{name}_pm"])[0]
    return math.inf if least <= 0 else most / least


def so_far(rows_of_points: pa.Table, names: Sequence[str]) -> str:
    """Says how many of all points have a row in the table, where some points are still to come."""
    there = len(set(rows_of_points["point"].to_pylist()))
    return "" if there >= len(names) else f"{there} of {len(names)} points have run so far.\n\n"


def is_timed(points: pa.Table) -> bool:
    """Whether the points have watts, which only gem5's do."""
    return "power_w" in points.column_names


def drawable(stored: Stored) -> pa.Table | None:
    """The stored points, if there are watts to draw."""
    points = stored.rows("points")
    return points if points is not None and stored.origin.timed and is_timed(points) else None


def beside(every: Sequence[Row], row: Row, way: str, same: Sequence[str]) -> Row | None:
    """The first point by another way that has these values in common."""
    return next((other for other in every if other["way"] == way and alike(other, row, same)), None)


def alike(one: Row, other: Row, same: Sequence[str]) -> bool:
    """Whether two points have these values in common. A value that neither has is one in common."""
    return all(one.get(name) == other.get(name) for name in same)


def cheapest(ran: Sequence[Row], kept: Sequence[Row]) -> tuple[Row, Row] | None:
    """The point of least power of those that do enough (`kept`), and what a table says of the choice. If only one has
    run, or none does enough, nothing can be chosen."""
    if len(ran) < 2 or not kept:
        return None
    best = min(kept, key=lambda row: float(row["power_w"]))
    return best, {
        "best": best["point"], "ran": len(ran), "kept": len(kept), "best_power_w": best["power_w"],
        "best_power_w_pm": best["power_w_pm"],
    }  # fmt: skip


def place(run: Run, names: Sequence[str]) -> Row:
    """What says which point a row is of: its name, its group, and those of these values that it has."""
    return {"point": run.name, "group": run.group, **{name: run.values[name] for name in names if name in run.values}}


def with_defaults(table: pa.Table, defaults: Mapping[str, Any]) -> pa.Table:
    """With the values that points had which ran before their scenario had these parameters."""
    for name, value in defaults.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(len(table), pa.scalar(value).type))
        column = table.column_names.index(name)
        table = table.set_column(column, name, pc.fill_null(table[name], value))
    return table


def label_points(axes: Sequence[Axes], names: Sequence[str]) -> None:
    """A line for each point, from top to bottom, with names at the first panel."""
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
    """A value with the ends of its interval, `name_low` and `name_high`. One without ends stands alone."""
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if value is None:
        return "-"
    there = number(scale * value, sign=sign)
    if not math.isfinite(high - low):
        return there
    return f"{there} [{number(scale * low, 3, sign)}, {number(scale * high, 3, sign)}]"
