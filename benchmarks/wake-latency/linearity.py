# SPDX-License-Identifier: BSD-3-Clause
"""Does a configured latency come out as it went in? Measured entry and exit over what the hardware was told to take.

The line is fitted through the medians of the points with a latency above 0. Its slope has to be 1, and its value at 0
has to be what the point with latency 0 measures, which is the firmware's own path and no part of the fit.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.container import Container
from matplotlib.figure import Figure

from lull.figures import wake
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.statistics import bootstrap
from lull.statistics.bootstrap import Numbers

AXES = {"exit": "actual_exit_us", "entry": "actual_entry_us"}
"""Group of points, which is also the phase measured, and what varies in it."""
SLOPE_TOLERANCE = 0.01
INTERCEPT_TOLERANCE_US = 0.5
LEAST_POINTS = 3


@dataclass(frozen=True)
class Fit:
    slope: float
    slope_interval: tuple[float, float]
    intercept_us: float
    intercept_interval_us: tuple[float, float]
    at_zero_us: float
    off_us: float
    """Intercept less what the point without latency measures."""
    off_interval_us: tuple[float, float]

    @property
    def holds(self) -> bool:
        low, high = self.slope_interval
        near = abs(self.off_us) <= INTERCEPT_TOLERANCE_US or self.off_interval_us[0] <= 0 <= self.off_interval_us[1]
        return low >= 1 - SLOPE_TOLERANCE and high <= 1 + SLOPE_TOLERANCE and near


def fit(configured: Numbers, measured: list[Numbers]) -> Fit:
    """`configured` holds 0 first, then the latencies that the line goes through; one array of times for each."""
    slope, intercept, zero, off = (float(row[0]) for row in _line(configured, _columns(measured)))
    drawn = _line(configured, bootstrap.medians(measured))
    slope_ends, intercept_ends, _, off_ends = (bootstrap.interval(row) for row in drawn)
    return Fit(slope, slope_ends, intercept, intercept_ends, zero, off, off_ends)


def _columns(measured: list[Numbers]) -> Numbers:
    return np.array([[np.median(group)] for group in measured])


def _line(configured: Numbers, medians: Numbers) -> Numbers:
    """Least squares in every column: slope, intercept, what was measured at 0, and how far the two are apart."""
    x, y = configured[1:], medians[1:]
    away = x - x.mean()
    slope = away @ y / (away @ away)
    intercept = y.mean(axis=0) - slope * x.mean()
    return np.array([slope, intercept, medians[0], intercept - medians[0]])


def extend(result: Result, wakes: pa.Table) -> None:
    """Add the fits, where a sweep has points for them."""
    table = df_linearity(wakes)
    if not table.num_rows:
        return
    result.tables["linearity"] = table
    rows = [
        (
            row["phase"], row["cluster"], row["state"], row["n"],
            f"{row['slope']:.4f} [{row['slope_low']:.4f}, {row['slope_high']:.4f}]",
            f"{row['intercept_us']:.2f} [{row['intercept_low_us']:.2f}, {row['intercept_high_us']:.2f}]",
            f"{row['at_zero_us']:.2f}",
        )
        for row in table.to_pylist()
    ]  # fmt: skip
    headings = ("phase", "cluster", "state", "n", "slope", "intercept, µs", "measured at 0, µs")
    result.summary += "\n## Configured latency against measured\n\n" + markdown_table(headings, rows)
    result.checks += [_check(row) for row in table.to_pylist()]


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("linearity")
    if table is None:
        return []
    caption = "Measured entry and exit over the configured actual latency: medians, their 95 % intervals, fitted lines."
    return [Drawing("linearity", plot_linearity(stored.tables["wakes"], table, stored.label), caption)]


def df_linearity(wakes: pa.Table) -> pa.Table:
    """A row per phase, cluster and state that was measured at 0 and at enough other latencies."""
    rows: list[dict[str, object]] = []
    for phase, axis in AXES.items():
        swept = wakes.filter(pc.equal(wakes["group"], phase))
        for cluster, state in wake.cells(swept):
            configured, measured = _by_latency(swept, cluster, state, phase, axis)
            if len(configured) < LEAST_POINTS + 1 or configured[0] != 0:
                continue
            found = fit(configured, measured)
            rows.append(
                {
                    "phase": phase,
                    "cluster": cluster,
                    "state": state,
                    "n": sum(map(len, measured)),
                    "slope": found.slope,
                    "slope_low": found.slope_interval[0],
                    "slope_high": found.slope_interval[1],
                    "intercept_us": found.intercept_us,
                    "intercept_low_us": found.intercept_interval_us[0],
                    "intercept_high_us": found.intercept_interval_us[1],
                    "at_zero_us": found.at_zero_us,
                    "off_us": found.off_us,
                    "off_low_us": found.off_interval_us[0],
                    "off_high_us": found.off_interval_us[1],
                    "holds": found.holds,
                }
            )
    return pa.Table.from_pylist(rows)


def plot_linearity(wakes: pa.Table, table: pa.Table, label: str) -> Figure:
    """A panel per phase and state; clusters by marker, their lines by dashes."""
    rows = table.to_pylist()
    places = list(dict.fromkeys((row["phase"], row["state"]) for row in rows))
    clusters = list(dict.fromkeys(row["cluster"] for row in rows))
    figure, axes = style.panels(len(places), 3, 2.2)
    handles: dict[str, Container] = {}
    for axis, (phase, state) in zip(axes, places, strict=True):
        for row in (row for row in rows if (row["phase"], row["state"]) == (phase, state)):
            swept = wakes.filter(pc.equal(wakes["group"], phase))
            configured, measured = _by_latency(swept, row["cluster"], state, phase, AXES[phase])
            number = clusters.index(row["cluster"])
            axis.plot(
                configured, row["intercept_us"] + row["slope"] * configured,
                color="0.5", linewidth=0.8, linestyle=style.LINES[number % 4],
            )  # fmt: skip
            found = np.array([bootstrap.quantiles(group, [0.5])[0] for group in measured])
            points = axis.errorbar(
                configured, found[:, 0], yerr=[found[:, 0] - found[:, 1], found[:, 2] - found[:, 0]], linestyle="none",
                marker=style.MARKERS[number % 8], markersize=4, markerfacecolor="none", color="black", linewidth=0.8,
            )  # fmt: skip
            handles.setdefault(row["cluster"], points)
        axis.set_title(f"{phase} of {state}")
        axis.set_xlabel(f"configured actual {phase} (µs)")
        axis.set_ylabel(f"measured {phase} (µs)")
    figure.suptitle(f"Measured over configured latency\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles))
    return figure


def _by_latency(wakes: pa.Table, cluster: str, state: str, phase: str, axis: str) -> tuple[Numbers, list[Numbers]]:
    here = wake.cell(wakes, cluster, state)
    configured = np.array(sorted(set(here[axis].to_pylist())), dtype=np.float64)
    groups = [wake.microseconds(here.filter(pc.equal(here[axis], value)), phase) for value in configured]
    return configured, groups


def _check(row: dict[str, object]) -> Check:
    says = (
        f"slope {row['slope']:.4f} [{row['slope_low']:.4f}, {row['slope_high']:.4f}], has to be 1 ± {SLOPE_TOLERANCE}; "
        f"intercept {row['intercept_us']:.2f} µs, measured at 0 {row['at_zero_us']:.2f} µs, "
        f"may differ by {INTERCEPT_TOLERANCE_US} µs or by its own uncertainty"
    )
    return Check(f"{row['phase']} of {row['state']} on {row['cluster']} is linear", bool(row["holds"]), says)
