# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the ESM experiments: a row per repetition, a row per point with intervals over its repetitions."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lull.figures.esm.runs import POWERS, Measured, Repetition
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import number, with_interval
from lull.runspec.values import Value
from lull.statistics import bootstrap, student

PULL, PULL_LONGER, EPOLL, MASKED, ESM = "pull 16 ms", "pull 100 ms", "epoll", "masked", "ESM"
EPOLL_SHADOW, MASKED_SHADOW, ESM_SHADOW, ESM_THREAD = "epoll, shadow", "masked, shadow", "ESM, shadow", "ESM, thread"
ESM_SLOW_SHADOW = "ESM, slow shadow"
SERIES = (PULL, PULL_LONGER, EPOLL, EPOLL_SHADOW, MASKED, MASKED_SHADOW, ESM, ESM_SHADOW, ESM_SLOW_SHADOW, ESM_THREAD)
"""The project's series in the order of figures. A user's own series follow."""
LOOK = "looks of"
BOOT = ", boot "
RANDOM = ", at random"
"""The end of a series' name if events come at random times, where most of the others have a fixed phase."""
STEPS_PER_US = 400
"""Steps of arithmetic per µs on `tegra-k1`'s A15 at its fastest clock (input-app/handler.h)."""
WORK = 4000
"""Steps of arithmetic in the handler of an event, in ESM experiments that do not vary this number."""
WAKES = ("main", "own", "device", "shadow")
MEANS = (
    *(f"{name}_w" for name in POWERS),
    "mhz",
    "mv",
    "cpu_share",
    *(f"{name}_wakes_hz" for name in WAKES),
    "latency_us",
    "wall_us",
)
"""Measures with a mean and an interval over a point's repetitions."""
QUANTILES = {"median_us": 0.5, "p99_us": 0.99}
"""Quantiles are of all repetitions together, because one repetition has too few events for a tail."""
CLOCKS = (("mhz", 1.0), ("mv", 1e-3))
"""Columns of clock and voltage of the application's CPU, with the factors to MHz and V."""
DECILES = range(1, 10)
ENOUGH_FOR_DECILES = 50
"""The smallest number of events for deciles: five events between two of them."""

Row = dict[str, Any]
Curves = Mapping[str, Mapping[Any, Row]]


def series_of(values: Mapping[str, Value]) -> str:
    """Return the name of a point's curve, such as `pull 16 ms`: the way to get events, then unusual circumstances."""
    mode = values["mode"]
    if mode == "pull":
        name = f"pull {_time(int(values['delay_us']))}" + _look(values)
    else:
        name = ("ESM" if mode == "esm" else str(mode)) + _thread(values)
    name += _work(values) + _shadow(values) + _ahead(values) + _deepest(values) + _governor(values)
    name += _clocks(values) + _places(values)
    return name + _boot(values)


