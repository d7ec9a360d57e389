# SPDX-License-Identifier: BSD-3-Clause
"""Paired differences between two ways to get input.

The difference of two points is taken repetition by repetition: its interval is far narrower than those of the two
means. This is possible because repetition N has the same seed in every point, and so the same events. If one point has
more repetitions than the other, the surplus does not count. Points with repetitions of different lengths are compared
by their means.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lull.figures.esm.points import EPOLL, ESM, MASKED, WORK, Row, row_of_repetition, series_of
from lull.figures.esm.runs import Measured
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import number, with_interval
from lull.statistics import student

MEASURES = ("power_w", "cpus_w", "cores_w", "em_w", "em_cores_w", "cpu_share", "latency_us")
MACHINE = ("boot", "cpufreq", "deepest", "governor")
EVENTS = ("work", "listen", "rate", "moves", "clicks", "places", "after_us")
CIRCUMSTANCES = (*MACHINE, *EVENTS)
"""Parameters that must be equal in two points to compare them."""
MODES = ("pull", "epoll", "masked", "esm")
"""The ways of an application to get input, the simplest first."""
COLUMNS = ("above_percent", "above_percent_pm")
"""Columns that the text needs. Older publications lack them."""
REST_W = 1.0
"""An example, not a measurement, of the watts of parts that are not modelled, such as the display at its dimmest."""


@dataclass(frozen=True)
class Gap:
    """One measure of one way minus that of another."""

    value: float
    half: float | None
    """Half the 95 % interval; None if there is only one repetition."""

    @property
    def low(self) -> float:
        return self.value - (self.half or 0.0)

    @property
    def high(self) -> float:
        return self.value + (self.half or 0.0)


def gap(one: Measured, other: Measured, measure: str) -> Gap | None:
    """Return `one` minus `other`; None if either has no number."""
    ours, theirs = ([row_of_repetition(own)[measure] for own in point.repetitions] for point in (one, other))
    if are_paired(one, other):
        both = [(b, a) for a, b in zip(ours, theirs, strict=False) if a is not None and b is not None]
        return Gap(*student.paired(*zip(*both, strict=True))) if both else None
    ours, theirs = ([value for value in values if value is not None] for values in (ours, theirs))
    if not ours or not theirs:
        return None
    (a, a_half), (b, b_half) = student.mean(ours), student.mean(theirs)
    known = a_half is not None and b_half is not None
    return Gap(a - b, math.hypot(a_half or 0.0, b_half or 0.0) if known else None)


def are_paired(one: Measured, other: Measured) -> bool:
    """Return true if the N-th repetitions of both saw the same events in the same time, for each N that both have."""
    lengths = ([own.seconds for own in point.repetitions] for point in (one, other))
    same = all(a == b for a, b in zip(*lengths, strict=False))
    return same and one.run.values.get("seed") == other.run.values.get("seed")


def pairs(points: Sequence[Measured]) -> Iterator[tuple[Measured, Measured]]:
    """Yield each point with each simpler way under the same circumstances, or with itself without a shadow core."""
    for one in points:
        for other in points:
            if _is_simpler(other, one) and _circumstances(one) == _circumstances(other):
                yield one, other


def _is_simpler(other: Measured, one: Measured) -> bool:
    modes = [MODES.index(str(point.run.values["mode"])) for point in (other, one)]
    if series_of(_plain(other)) not in (EPOLL, MASKED, ESM) and modes[0]:
        return False
    return modes[0] < modes[1] or (0 < modes[0] == modes[1] and series_of(_plain(other)) != series_of(_plain(one)))


def _plain(point: Measured) -> dict[str, Any]:
    """Return the point's values, with usual values for the parameters that compared points share anyway."""
    usual = {
        "cpufreq": "schedutil", "deepest": "C3", "rests": "C3", "work": WORK, "boot": 0, "governor": "menu",
        "places": "looks",
    }  # fmt: skip
    return {**point.run.values, **usual}


def _circumstances(point: Measured) -> tuple[object, ...]:
    return tuple(point.run.values.get(name) for name in CIRCUMSTANCES)


def df_differences(points: Sequence[Measured], axis: str) -> pa.Table:
    """Return a row for each pair: `one` minus `other` in each measure with half its interval, and power above idle."""
    rows: list[Row] = []
    for one, other in pairs(points):
        row: Row = {
            "one": one.run.name,
            "other": other.run.name,
            "series": series_of(one.run.values),
            "against": series_of(other.run.values),
            "listen": str(one.run.values.get("listen", "all")),
            axis: one.run.values[axis],
            "paired": are_paired(one, other),
            "repetitions": min(len(one.repetitions), len(other.repetitions)),
        }
        for measure in MEASURES:
            found = gap(one, other, measure)
            row[measure], row[f"{measure}_pm"] = (found.value, found.half) if found else (None, None)
        idle = _idle(points, other)
        share = share_above_idle(points, one, other)
        row["other_power_w"] = _mean(other)
        row["idle_power_w"] = _mean(idle) if idle else None
        row["above_percent"], row["above_percent_pm"] = (share.value, share.half) if share else (None, None)
        rows.append(row)
    return pa.Table.from_pylist(rows)


def _mean(point: Measured) -> float | None:
    watts = _watts(point)
    return student.mean(watts)[0] if watts else None


