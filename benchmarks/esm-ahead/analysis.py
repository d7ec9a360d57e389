# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `esm-ahead`: ways to spare a wanted event the shadow core's way out of sleep."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.figures.esm import checks as esm_checks
from lull.figures.esm import points as esm_points
from lull.figures.esm import runs as esm_runs
from lull.figures.esm.points import Row
from lull.figures.esm.runs import Measured
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import with_interval
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.runspec.values import Value
from lull.scenario.runs import Runs
from lull.statistics import student

ALONE, SHADOW = "alone", "shadow"
"""Without a shadow core, and with one about which nothing is predicted: what all other ways stand beside."""
WAYS = {
    ALONE: "no shadow core",
    SHADOW: "shadow",
    "rest": "shadow in C2",
    "wake": "shadow, woken at once",
    "rest-wake": "shadow in C2, woken at once",
    "home": "shadow, wanted ones at home",
    "rest-home": "shadow in C2, wanted ones at home",
}
SAME = ("events_hz", "wanted", "moves", "clicks", "listen", "deepest", "boot", "cpufreq", "mode")
"""What two points have in common that are compared."""
MEDIAN_US = 200
"""The longest median latency of events that are predicted, where the cluster stays on and all are wanted."""
KEPT = 0.02
"""What prediction may cost of the machine's power where few events are wanted."""
FEW, ALL = 20, 100
"""Percent of events."""
FOLDED = ("power_w", "main_w", "shadow_w", "latency_us")


