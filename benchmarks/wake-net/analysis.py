# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `wake-net`: what a deep sleep adds to a peer's wait, and what a hint takes away."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import network_card, waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import bootstrap
from lull.statistics.bootstrap import Numbers

REQUESTS, COUNTS = "requests.jsonl", "counts.jsonl"
PLACE = ("way", "gap_us", "state", "governor", "cpu", "delay_us", "early_us", "random")
SAME = ("group", "gap_us", "cpu", "delay_us", "random")
"""What two points have in common whose latencies are beside each other."""
SHALLOW = "C1"
PAPER_EXTRA_US = 106
"""What a sleep as deep as a Xeon's C6 adds to a ping-pong."""
REMOVED = 0.9
"""The share of it that the hint has to take away."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    requests, windows = df_requests(runs), waiting.df_windows(runs, _place)
    tables = {
        "requests": requests,
        "windows": windows,
        "points": df_points(runs, requests, windows),
        "counts": df_counts(runs),
    }
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table, sleeps = tables["points"], df_sleeps(tables["requests"])
    return Result(
        summary="## What the peer waits\n\n"
        + waiting.so_far(table, points)
        + "From a request to its answer, at the peer, with 95 % bootstrap intervals. A request that the peer had to "
        "send twice has no time. Power of the machine without its network card: mean with a 95 % interval over "
        "windows.\n\n"
        + _points_text(table)
        + "\n## What sleep adds, and what the hint takes away\n\nDifferences of medians, with 95 % bootstrap "
        "intervals, request by request: the times between them are the same in all points. "
        f"Sleep adds what a point's median is above that of {SHALLOW} without a hint; the hint takes away a "
        "share of it.\n\n" + _sleeps_text(sleeps.to_pylist()) + "\n## Windows\n\n" + _counts_text(tables["counts"]),
        tables={**tables, "sleeps": sleeps},
        checks=[*checks_of_points(table), *checks(sleeps.to_pylist())] if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    caption = "What a peer waits for an answer, by the deepest idle state, without and with a hint."
    return [Drawing("states", plot_states(points, stored.label), caption)]


def against(stored: Stored) -> list[Against]:
    sleeps = stored.rows("sleeps")
    return [
        Against(
            f"what {row['state']} adds to a ping-pong, on CPU {row['cpu']}", "us", f"{row['added_us']:.3g}",
            f"{PAPER_EXTRA_US}", source="engagement paper",
        )
        for row in (sleeps.to_pylist() if sleeps is not None else [])
        if row["state"] == "C4" and row["group"] == "states"
    ]  # fmt: skip


def df_requests(runs: Runs) -> pa.Table:
    """A row per answer after the first ones, which are there to settle. One that was asked for twice has no time."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _requests(run)])


def _requests(run: Run) -> list[Row]:
    with run.understanding(REQUESTS):
        return [
            {**_place(run), "number": int(line["number"]), "latency_us": int(line["took_ns"]) / 1e3}
            for line in run.lines(REQUESTS)
            if int(line["number"]) >= int(run.values["settle"]) and int(line["took_ns"])
        ]


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE)


def df_points(runs: Runs, requests: pa.Table, windows: pa.Table) -> pa.Table:
    """A row per point: quantiles of the latency, power, and requests without a latency."""
    return waiting.df_points(runs, _place, requests, windows, "latency_us", _twice)


def _twice(run: Run, own: list[Row]) -> Row:
    return {"twice": int(run.values["requests"]) * int(run.values["windows"]) - len(own)}


def df_counts(runs: Runs) -> pa.Table:
    """A row per point with a hint: how its windows ended."""
    found = []
    for run in runs.runs:
        with run.understanding(COUNTS):
            (line,) = run.lines(COUNTS)
            counts = {key: int(line[key]) for key in ("hits", "early", "misses", "dropped")}
        if run.values["way"] == "ahead":
            found.append({**_place(run), **counts})
    return pa.Table.from_pylist(found)


def df_sleeps(requests: pa.Table) -> pa.Table:
    """A row per state deeper than C1: what it adds to the median, and the share of it that a hint takes away."""
    every = waiting.by_point(requests)
    points = [own[0] for own in every.values()]
    found = []
    for row in points:
        if row["way"] != "none" or row["state"] == SHALLOW:
            continue
        shallow = waiting.beside([other for other in points if other["state"] == SHALLOW], row, "none", SAME)
        hinted = waiting.beside([other for other in points if other["state"] == row["state"]], row, "ahead", SAME)
        if shallow is None:
            continue
        medians = _medians([every[each["point"]] for each in (row, shallow, hinted) if each])
        line = {key: row[key] for key in ("point", *SAME, "state", "governor")}
        line |= _described("added_us", medians[0] - medians[1])
        if hinted:
            line |= _described("removed", (medians[0] - medians[2]) / (medians[0] - medians[1]))
        found.append(line)
    return pa.Table.from_pylist(found)


