# SPDX-License-Identifier: BSD-3-Clause
"""Power against time: for each way, its power and the 99th percentiles of its response and wake-up times."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.plotting import style
from lull.plotting.markdown import markdown_table

TIMES = {"p99_us": "response", "wake_p99_us": "wake-up"}

Row = dict[str, Any]


def df_tradeoff(points: Sequence[Row]) -> list[Row]:
    """Return a row per point with power and both times. `best_by_`: no other way needs less power and is not later."""
    own = [row for row in points if row.get("cpus_w") is not None and all(row.get(name) is not None for name in TIMES)]
    return [
        {
            **{name: row[name] for name in ("point", "label", "cpus_w", *TIMES)},
            **{
                f"best_by_{name}": not any(
                    other["cpus_w"] < row["cpus_w"] and other[name] <= row[name] for other in own
                )
                for name in TIMES
            },
        }
        for row in own
    ]


def text(rows: Sequence[Row]) -> str:
    """Return the section of the summary; empty without rows."""
    if not rows:
        return ""
    cells = [
        (
            row["label"], f"{1e3 * row['cpus_w']:.4g}", *(f"{row[name]:.4g}" for name in TIMES),
            *("yes" if row[f"best_by_{name}"] else "" for name in TIMES),
        )
        for row in sorted(rows, key=lambda row: float(row["cpus_w"]))
    ]  # fmt: skip
    return (
        "\n\n## Power against time\n\nThe same load in one boot. Wake-up: from the waking of a task of the program "
        "until the task runs, by the trace. Best: no other way needs less power of CPUs and L2s and is no later.\n\n"
        + markdown_table(
            ("way", "CPUs, mW", *(f"{what} p99, µs" for what in TIMES.values()),
             *(f"best by {what}" for what in TIMES.values())),
            cells,
        )
    )  # fmt: skip


def plot_tradeoff(table: pa.Table, title: str) -> Figure:
    """Draw a panel for each time, with a mark for each way: black if best."""
    figure, axes = style.panels(2, 2, 4.2)
    for axis, (name, what) in zip(axes, TIMES.items(), strict=True):
        for row in table.to_pylist():
            place = (row[name] / 1e3, 1e3 * row["cpus_w"])
            filled = "black" if row[f"best_by_{name}"] else "white"
            axis.plot(*place, marker="o", color="black", markerfacecolor=filled)
            axis.annotate(row["label"], place, fontsize=5)
        axis.set_xlabel(f"{what}, 99 % (ms)")
        axis.set_ylabel("power of CPUs and L2s (mW)")
    figure.suptitle(title)
    return figure
