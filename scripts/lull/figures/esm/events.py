# SPDX-License-Identifier: BSD-3-Clause
"""The shared part of the analyses of `esm-keyboard` and `esm-gesture`: one application, two kinds of events."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lull.figures.esm import (
    boots as esm_boots,
)
from lull.figures.esm import (
    checks as esm_checks,
)
from lull.figures.esm import (
    paired,
    two_methods,
)
from lull.figures.esm import (
    plots as esm_plots,
)
from lull.figures.esm import (
    points as esm_points,
)
from lull.figures.esm import (
    runs as esm_runs,
)
from lull.figures.esm import (
    tables as esm_tables,
)
from lull.figures.esm.plots import Mark
from lull.figures.esm.points import EPOLL, ESM, PULL, Curves, Row, difference
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import with_interval
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Result, need
from lull.scenario.runs import Runs

ABOVE_IDLE = "above idle"
"""A measure that is no column of a table: power above idle. At idle, the program waits by ESM for events that never
come."""


@dataclass(frozen=True)
class Experiment:
    axis: str
    """The parameter that is varied. `heading` is its title in tables and figures."""
    heading: str
    sooner_ms: Sequence[Mark]
    """The paper's gains in latency over the 16 ms poll."""
    saved_percent: Sequence[Mark]
    """The paper's gains in power, as shares of the power that software adds to an idle machine."""
    aside: Sequence[str] = ()
    """Groups of points that are in the tables, but not on the curves."""

    def curves(self, table: pa.Table) -> Curves:
        ordinary = [row for row in table.to_pylist() if row["group"] not in self.aside]
        return esm_points.by_series(ordinary, self.axis)


def analyse(runs: Runs, what: Experiment) -> Result:
    points = esm_runs.read(runs)
    tables = {**esm_tables.of_points(points, what.axis), "deciles": esm_points.df_deciles(points, what.axis)}
    result = conclude(tables, what, runs.timed)
    return result if runs.timed else esm_tables.without_joules(result, runs.label)


def conclude(tables: Mapping[str, pa.Table], what: Experiment, timed: bool = True) -> Result:
    """Return the result, made from the tables without runs."""
    table = need(tables, "points", *esm_checks.COLUMNS)
    points = table.to_pylist()
    result = Result(
        summary="## Points\n\n"
        "Means have 95 % intervals over repetitions (Student's t). Quantiles are those of all events of a point, with "
        "bootstrap intervals. A check rests on a quantile only if five events lie beyond it.\n\n"
        + esm_points.points_text(table, what.axis, what.heading),
        tables=dict(tables),
        checks=[esm_checks.delivered(points)],
    )
    if not timed:
        return result
    curves = what.curves(table)
    differences = need(tables, "differences", *paired.COLUMNS)
    deciles, boots = tables["deciles"], tables.get("boots", esm_boots.NONE)
    result.checks += esm_checks.clocks(points)
    rows = differences.to_pylist()
    result.checks += esm_checks.against_pull(rows, what.axis, what.heading)
    result.checks += esm_checks.against_epoll(curves, rows, what.axis, what.heading)
    result.checks += esm_checks.not_asked_for(rows, what.axis, what.heading)
    result.checks += esm_boots.checks(boots)
    result.summary += paired.text(differences, what.axis, what.heading)
    result.summary += esm_boots.text(boots, what.axis, what.heading)
    result.summary += esm_points.deciles_text(deciles, what.axis, what.heading)
    result.summary += two_methods.text(table) + "\n## Beside the paper\n\n" + _paper(curves, rows, what)
    return result


def draw(stored: Stored, what: Experiment) -> list[Drawing]:
    table = stored.rows("points")
    if table is None or not stored.origin.timed:
        return []
    curves = what.curves(table)
    power, latency = (
        plot(curves, what.heading, stored.label) for plot in (esm_plots.plot_power, esm_plots.plot_latency)
    )
    found = [
        Drawing("power", power, "Mean power by two methods."),
        Drawing("latency", latency, "From the device to the handler."),
    ]
    if {ESM, PULL} <= curves.keys():
        shares = _gains(curves, _differences(stored), what, ESM, ABOVE_IDLE, "%")
        gain = esm_plots.plot_gain(curves, what.heading, stored.label, shares, what.sooner_ms, what.saved_percent)
        found.append(Drawing("gain", gain, "What ESM saves against a 16 ms poll, beside the paper's numbers."))
    return found


