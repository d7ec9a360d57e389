# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `hotplug-latency`: figures 1, 3 and 5 and table II of the pseudo hotplug paper."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import bootstrap

from . import steps, toggles

MEASURES = {"write_us": "write", "asleep_us": "asleep"}
"""Times of a toggle: until the write returned, and until the CPU slept in the deepest state or was off."""
QUANTILES = {"median": 0.5, "p99": 0.99}
PAPER_RATIO = 997
PAPERS_END = {"out": "asleep_us", "in": "write_us"}
"""Where the paper's time ends: right before the command that enters deep idle or turns the CPU off; and when the write
returned."""
MOST_THREADS = 50
"""The paper's most threads. It has its greatest factor somewhere in its figure 5, and does not say where."""
PLACE = ("way", "threads", "priority", "cpufreq", "cpu", "writer")
DEFAULTS = {"writer": "shared"}
"""What the points had that were published before there were other kinds of writer."""
CACHES = "caches"
"""The group in which the writer's caches differ; all other points have the same."""
DRAWN = ("threads", "partitions", "others")
"""The groups of the figure: equal clocks and caches, and ways to take a CPU out."""
DRAWS = 2000
"""Resamplings of a slope."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    tables = {"toggles": df_toggles(runs.runs), "steps": steps.df_steps(runs.runs)}
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table, parts = waiting.with_defaults(tables["toggles"], DEFAULTS), tables["steps"]
    summary, slopes, ratios = df_summary(table), df_slopes(table), df_ratios(table)
    return Result(
        summary="## Time of a toggle, µs\n\n"
        + waiting.so_far(table, points)
        + "`write`: from the write to its return. `asleep`: from the write until the CPU's last event before it was "
        "off, or until it entered the deepest idle state; a dash where it never did before it came back. `shared`: "
        "threads run on the CPU of the program that writes; `alone`: none does; `warm`: none does, and it has just "
        "made the same write without an effect. With 95 % bootstrap intervals.\n\n"
        + _summary_text(summary)
        + "\n## Growth with threads\n\nMicroseconds for each further thread, by least squares over all toggles.\n\n"
        + _slopes_text(slopes)
        + _ratios_text(ratios)
        + steps.text(parts),
        tables={"toggles": table, "summary": summary, "slopes": slopes, "steps": parts, "ratios": ratios},
        checks=checks(table, ratios),
    )


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("summary")
    if table is None or not stored.origin.timed:
        return []
    return [
        Drawing(
            "latency", plot_latency(table, stored.label), "Time until the write returned, over the number of threads."
        )
    ]


def df_toggles(runs: Sequence[Run]) -> pa.Table:
    """A row per toggle."""
    return pa.Table.from_pylist([{**_place(run), **row} for run in runs for row in toggles.read(run)])


def _place(run: Run) -> Row:
    values = run.values
    return {"point": run.name, "group": run.group, **{name: values[name] for name in PLACE}}


def df_summary(table: pa.Table) -> pa.Table:
    """Quantiles of each point and direction."""
    rows = []
    for (place, direction), own in _groups(table):
        row: Row = {**place, "direction": direction, "n": len(own)}
        for measure in MEASURES:
            known = np.array([each[measure] for each in own if each[measure] is not None])
            found = bootstrap.quantiles(known, list(QUANTILES.values())) if known.size else [(None, None, None)] * 2
            for name, (value, low, high) in zip(QUANTILES, found, strict=True):
                stem = measure.removesuffix("_us")
                row |= {f"{stem}_{name}_us": value, f"{stem}_{name}_low_us": low, f"{stem}_{name}_high_us": high}
            row[f"{measure.removesuffix('_us')}_n"] = int(known.size)
        shares = [each["deep_share"] for each in own if each["deep_share"] is not None]
        row["deep_share"] = float(np.mean(shares)) if shares else None
        row["refused"] = max(each["refused"] for each in own)
        rows.append(row)
    return pa.Table.from_pylist(rows)


def _groups(table: pa.Table) -> Iterator[tuple[tuple[Row, str], list[Row]]]:
    found: dict[tuple[str, str], list[Row]] = {}
    for row in table.to_pylist():
        found.setdefault((row["point"], row["direction"]), []).append(row)
    for (_, direction), own in found.items():
        place = {name: own[0][name] for name in ("point", "group", *PLACE)}
        yield (place, direction), own


def df_slopes(table: pa.Table) -> pa.Table:
    """Growth of each way's times with the number of threads, with the ends of its interval."""
    rows = []
    series: dict[tuple[str, str, str], list[Row]] = {}
    for row in table.to_pylist():
        if row["group"] in ("threads", CACHES):
            series.setdefault((row["way"], row["writer"], row["direction"]), []).append(row)
    for ((way, writer, direction), every), measure in itertools.product(series.items(), MEASURES):
        own = [row for row in every if row[measure] is not None]
        threads = np.array([row["threads"] for row in own], float)
        if len(set(threads)) < 2:
            continue
        slope, low, high = _slope(threads, np.array([row[measure] for row in own]))
        rows.append(
            {
                "way": way, "writer": writer, "direction": direction, "measure": measure, "n": len(own),
                "slope_us": slope, "low_us": low, "high_us": high,
            }
        )  # fmt: skip
    return pa.Table.from_pylist(rows)


