# SPDX-License-Identifier: BSD-3-Clause
"""What must hold in the ESM experiments, each said with its numbers at the place where it holds least."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lull.figures.esm.points import EPOLL, ESM, ESM_SHADOW, PULL, QUANTILES, Curves, common
from lull.figures.esm.runs import Measured
from lull.results.result import Check

CLOCKS_AGREE_US = 3.0
"""A step of the wall clock, and the system call that reads it, which the other clock does not need."""
BEYOND = 5
"""Events that have to lie beyond a quantile for a check to rest on it: a 99th percentile takes 500."""


def delivered(points: Sequence[Measured]) -> Check:
    """Every event that the application is about came once, in order."""
    bad = [own for own in points if own.handled != own.windowed or own.lost or not own.in_order]
    if bad:
        worst = max(bad, key=lambda own: abs(own.windowed - own.handled))
        order = "in order" if worst.in_order else "out of order"
        says = f"{worst.run.name}: {worst.handled} of {worst.windowed} came, {order}, {worst.lost} reported lost"
    else:
        says = f"{sum(own.handled for own in points)} in {len(points)} points, none lost"
    return Check("every event comes once and in order", not bad, says)


def clocks(points: Sequence[Measured]) -> list[Check]:
    """The paper's wall clock and the kernel's clock mean the same latency."""
    gaps = {
        own.run.name: float(np.nanmean(own.wall_us - own.latency_us))
        for own in points
        if not np.isnan(own.wall_us).all()
    }
    if not gaps:
        return []
    name, gap = max(gaps.items(), key=lambda item: abs(item[1]))
    says = f"at most {gap:+.2f} µs apart on average, in {name}; may be {CLOCKS_AGREE_US:g} µs"
    return [Check("both clocks tell the same latency", abs(gap) <= CLOCKS_AGREE_US, says)]


def against_pull(curves: Curves, heading: str) -> list[Check]:
    found = _less(curves, ESM, PULL, "latency_us", "ESM answers sooner than a 16 ms poll", "µs", heading)
    return found + _less(curves, ESM, PULL, "power_w", "ESM burns no more than a 16 ms poll", "mW", heading)


def against_epoll(curves: Curves, heading: str) -> list[Check]:
    found = []
    for name, what in (("median_us", "median"), ("p99_us", "99th percentile")):
        enough = round(BEYOND / (1 - QUANTILES[name]))
        known = {
            series: {at: row for at, row in own.items() if row["events"] >= enough} for series, own in curves.items()
        }
        found += _less(known, ESM, EPOLL, name, f"ESM is no slower than epoll: {what}", "µs", heading)
    name = "ESM with the shadow core burns less than epoll"
    return found + _less(curves, ESM_SHADOW, EPOLL, "power_w", name, "mW", heading)


def less_power(table: pa.Table, one: str, other: str, axis: str, name: str) -> list[Check]:
    """A check of two groups of points against each other: mean power, at all places that both have."""
    rows = table.to_pylist()
    ours, theirs = ({row[axis]: row for row in rows if row["point"].startswith(prefix)} for prefix in (one, other))
    pairs = common(ours, theirs, "power_w")
    if not pairs:
        return []
    says = "; ".join(f"at {at}: {a * 1e3:.5g} and {b * 1e3:.5g} mW" for at, a, b in pairs)
    return [Check(name, all(a < b for _, a, b in pairs), says)]


def _less(curves: Curves, one: str, other: str, measure: str, name: str, unit: str, heading: str) -> list[Check]:
    """No more at any place where both are, in means or quantiles as they were found."""
    pairs = common(curves.get(one, {}), curves.get(other, {}), measure)
    if not pairs:
        return []
    scale = 1e3 if unit == "mW" else 1.0
    at, ours, theirs = max(pairs, key=lambda pair: pair[1] - pair[2])
    passed = [ours <= theirs for _, ours, theirs in pairs]
    says = (
        f"least so at {at} {heading}: {one} {ours * scale:.5g}, {other} {theirs * scale:.5g} {unit}; holds at "
        f"{sum(passed)} of {len(passed)} places"
    )
    return [Check(name, all(passed), says)]