def analyse(runs: Runs) -> Result:
    measured = esm_runs.read(runs)
    tables = {"points": df_points(measured), "repetitions": df_repetitions(measured)}
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    differences = df_differences(tables["repetitions"])
    timed = any(row["power_w"] is not None for row in table.to_pylist())
    return Result(
        summary="## Points\n\n"
        + waiting.so_far(table, points)
        + "Latency: of the events that the application wants, from the hardware to the handler; median and 99th "
        "percentile with 95 % bootstrap intervals. Power of the machine, of the main CPUs and of the shadow core: "
        "means with 95 % intervals over repetitions (Student's t).\n\n"
        + _points_text(table)
        + _differences_text(differences, timed),
        tables={**tables, "differences": differences},
        checks=[esm_checks.delivered(table.to_pylist()), *(checks(table, differences) if timed else [])],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    shares = [row for row in points.to_pylist() if row["group"].startswith("share-")]
    if not shares:
        return []
    return [
        Drawing(
            "shares", plot_shares(shares, stored.label),
            "Median latency of wanted events, and power of the machine, over the share of events that are wanted.",
        )
    ]  # fmt: skip


def way_of(values: Mapping[str, Value]) -> str:
    """The word for what is done about the second way out of sleep."""
    if values["routing"] == "none":
        return ALONE
    words = ["rest"] if values["rest"] != "C4" else []
    words += [str(values["routed"])] if int(values["ahead"]) else []
    return "-".join(words) or SHADOW


def _place(own: Measured) -> Row:
    values = own.run.values
    return {
        **waiting.place(own.run, [name for name in SAME if name != "wanted"]),
        "way": way_of(values),
        "events_hz": values["events"],
        "wanted": int(values["wanted"]) if values["events"] else None,
    }


def df_points(measured: Sequence[Measured]) -> pa.Table:
    """A row per point: the columns of the other ESM experiments, and the way."""
    table = esm_points.df_points(measured, "moves").to_pylist()
    return _typed([{**row, **_place(own)} for row, own in zip(table, measured, strict=True)])


def df_repetitions(measured: Sequence[Measured]) -> pa.Table:
    return _typed([{**_place(own), **esm_points.row_of_repetition(one)} for own in measured for one in own.repetitions])


def _typed(rows: Sequence[Row]) -> pa.Table:
    """A column that no row of a piece has a value in has the type that it has in other pieces."""
    table = pa.Table.from_pylist(rows)
    for number, column in enumerate(table.schema):
        if column.type == pa.null():
            kind = pa.int64() if column.name == "wanted" else pa.float64()
            table = table.set_column(number, column.name, table.column(number).cast(kind))
    return table


def df_differences(repetitions: pa.Table) -> pa.Table:
    """A row per way and place, beside a shadow core without prediction: repetition N has the same events in both."""
    every: dict[str, list[Row]] = {}
    for one in repetitions.to_pylist():
        every.setdefault(one["point"], []).append(one)
    found = []
    for own in every.values():
        plain = next((other for other in every.values() if _is_plain_of(other[0], own[0])), None)
        if plain is None or len(plain) != len(own):
            continue
        row: Row = {name: own[0][name] for name in ("point", "way", *SAME)}
        for name in FOLDED:
            gaps = [
                mine[name] - other[name]
                for mine, other in zip(own, plain, strict=True)
                if mine[name] is not None and other[name] is not None
            ]
            row[name], row[f"{name}_pm"] = student.mean(gaps) if gaps else (None, None)
        powers = [other["power_w"] for other in plain if other["power_w"] is not None]
        row["plain_power_w"] = sum(powers) / len(powers) if powers else None
        found.append(row)
    return pa.Table.from_pylist(found, schema=_schema())


def _schema() -> pa.Schema:
    words = ("point", "way", "listen", "deepest", "cpufreq", "mode")
    whole = ("events_hz", "wanted", "moves", "clicks", "boot")
    halves = tuple(f"{name}_pm" for name in FOLDED)
    return pa.schema(
        [
            *((name, pa.string()) for name in words),
            *((name, pa.int64()) for name in whole),
            *((name, pa.float64()) for name in (*FOLDED, *halves, "plain_power_w")),
        ]
    )


def _is_plain_of(other: Row, row: Row) -> bool:
    return other["way"] == SHADOW != row["way"] and all(other[name] == row[name] for name in SAME)


def checks(points: pa.Table, differences: pa.Table) -> list[Check]:
    gaps = {row["point"]: row for row in differences.to_pylist()}
    found = []
    for row in points.to_pylist():
        all_wanted = row["listen"] == "all" or row["wanted"] == ALL
        if row["way"] in (ALONE, SHADOW) or row["deepest"] != "C3":
            continue
        if all_wanted and row["median_us"] is not None:
            found.append(
                Check(
                    f"{row['point']}: a wanted event reaches its handler within {MEDIAN_US} µs, as a rule",
                    row["median_high_us"] <= MEDIAN_US,
                    f"median {waiting.quantile_text(row, 'median')} µs",
                )
            )
        gap = gaps.get(row["point"])
        if not all_wanted and row["wanted"] is not None and row["wanted"] <= FEW and gap and gap["plain_power_w"]:
            more = gap["power_w"] / gap["plain_power_w"]
            half = (gap["power_w_pm"] or 0.0) / gap["plain_power_w"]
            found.append(
                Check(
                    f"{row['point']}: what the shadow core saves is kept where few events are wanted",
                    more + half <= KEPT,
                    f"{with_interval(more, half, '+', scale=100)} % power beside no prediction, "
                    f"may be {100 * KEPT:g} %",
                )
            )
    return found


def _wanted(row: Row) -> str:
    if row["wanted"] is not None:
        return f"{row['wanted']} % of {row['events_hz']}"
    return f"{'all' if row['listen'] == 'all' else 'clicks'} of {row['moves']} + {2 * row['clicks']}"


def _points_text(table: pa.Table) -> str:
    headings = (
        "way", "deepest", "wanted, events a second", "events", "median, µs", "p99, µs", "machine, mW", "main CPUs, mW",
        "shadow, mW", "main CPUs' wake-ups/s", "shadow's",
    )  # fmt: skip
    rows = [
        (
            WAYS.get(row["way"], row["way"]), row["deepest"], _wanted(row), row["events"],
            *("-" if row[f"{name}_us"] is None else waiting.quantile_text(row, name) for name in ("median", "p99")),
            *(esm_points.cell(row, f"{name}_w", 1e3) for name in ("power", "main", "shadow")),
            *(esm_points.cell(row, f"{name}_wakes_hz") for name in ("main", "shadow")),
        )
        for row in table.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, rows)


def _differences_text(differences: pa.Table, timed: bool) -> str:
    rows = [
        (
            WAYS.get(row["way"], row["way"]), row["deepest"], _wanted(row),
            esm_points.cell(row, "latency_us"),
            *(esm_points.cell(row, f"{name}_w", 1e3) for name in ("power", "main", "shadow")),
        )
        for row in differences.to_pylist()
    ]  # fmt: skip
    if not rows or not timed:
        return ""
    of = ("machine", "main CPUs", "shadow")
    return (
        "\n## Beside a shadow core without prediction\n\nDifferences with 95 % intervals, repetition by repetition: "
        "both ways see the same events.\n\n"
        + markdown_table(
            ("way", "deepest", "wanted, events a second", "mean latency, µs", *(f"{name}, mW" for name in of)), rows
        )
    )


def plot_shares(rows: Sequence[Row], label: str) -> Figure:
    figure, (latency, power) = style.panels(2, 2, 3)
    for number, way in enumerate(WAYS):
        own = sorted((row for row in rows if row["way"] == way), key=lambda row: row["wanted"])
        for axis, name, scale in ((latency, "median_us", 1.0), (power, "power_w", 1e3)):
            known = [(row["wanted"], row[name] * scale) for row in own if row[name] is not None]
            if known:
                axis.plot(*zip(*known, strict=True), **_look(number), label=WAYS[way])
    latency.axhline(MEDIAN_US, color=style.GREYS[1], linewidth=0.8)
    latency.set_ylabel("median latency, µs")
    power.set_ylabel("power of the machine, mW")
    for axis in (latency, power):
        axis.set_xlabel("events that are wanted, %")
    latency.set_ylim(bottom=0)
    power.legend(title=label or None)
    return figure


def _look(number: int) -> dict[str, Any]:
    return {
        "color": "black", "marker": style.MARKERS[number % len(style.MARKERS)], "markersize": 4,
        "markerfacecolor": "white", "linestyle": style.LINES[number % len(style.LINES)], "linewidth": 1,
    }  # fmt: skip