def _slope(x: bootstrap.Numbers, y: bootstrap.Numbers) -> tuple[float, float, float]:
    """Least squares; the interval by resampling toggles."""
    draws = np.random.default_rng(0).integers(0, x.size, (DRAWS, x.size))
    low, high = bootstrap.interval(_slopes(x[draws], y[draws]))
    return float(_slopes(x[None], y[None])[0]), low, high


def _slopes(x: bootstrap.Numbers, y: bootstrap.Numbers) -> bootstrap.Numbers:
    from_mean = x - x.mean(axis=1, keepdims=True)
    slopes: bootstrap.Numbers = (from_mean * y).sum(axis=1) / np.maximum((from_mean**2).sum(axis=1), 1e-300)
    return slopes


def df_ratios(table: pa.Table) -> pa.Table:
    """How many times as long as pseudo hotplug each other way takes, in the median, with the ends of its interval."""
    found: dict[tuple[Any, ...], dict[str, list[Row]]] = {}
    for row in table.to_pylist():
        if row["group"] == CACHES:
            continue
        place = (row["direction"], row["threads"], row["priority"], row["cpufreq"])
        found.setdefault(place, {}).setdefault(row["way"], []).append(row)
    rows = []
    for (direction, threads, priority, cpufreq), ways in found.items():
        for way, measure in itertools.product(ways, MEASURES):
            own, base = (_known(ways.get(each, []), measure) for each in (way, "pseudo"))
            if way in ("pseudo", "none") or not own.size or not base.size or base.min() <= 0:
                continue
            ours, theirs = bootstrap.medians([own, base])
            low, high = bootstrap.interval(ours / theirs)
            rows.append(
                {
                    "way": way, "direction": direction, "threads": threads, "priority": priority, "cpufreq": cpufreq,
                    "measure": measure, "ratio": float(np.median(own) / np.median(base)), "low": low, "high": high,
                }
            )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=_RATIOS)


