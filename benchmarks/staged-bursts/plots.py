# SPDX-License-Identifier: BSD-3-Clause
"""Power and response times of the points, side by side."""

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style


def plot_ways(points: pa.Table, label: str) -> Figure:
    rows = points.to_pylist()
    figure, axes = style.panels(2, 2, 3.2)
    at = range(len(rows))
    axes[0].barh(at, [1e3 * row["power_w"] for row in rows], color=style.GREYS[0], edgecolor="black", label="machine")
    axes[0].barh(at, [1e3 * row["cpus_w"] for row in rows], color=style.GREYS[1], edgecolor="black", label="CPUs, L2s")
    axes[0].set_xlabel("power (mW)")
    for marker, (name, what) in zip(
        style.MARKERS, (("median_us", "median"), ("p99_us", "99 %"), ("longest_us", "longest")), strict=False
    ):
        axes[1].plot(
            [row[name] / 1e3 for row in rows], at, linestyle="none", marker=marker, color="black",
            markerfacecolor="white", label=what,
        )  # fmt: skip
    axes[1].set_xscale("log")
    axes[1].set_xlabel("response (ms)")
    waiting.label_points(axes, [row["point"] for row in rows])
    for axis in axes:
        axis.legend()
    figure.suptitle(f"A search server\n{label}")
    return figure