def _medians(points: Sequence[Sequence[Row]]) -> Numbers:
    """A row for each point: its median, and then those of resamples. Requests count that all points have answered."""
    latencies = [{row["number"]: row["latency_us"] for row in own} for own in points]
    numbers = sorted(set.intersection(*(set(own) for own in latencies)))
    groups = [np.array([own[number] for number in numbers]) for own in latencies]
    own = np.array([[np.median(group)] for group in groups])
    return np.hstack([own, bootstrap.paired_medians(groups)])


def _described(name: str, values: Numbers) -> Row:
    low, high = bootstrap.interval(values[1:])
    return {name: float(values[0]), f"{name}_low": float(low), f"{name}_high": float(high)}


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = (
        "group", "state", "way", "governor", "CPU", "gap, µs", "answers", "asked twice", "median, µs", "p99, µs",
    )  # fmt: skip
    return markdown_table(
        headings + (("power, mW", "with the network card, mW") if timed else ()),
        [
            (
                row["group"], row["state"], row["way"], row["governor"], row["cpu"], row["gap_us"],
                row["events"], row["twice"],
                waiting.quantile_text(row, "median"), waiting.quantile_text(row, "p99"),
                *((waiting.watts_text(row, "power_w"), network_card.machine_mw(row["power_w"])) if timed else ()),
            )
            for row in points.to_pylist()
        ],
    )  # fmt: skip


def _sleeps_text(sleeps: list[Row]) -> str:
    return markdown_table(
        ("group", "state", "CPU", "gap, µs", "sleep adds, µs", "the hint takes away, %"),
        [
            (row["group"], row["state"], row["cpu"], row["gap_us"], _between(row, "added_us", 1),
             _between(row, "removed", 100) if row.get("removed") is not None else "-")
            for row in sleeps
        ],
    )  # fmt: skip


def _between(row: Row, name: str, factor: float) -> str:
    low, high = factor * row[f"{name}_low"], factor * row[f"{name}_high"]
    return f"{factor * row[name]:.4g} [{low:.4g}, {high:.4g}]"


def _counts_text(counts: pa.Table) -> str:
    if not counts.num_rows:
        return "No point has a hint.\n"
    names = ("hits", "early", "misses", "dropped")
    return markdown_table(
        ("point", *names), [(row["point"], *(row[name] for name in names)) for row in counts.to_pylist()]
    )


def checks_of_points(points: pa.Table) -> list[Check]:
    """A request that was asked for twice has waited longest, and is in no quantile."""
    rows = points.to_pylist()
    says = ", ".join(f"{row['point']} {row['twice']}" for row in rows if row["twice"]) or "none"
    return [Check("no request was asked for twice", not any(row["twice"] for row in rows), says)]


def checks(sleeps: list[Row]) -> list[Check]:
    """A state that adds something is one whose interval is above 0; the hint is judged there by its interval."""
    found = []
    for row in sleeps:
        if row.get("removed") is None or row["state"] != "C4":
            continue
        place = f"{row['state']}, CPU {row['cpu']}, {row['gap_us']} µs between requests"
        if row["added_us_low"] <= 0:
            found.append(Check(f"{place}: sleep adds to a ping-pong", False, _between(row, "added_us", 1) + " µs"))
            continue
        found.append(
            Check(
                f"{place}: the hint takes away at least {100 * REMOVED:g} % of what sleep adds",
                row["removed_low"] >= REMOVED,
                f"{_between(row, 'removed', 100)} % of {_between(row, 'added_us', 1)} µs",
            )
        )
    return found


def plot_states(points: pa.Table, label: str) -> Figure:
    rows = [row for row in points.to_pylist() if row["group"] == "states"]
    figure, axes = style.panels(2, 2, 2.6)
    states = sorted({row["state"] for row in rows})
    for number, way in enumerate(dict.fromkeys(row["way"] for row in rows)):
        own = sorted((row for row in rows if row["way"] == way), key=lambda row: str(row["state"]))
        at = [states.index(row["state"]) for row in own]
        look: dict[str, Any] = {
            "color": "black", "marker": style.MARKERS[number % len(style.MARKERS)], "markersize": 5, "linewidth": 0.8,
            "label": way,
        }  # fmt: skip
        axes[0].plot(at, [row["median_us"] for row in own], **look)
        axes[1].plot(at, [1e3 * row["power_w"] for row in own], **look)
    for axis in axes:
        axis.set_xticks(range(len(states)), states)
        axis.set_xlabel("deepest idle state")
    axes[0].legend()
    axes[0].set_ylabel("median of the ping-pong (µs)")
    axes[1].set_ylabel("power of the machine (mW)")
    figure.suptitle(f"Answers over the network\n{label}")
    return figure