_RATIOS = pa.schema(
    [
        ("way", pa.string()), ("direction", pa.string()), ("threads", pa.int64()), ("priority", pa.int64()),
        ("cpufreq", pa.string()), ("measure", pa.string()), ("ratio", pa.float64()), ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)  # fmt: skip


def _known(rows: Sequence[Row], measure: str) -> bootstrap.Numbers:
    return np.array([row[measure] for row in rows if row[measure] is not None], float)


def _summary_text(summary: pa.Table) -> str:
    rows = [
        (
            row["way"], row["threads"], row["cpufreq"], row["writer"], row["direction"], row["n"],
            *(_quantile(row, f"{stem}_{name}") for stem in MEASURES.values() for name in QUANTILES),
            "-" if row["deep_share"] is None else f"{row['deep_share']:.1%}",
        )
        for row in summary.to_pylist()
    ]  # fmt: skip
    headings = (
        "way", "threads", "clocks", "writer", "", "n", "write, median", "p99", "asleep, median", "p99",
        "deepest state until wanted back",
    )  # fmt: skip
    return markdown_table(headings, rows)


def _quantile(row: Row, name: str) -> str:
    value, low, high = (row[f"{name}{end}_us"] for end in ("", "_low", "_high"))
    return "-" if value is None else f"{value:.4g} [{low:.4g}, {high:.4g}]"


def _slopes_text(slopes: pa.Table) -> str:
    rows = [
        (
            row["way"], row["writer"], row["direction"], MEASURES[row["measure"]], row["n"],
            f"{row['slope_us']:.3g} [{row['low_us']:.3g}, {row['high_us']:.3g}]",
        )
        for row in slopes.to_pylist()
    ]  # fmt: skip
    return markdown_table(("way", "writer", "", "time", "toggles", "µs a thread"), rows)


def _ratios_text(ratios: pa.Table) -> str:
    rows = [
        (
            row["way"], row["direction"], row["threads"], row["cpufreq"], MEASURES[row["measure"]],
            f"{row['ratio']:.4g} [{row['low']:.4g}, {row['high']:.4g}]",
        )
        for row in ratios.to_pylist()
    ]  # fmt: skip
    return (
        "\n## Beside pseudo hotplug\n\nHow many times as long as pseudo hotplug each way takes, in the median. "
        f"The paper has up to {PAPER_RATIO}.\n\n"
        + markdown_table(("way", "", "threads", "clocks", "time", "times as long"), rows)
    )


def checks(table: pa.Table, ratios: pa.Table) -> list[Check]:
    """Conventional hotplug takes longer the more threads there are, and pseudo hotplug does not, as the paper says, to
    the end of the paper's time."""
    found = _ratio_checks(ratios)
    for row in df_slopes(table).to_pylist():
        if row["writer"] != "shared" or row["measure"] != PAPERS_END[row["direction"]]:
            continue
        says = f"{row['slope_us']:+.3g} [{row['low_us']:+.3g}, {row['high_us']:+.3g}] µs for each further thread"
        if row["way"] == "pseudo":
            flat = f"pseudo hotplug takes as long with any number of threads: {row['direction']}"
            found.append(Check(flat, row["low_us"] <= 0 <= row["high_us"], says))
        if row["way"] == "conventional":
            found.append(
                Check(
                    f"conventional hotplug takes longer with more threads: {row['direction']}", row["low_us"] > 0, says
                )
            )
    return found


def _ratio_checks(ratios: pa.Table) -> list[Check]:
    """Pseudo hotplug is faster than conventional, by the paper's greatest factor at the most threads."""
    rows = [
        row
        for row in ratios.to_pylist()
        if row["way"] == "conventional" and row["measure"] == PAPERS_END[row["direction"]]
    ]
    return [
        Check(
            f"pseudo hotplug is {PAPER_RATIO} times as fast as conventional at {MOST_THREADS} threads: "
            f"{row['direction']}, by `{MEASURES[row['measure']]}`",
            row["low"] >= PAPER_RATIO,
            f"{row['ratio']:.4g} [{row['low']:.4g}, {row['high']:.4g}] times; the paper has up to {PAPER_RATIO}",
        )
        for row in rows
        if row["threads"] == MOST_THREADS
    ]


def plot_latency(table: pa.Table, label: str) -> Figure:
    figure, axes = style.panels(2, 2, 2.6)
    rows = [row for row in table.to_pylist() if row["group"] in DRAWN and row["way"] != "none"]
    for axis, direction in zip(axes, ("out", "in"), strict=True):
        for number, way in enumerate(dict.fromkeys(row["way"] for row in rows)):
            own = sorted(
                (row for row in rows if (row["way"], row["direction"]) == (way, direction)),
                key=lambda row: row["threads"],
            )
            middle = np.array([row["write_median_us"] for row in own])
            ends = [np.array([row[f"write_median_{end}_us"] for row in own]) for end in ("low", "high")]
            axis.errorbar(
                [row["threads"] for row in own], middle, yerr=[middle - ends[0], ends[1] - middle], color="black",
                linewidth=1, linestyle=style.LINES[number % len(style.LINES)], marker=style.MARKERS[number],
                markersize=4, capsize=2, label=way,
            )  # fmt: skip
        axis.set_yscale("log")
        axis.set_title(direction)
        axis.set_xlabel("threads")
        axis.set_ylabel("time until the write returned (µs)")
    style.legend_below(figure, *axes[0].get_legend_handles_labels())
    figure.suptitle(f"Taking a CPU out and bringing it back\n{label}")
    return figure
