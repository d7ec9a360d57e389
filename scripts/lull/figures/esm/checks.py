# SPDX-License-Identifier: BSD-3-Clause
"""The checks of the ESM experiments. Each quotes the numbers of the point at which it holds least."""

from collections.abc import Sequence
from dataclasses import dataclass

from lull.figures.esm.points import (
    EPOLL,
    ESM,
    ESM_SHADOW,
    ESM_SLOW_SHADOW,
    MASKED,
    PULL,
    QUANTILES,
    Curves,
    Row,
    common,
    ends_of,
)
from lull.plotting.numbers import with_interval
from lull.results.result import Check

WALL_STEP_US = 1.0
CALL_CYCLES = 1300
"""Cycles of the system call to read the wall clock. Its time depends on the CPU's clock."""
FAST_MHZ = 650.0
COLUMNS = ("due", "in_order", "lost", "clocks_apart_us")
"""Columns of the table `points` that checks need. Older publications lack them."""
SLOWLY = "the shadow core at a slow clock"
BEYOND = 5
"""A check uses a quantile only if this many events lie beyond it: a 99th percentile needs 500 events."""


def delivered(points: Sequence[Row]) -> Check:
    """Check that every event that the application asked for came once, in order."""
    bad = [row for row in points if row["events"] != row["due"] or row["lost"] or not row["in_order"]]
    if bad:
        worst = max(bad, key=lambda row: abs(row["due"] - row["events"]))
        order = "in order" if worst["in_order"] else "out of order"
        says = f"{worst['point']}: {worst['events']} of {worst['due']} came, {order}, {worst['lost']} reported lost"
    else:
        says = f"{sum(row['events'] for row in points)} in {len(points)} points, none lost"
    return Check("every event comes once and in order", not bad, says)


def clocks(points: Sequence[Row]) -> list[Check]:
    """Check that the paper's wall clock and the kernel's clock give the same latency."""
    found = [
        (row["clocks_apart_us"], _allowed_us(row), row["point"]) for row in points if row["clocks_apart_us"] is not None
    ]
    if not found:
        return []
    gap, allowed, name = max(found, key=lambda item: abs(item[0]) / item[1])
    says = f"most so in {name}: {gap:+.2f} µs apart on average, may be {allowed:.3g} µs"
    return [Check("both clocks tell the same latency", abs(gap) <= allowed, says)]


def _allowed_us(row: Row) -> float:
    """Return the allowed difference of the clocks: a step of the wall clock, and its system call at the mean CPU clock.
    If the mean clock is not known, a fast one is assumed."""
    return WALL_STEP_US + CALL_CYCLES / (row["mhz"] or FAST_MHZ)


def against_pull(rows: Sequence[Row], axis: str, heading: str) -> list[Check]:
    """Return checks that ESM answers sooner than the poll, and needs less power by both methods."""
    of = _Differences([row for row in rows if row["listen"] == "all"], axis, heading)
    return [
        *of.less(ESM, PULL, "latency_us", "ESM answers sooner than a 16 ms poll"),
        *of.less(ESM, PULL, "power_w", "ESM burns less than a 16 ms poll, by McPAT"),
        *of.less(ESM, PULL, "em_w", "ESM burns less than a 16 ms poll, by `em`"),
    ]


def against_epoll(curves: Curves, rows: Sequence[Row], axis: str, heading: str) -> list[Check]:
    found = []
    for name, what in (("median_us", "median"), ("p99_us", "99th percentile")):
        enough = round(BEYOND / (1 - QUANTILES[name]))
        known = {
            series: {at: row for at, row in own.items() if row["events"] >= enough} for series, own in curves.items()
        }
        found += _no_slower(known, ESM, EPOLL, name, f"ESM is no slower than epoll: {what}", heading)
    of = _Differences([row for row in rows if row["listen"] == "all"], axis, heading)
    return [
        *found,
        *of.less(ESM_SHADOW, EPOLL, "power_w", "ESM with the shadow core burns less than epoll"),
        *of.less(ESM_SLOW_SHADOW, EPOLL, "power_w", f"ESM with {SLOWLY} burns less than epoll"),
    ]


def not_asked_for(rows: Sequence[Row], axis: str, heading: str) -> list[Check]:
    """Return checks for an application that asks for few of the events. Epoll wakes for each, unless it masks them."""
    of = _Differences([row for row in rows if row["listen"] == "keys"], axis, heading)
    where = "where most events are not asked for"
    return [
        *of.less(ESM, EPOLL, "power_w", f"ESM burns less than epoll {where}"),
        *of.less(ESM, MASKED, "power_w", f"ESM burns less than epoll with a mask {where}"),
        *of.less(ESM_SHADOW, EPOLL, "power_w", f"ESM with the shadow core burns less than epoll {where}"),
        *of.less(ESM_SHADOW, MASKED, "power_w", f"ESM with the shadow core burns less than epoll with a mask {where}"),
        *of.less(ESM_SLOW_SHADOW, MASKED, "power_w", f"ESM with {SLOWLY} burns less than epoll with a mask {where}"),
    ]


@dataclass(frozen=True)
class _Differences:
    """The rows of `paired.df_differences`, to be checked for two series at all values of the axis."""

    rows: Sequence[Row]
    axis: str
    heading: str

    def less(self, one: str, other: str, measure: str, name: str) -> list[Check]:
        """Check that `one` has less than `other` at every place: the whole interval of the difference is below 0."""
        found = [
            (row[self.axis], row[measure], row[f"{measure}_pm"])
            for row in self.rows
            if (row["series"], row["against"]) == (one, other) and row[measure] is not None
        ]
        if not found:
            return []
        unit, scale = ("µs", 1.0) if measure.endswith("_us") else ("mW", 1e3)
        passed = [half is not None and value + half < 0 for _, value, half in found]
        at, value, half = max(found, key=lambda place: place[1] + (place[2] or 0.0))
        shown = with_interval(value, half, "+", scale=scale)
        says = (
            f"least so at {at} {self.heading}: {one} {shown} {unit} against {other}; shown at "
            f"{sum(passed)} of {len(passed)} places"
        )
        return [Check(name, all(passed), says)]


def _no_slower(curves: Curves, one: str, other: str, measure: str, name: str, heading: str) -> list[Check]:
    """Check that the whole interval of a quantile of `one` is nowhere above that of `other`."""
    places = [at for at, _, _ in common(curves.get(one, {}), curves.get(other, {}), measure)]
    if not places:
        return []
    low, high = ends_of(measure)
    slower = {at: curves[one][at][low] > curves[other][at][high] for at in places}
    sooner = {at: curves[one][at][high] < curves[other][at][low] for at in places}
    at = max(places, key=lambda at: curves[one][at][measure] - curves[other][at][measure])
    ours, theirs = (
        f"{series} {curves[series][at][measure]:.5g} [{curves[series][at][low]:.5g}, {curves[series][at][high]:.5g}]"
        for series in (one, other)
    )
    says = (
        f"least so at {at} {heading}: {ours}, {theirs} µs; sooner at {sum(sooner.values())}, slower at "
        f"{sum(slower.values())} of {len(places)} places, else within the intervals"
    )
    return [Check(name, not any(slower.values()), says)]