def _ahead(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for predicted events of the shadow CPU."""
    return ", predicted" if int(values.get("ahead", 0)) else ""


def _deepest(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for the deepest idle state, if this is not C3."""
    deepest = values.get("deepest", "C3")
    return "" if deepest == "C3" else f", {deepest}"


def _governor(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for a cpuidle governor that is not Linux's default."""
    governor = str(values.get("governor", "menu"))
    return "" if governor == "menu" else f", {governor}"


def _clocks(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for fixed clocks."""
    return {"powersave": ", slowest", "performance": ", fastest"}.get(str(values.get("cpufreq")), "")


def _places(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for events at random times, in an experiment where most have a fixed phase."""
    return RANDOM if values.get("places") == "random" else ""


def _boot(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for another boot of the machine."""
    return f"{BOOT}{values['boot']}" if values.get("boot") else ""


def _work(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for the handler's time, if it is not the usual 10 µs."""
    steps = int(values.get("work", WORK))
    return f", events of {_time(round(steps / STEPS_PER_US))}" if steps != WORK else ""


def _shadow(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for a shadow core that takes events: the core's clock and idle state, if they
    are unusual."""
    if values["routing"] == "none":
        return ""
    slow = "slow " if values.get("shadow_clock") == "load" else ""
    rests = values.get("rests", "C3")
    return f", {slow}shadow" + ("" if rests == values.get("deepest", "C3") else f" in {rests}")


def _look(values: Mapping[str, Value]) -> str:
    """Return the part of a curve's name for the time of a poll's look, if it takes more than a system call."""
    steps = int(values.get("look", 0))
    return f", {LOOK} {_time(round(steps / STEPS_PER_US))}" if steps else ""


def _thread(values: Mapping[str, Value]) -> str:
    return ", thread" if values["mode"] == "esm" and values["dispatch"] == "thread" else ""


def _time(us: int) -> str:
    for unit, size in (("s", 10**6), ("ms", 10**3)):
        if us >= size:
            return f"{us / size:g} {unit}"
    return f"{us} µs"


def df_repetitions(points: Sequence[Measured], axis: str) -> pa.Table:
    """Return a row per repetition. `began_s` is the time from the application's start to the repetition's begin."""
    return pa.Table.from_pylist(
        [
            {**_place(point, axis), **row_of_repetition(own), "began_s": _began_s(point, own)}
            for point in points
            for own in point.repetitions
        ]
    )


def _began_s(point: Measured, own: Repetition) -> float:
    return int(point.run.values["settle_ms"]) / 1e3 + own.index * own.seconds


def df_points(points: Sequence[Measured], axis: str) -> pa.Table:
    """Return a row per point: means `name` with half the 95 % interval `name_pm`, and quantiles with their intervals.

    `due` counts the events in the schedule that the application asks for, and `events` those of them that came.
    `clocks_apart_us` is the mean latency by the wall clock minus that by the kernel's clock.
    """
    return pa.Table.from_pylist([_of_point(point, axis) for point in points])


def _place(point: Measured, axis: str) -> Row:
    values = point.run.values
    return {
        "point": point.run.name,
        "group": point.run.group,
        "series": series_of(values),
        "cpufreq": values["cpufreq"],
        "deepest": values["deepest"],
        "boot": values.get("boot", 0),
        axis: values[axis],
    }


def row_of_repetition(own: Repetition) -> Row:
    return {
        "repetition": own.index,
        "seconds": own.seconds,
        "events": own.latency_us.size,
        **{f"{name}_w": own.watts.get(name) for name in POWERS},
        **{name: own.clock.get(name) for name in ("mhz", "mv")},
        "cpu_share": own.cpu_s / own.seconds,
        **{f"{name}_wakes_hz": own.wakes[name] / own.seconds for name in WAKES},
        "latency_us": _mean(own.latency_us),
        "wall_us": _mean(own.wall_us),
    }


def _mean(values: bootstrap.Numbers) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _of_point(point: Measured, axis: str) -> Row:
    row: Row = {**_place(point, axis), "repetitions": len(point.repetitions), "events": point.handled}
    row |= {"due": point.windowed, "in_order": point.in_order, "lost": point.lost}
    every = [row_of_repetition(own) for own in point.repetitions]
    for name in MEANS:
        numbers = [own[name] for own in every if own[name] is not None]
        row[name], row[f"{name}_pm"] = student.mean(numbers) if numbers else (None, None)
    latencies = point.latency_us
    found = bootstrap.quantiles(latencies, list(QUANTILES.values())) if latencies.size else []
    for place, name in enumerate(QUANTILES):
        value = found[place] if found else (None, None, None)
        row[name], *ends = value
        row.update(zip(ends_of(name), ends, strict=True))
    row["clock_cpu_share"] = point.clock_cpu_s
    row["clocks_apart_us"] = _mean(point.wall_us - latencies)
    return row


def ends_of(quantile: str) -> tuple[str, str]:
    """Return the names of the columns with the ends of a quantile's interval."""
    name = quantile.removesuffix("_us")
    return f"{name}_low_us", f"{name}_high_us"


def cell(row: Row, name: str, scale: float = 1.0) -> str:
    """Return a number with its interval, as tables show it."""
    if row[name] is None:
        return "-"
    return with_interval(row[name], row.get(f"{name}_pm"), scale=scale)


def _quantile(row: Row, name: str) -> str:
    """Return a quantile with the ends of its interval, as tables show it."""
    if row[name] is None:
        return "-"
    return f"{number(row[name], 5)} [{', '.join(number(row[end], 5) for end in ends_of(name))}]"


LATENCY = "From the device to the application's handler, in µs."
CPUS = (
    "The application's CPU time, and wake-ups a second: of the main CPUs, of these by the application's own timer and "
    "by the device, and of the shadow core."
)
POWER = (
    "In mW. *Machine* is all that is modelled: CPUs, caches and memory. McPAT's numbers are calibrated; *uncalibrated* "
    "says what McPAT gives by itself. `em` is the energy model that Linux schedules by. MHz and V are means over time "
    "of the application's CPU, whose clock `schedutil` sets where the name of a row says nothing else."
)
POWER_HEADINGS = (
    "MHz", "V", "machine", "machine, uncalibrated", "machine, `em`", "cores and L2s", "cores", "cores, `em`",
)  # fmt: skip


def points_text(table: pa.Table, axis: str, heading: str) -> str:
    """Return tables of latency, of the CPUs' activity, and of power if it is known, each with a row per point."""
    latency, cpus, power = [], [], []
    for row in table.to_pylist():
        place = (row["series"], row[axis])
        latency.append((*place, row["events"], cell(row, "latency_us"), *(_quantile(row, name) for name in QUANTILES)))
        cpus.append((*place, cell(row, "cpu_share", 100), *(cell(row, f"{name}_wakes_hz") for name in WAKES)))
        if row["power_w"] is not None:
            clocks = ("-" if row[name] is None else number(row[name] * scale) for name, scale in CLOCKS)
            power.append((*place, *clocks, *(cell(row, f"{name}_w", 1e3) for name in POWERS[:6])))
    parts = [
        ("Latency", LATENCY, ("events", "mean", "median", "99th percentile"), latency),
        ("What the CPUs do", CPUS, ("CPU time, %", "main CPUs", "own timer", "device", "shadow core"), cpus),
        ("Power", POWER, POWER_HEADINGS, power),
    ]
    return "\n".join(
        f"### {title}\n\n{says}\n\n" + markdown_table(("", heading, *headings), rows)
        for title, says, headings, rows in parts
        if rows
    )


def df_deciles(points: Sequence[Measured], axis: str) -> pa.Table:
    """Return the deciles of all latencies of each point.

    For a poll, a decile shows the latency at one phase of its period, because events are spread evenly over it. For
    example, the ninth decile belongs to events that come soon after a look.
    """
    rows: list[Row] = []
    for point in points:
        latencies = point.latency_us
        if latencies.size >= ENOUGH_FOR_DECILES:
            values = np.quantile(latencies, [part / 10 for part in DECILES])
            rows.append({**_place(point, axis), **dict(zip(_decile_names(), map(float, values), strict=True))})
    return pa.Table.from_pylist(rows)


def _decile_names() -> list[str]:
    return [f"d{part}_us" for part in DECILES]


def deciles_text(table: pa.Table, axis: str, heading: str) -> str:
    """Return the section of the summary; empty if no point has enough events."""
    rows = [
        (row["series"], row[axis], *(number(row[name], 5) for name in _decile_names())) for row in table.to_pylist()
    ]
    if not rows:
        return ""
    return (
        "\n## Latency by the phase of an event\n\nDeciles of all latencies of a point, in µs. Events fall evenly over "
        "the period of a poll, so a decile is also the latency at one phase: an event that always comes a tenth of the "
        "period after a look waits as long as the ninth decile says, and one that comes just before a look as the "
        "first.\n\n" + markdown_table(("", heading, *(str(part) for part in DECILES)), rows)
    )


def by_series(rows: Sequence[Row], axis: str) -> dict[str, dict[Any, Row]]:
    """Return the points by series and value of the axis, in the order of figures."""
    found: dict[str, dict[Any, Row]] = {}
    present = list(dict.fromkeys(row["series"] for row in rows))
    for name in [*(name for name in SERIES if name in present), *(name for name in present if name not in SERIES)]:
        found[name] = {row[axis]: row for row in rows if row["series"] == name}
    return found


def common(one: Mapping[Any, Row], other: Mapping[Any, Row], name: str) -> list[tuple[Any, float, float]]:
    """Return the values of the axis at which both series have a number, with both numbers."""
    return [
        (at, one[at][name], other[at][name])
        for at in one
        if at in other and one[at][name] is not None and other[at][name] is not None
    ]


def difference(one: Row, other: Row, name: str) -> tuple[float, float]:
    """Return `one` minus `other`, with half the interval. The means are independent: the squares of halves add."""
    halves = [float(row[f"{name}_pm"] or 0.0) for row in (one, other)]
    return one[name] - other[name], math.hypot(*halves)