def _watts(point: Measured) -> list[float]:
    """Return the power of each repetition; empty for runs without timing."""
    return [own.watts["power"] for own in point.repetitions if "power" in own.watts]


def _idle(points: Sequence[Measured], like: Measured) -> Measured | None:
    """Return the idle machine: the point in which an application waits by ESM for events and none comes. A point of the
    same boot is preferred to one of another boot."""
    same = ("cpufreq", "deepest", "governor")
    idle = [
        point
        for point in points
        if point.run.values["mode"] == "esm" and series_of(_plain(point)) == ESM and not point.windowed
        if all(point.run.values.get(name) == like.run.values.get(name) for name in same)
    ]
    return min(idle, key=lambda point: _boot(point) != _boot(like), default=None)


def share_above_idle(points: Sequence[Measured], one: Measured, other: Measured) -> Gap | None:
    """Return `above_idle` with the idle machine among the points; None if there is no such point."""
    idle = _idle(points, other)
    return above_idle(one, other, idle) if idle else None


def above_idle(one: Measured, other: Measured, idle: Measured) -> Gap | None:
    """Return the saving of `one` as a percentage of the power that `other` adds to the idle machine.

    The share is (other - one) / (other - idle). Its interval is that of the mean of (other - one) - share x
    (other - idle), divided by the denominator (the delta method). This is needed because the denominator is also a
    difference of measured means, and shares `other` with the numerator. The interval is taken repetition by repetition
    if points have the same seed, length and boot: then the kernel's housekeeping is in the same repetitions. Means of
    other points are taken for independent.

    Return None without events, because ESM is then the idle machine, and would save 100 % by definition. Return None
    also if `other` adds nothing.
    """
    ours, theirs, least = (_watts(point) for point in (one, other, idle))
    if not other.windowed or not (ours and theirs and least):
        return None
    together = _together(one, other, idle)
    count = min(len(watts) for watts in (ours, theirs, least)[:together])
    ours, theirs, least = (
        watts[:count] if place < together else watts for place, watts in enumerate((ours, theirs, least))
    )
    (a, _), (b, _), (c, _) = (student.mean(watts) for watts in (ours, theirs, least))
    if b <= c:
        return None
    share = (b - a) / (b - c)
    terms = [[-x for x in ours], [(1.0 - share) * y for y in theirs], [share * z for z in least]]
    if together > 1:
        terms = [[sum(parts) for parts in zip(*terms[:together], strict=True)], *terms[together:]]
    halves = [student.mean(term)[1] for term in terms]
    half = None if None in halves else math.hypot(*(own for own in halves if own is not None))
    return Gap(100 * share, None if half is None else 100 * half / (b - c))


def _together(one: Measured, other: Measured, idle: Measured) -> int:
    """Return how many of the three points are compared repetition by repetition: 1 (none), 2 or 3."""
    if not are_paired(one, other):
        return 1
    enough = len(idle.repetitions) >= min(len(one.repetitions), len(other.repetitions))
    return 3 if enough and _boot(other) == _boot(idle) and are_paired(other, idle) else 2


def _boot(point: Measured) -> int:
    return int(point.run.values.get("boot", 0))


def shares(row: Row) -> dict[str, float]:
    """Return the saving as a percentage of the other's power: for the modelled machine, and for REST_W more."""
    saved, before = -row["power_w"], row["other_power_w"]
    return {"machine": 100 * saved / before, "rest": 100 * saved / (before + REST_W)}


def text(table: pa.Table, axis: str, heading: str) -> str:
    """Return the section of the summary; empty if there is no power to compare."""
    rows = [row for row in table.to_pylist() if row["power_w"] is not None]
    if not rows:
        return ""
    headings = (
        "", "against", heading, "mW", "by `em`, mW", "cores, mW", "of the machine, %", "of what is above idle, %",
        f"with {REST_W:g} W of everything else, %", "CPU time, %", "latency, µs",
    )  # fmt: skip
    lines = []
    for row in rows:
        part = shares(row)
        above = "-" if row["above_percent"] is None else with_interval(row["above_percent"], row["above_percent_pm"])
        lines.append(
            (
                row["series"] + (", clicks only" if row["listen"] == "keys" else ""), row["against"], row[axis],
                *(_signed(row, name, 1e3) for name in ("power_w", "em_w", "cores_w")),
                number(part["machine"], 3), above, number(part["rest"], 3),
                _signed(row, "cpu_share", 100), _signed(row, "latency_us", 1.0),
            )
        )  # fmt: skip
    return (
        "\n## Differences\n\nOne way to get input minus another, with 95 % intervals. A negative number is a saving. "
        "Repetitions with the same events are compared one by one. The three columns of shares are what is saved of "
        "the other's power: of the whole modelled machine, of its power above that of the idle machine, and of a "
        f"device that burns {REST_W:g} W besides. On the idle machine the same program waits by ESM for events that "
        "never come. So without events the share above idle would be 100 % for ESM by definition, and is not given."
        "\n\n" + markdown_table(headings, lines)
    )


def _signed(row: Row, name: str, scale: float) -> str:
    if row[name] is None:
        return "-"
    return with_interval(row[name], row[f"{name}_pm"], "+", scale=scale)