def against(stored: Stored, what: Experiment) -> list[Against]:
    """Return the paper's gains beside ours. The baseline is the gain of blocking in epoll over the same poll."""
    table = stored.rows("points")
    if table is None or not stored.origin.timed:
        return []
    curves = what.curves(table)
    rows = _differences(stored)
    found = []
    for name, marks, measure, unit in _measures(what):
        ours, epoll = (_gains(curves, rows, what, series, measure, unit) for series in (ESM, EPOLL))
        for mark in marks:
            if here := _says(ours, mark):
                title = f"{name} by ESM against a 16 ms poll, {mark.what}"
                baseline = _says(epoll, mark) or "-"
                found.append(Against(title, unit, here, f"{mark.value:g}", f"epoll: {baseline}", "ESM paper"))
    return found


def _differences(stored: Stored) -> list[Row]:
    table = stored.rows("differences")
    return table.to_pylist() if table is not None else []


def _measures(what: Experiment) -> list[tuple[str, Sequence[Mark], str, str]]:
    return [
        ("latency saved", what.sooner_ms, "latency_us", "ms"),
        ("power saved, of what software adds", what.saved_percent, ABOVE_IDLE, "%"),
    ]


def _gains(
    curves: Curves, rows: Sequence[Row], what: Experiment, series: str, measure: str, unit: str
) -> dict[Any, tuple[float, float]]:
    """Return the gains of a series over the 16 ms poll, with half the interval, wherever both have a number.

    ABOVE_IDLE is the power above that of ESM without events: the power that software adds. Difference and share are of
    paired repetitions if `rows` has them. Otherwise, the interval of a share is too wide, because difference and poll
    are taken for independent.
    """
    column = "power_w" if measure == ABOVE_IDLE else measure
    idle = _idle_w(curves) if measure == ABOVE_IDLE else (0.0, 0.0)
    if idle is None:
        return {}
    pull, own = curves.get(PULL, {}), curves.get(series, {})
    known = {row[what.axis]: row for row in rows if (row["series"], row["against"]) == (series, PULL)}
    gains: dict[Any, tuple[float, float]] = {}
    for at in pull:
        if at not in own or pull[at][column] is None or own[at][column] is None:
            continue
        if measure == ABOVE_IDLE and (not pull[at]["events"] or pull[at][column] <= idle[0]):
            # Without events, ESM adds nothing: it would save 100 % by definition.
            continue
        gap, half = difference(pull[at], own[at], column)
        if at in known and known[at][column] is not None:
            gap, half = 0.0 - known[at][column], known[at][f"{column}_pm"] or 0.0
        if unit == "ms":
            gains[at] = gap * 1e-3, half * 1e-3
        elif measure == ABOVE_IDLE and known.get(at, {}).get("above_percent") is not None:
            gains[at] = known[at]["above_percent"], known[at]["above_percent_pm"] or 0.0
        else:
            whole, uncertain = pull[at][column] - idle[0], math.hypot(pull[at][f"{column}_pm"] or 0.0, idle[1])
            gains[at] = 100 * gap / whole, 100 * math.hypot(half, gap / whole * uncertain) / whole
    return gains


def _idle_w(curves: Curves) -> tuple[float, float] | None:
    """Return the power of ESM without events, with half its interval; None if there is no such point."""
    found = [(row["power_w"], row["power_w_pm"] or 0.0) for row in curves.get(ESM, {}).values() if not row["events"]]
    return found[0] if found else None


def _says(gains: Mapping[Any, tuple[float, float]], mark: Mark) -> str | None:
    """Return our gain at the paper's value of the axis, or mean and range of all gains if the paper names none. Return
    None if the gain is not known."""
    if not gains or (mark.at is not None and mark.at not in gains):
        return None
    if mark.at is not None:
        return with_interval(*gains[mark.at])
    every = [gap for gap, _ in gains.values()]
    return f"mean {sum(every) / len(every):.3g}, {min(every):.3g} to {max(every):.3g}"


def _paper(curves: Curves, differences: Sequence[Row], what: Experiment) -> str:
    """Return a table of ESM's gains over the 16 ms poll, beside each number of the paper."""
    rows = [
        (f"{name}, {unit}", mark.what, f"{mark.value:g}", ours)
        for name, marks, measure, unit in _measures(what)
        for mark in marks
        if (ours := _says(_gains(curves, differences, what, ESM, measure, unit), mark))
    ]
    if not rows:
        return "Nothing to compare: the paper's numbers are gains over a 16 ms poll at its rates.\n"
    return markdown_table(("ESM against a 16 ms poll", "", "paper", "here"), rows)
