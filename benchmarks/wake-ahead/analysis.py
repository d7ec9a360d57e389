# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `wake-ahead`: the way of an announced event to its program, and its price."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.figures.waiting import WINDOWS
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.trace import recording

EVENTS = "events.jsonl"
PLACE = ("way", "state", "learn", "exit_us", "governor", "cpu", "period_us", "early_us", "late_us")
COUNTS = ("hits", "early", "misses", "wakes", "late", "late_most_ns", "ahead_sum_ns")
"""What the kernel counted of the program's CPU; -1 where no window was asked for."""
READY_US = 10.0
"""How long after the window's begin a CPU may be ready at most, and before it on average."""
BOUND_SHARE = 0.1
"""By how much an event with a window may take longer than with C1 only, of what deep sleep adds."""

STATES = ("C1", "C2", "C3", "C4")
READINESS = {
    "slept_early_us": "early on average, µs", "slept_early_most_us": "at most", "slept_late_us": "late at most, µs",
}  # fmt: skip
UNKNOWN = dict.fromkeys(("woken_before", "slept", *READINESS))
"""Of a point that asks for no windows."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    events, windows = df_events(runs), waiting.df_windows(runs, _place)
    wakes = df_wakes(runs) if runs.timed else None
    tables = {"events": events, "windows": windows, "points": df_points(runs, events, windows, wakes)}
    if wakes is not None:
        tables["wakes"] = wakes
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    return Result(
        summary="## From the event to the program\n\n"
        + waiting.so_far(table, points)
        + "Latency: from when the hardware raised the event until the program had it, with 95 % bootstrap intervals. "
        "Power of the machine: mean with a 95 % interval over windows.\n\n"
        + _points_text(table)
        + "\n## Windows\n\nHow often the CPU was woken for a window, how often it was ready only after the window had "
        "begun, by how much at most, and how early it was on average otherwise.\n\n"
        + _windows_text(table)
        + _wakes_text(table),
        tables=dict(tables),
        checks=checks(table) if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    return [
        Drawing(
            "tradeoff", plot_tradeoff(points, stored.label),
            "Power of the machine over the 99th percentile of the latency of an event.",
        )
    ]  # fmt: skip


def df_events(runs: Runs) -> pa.Table:
    """A row per event after the first ones, which are there to settle."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _events(run)])


def _events(run: Run) -> list[Row]:
    with run.understanding(EVENTS):
        skip = 1000 * int(run.values["settle_ms"]) // int(run.values["period_us"])
        return [
            {**_place(run), "serial": int(line["serial"]),
             "latency_us": (int(line["had_ns"]) - int(line["raised_ns"])) / 1e3}
            for line in list(run.lines(EVENTS))[skip:]
        ]  # fmt: skip


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE)


def df_points(runs: Runs, events: pa.Table, windows: pa.Table, wakes: pa.Table | None) -> pa.Table:
    """A row per point: quantiles of the latency, power, and what the kernel counted of windows."""

    woken = waiting.by_point(wakes) if wakes is not None else {}

    def more(run: Run, _: list[Row]) -> Row:
        if not runs.timed:
            return _counts(run)
        return _counts(run) | (readiness(woken.get(run.name, [])) if run.values["way"] == "ahead" else UNKNOWN)

    return waiting.df_points(runs, _place, events, windows, "latency_us", more)


def _counts(run: Run) -> Row:
    with run.understanding(WINDOWS):
        totals = list(run.lines(WINDOWS))[-1]
        return {name: int(totals[name]) for name in COUNTS}


def readiness(wakes: Sequence[Row]) -> Row:
    """How early a CPU was that slept until it was woken for a window, and how often something else woke it before."""
    early = [row["early_us"] for row in wakes if not row["woken_before"]]
    on_time, late = [value for value in early if value >= 0], [-value for value in early if value < 0]
    return {
        "woken_before": len(wakes) - len(early), "slept": len(early),
        "slept_early_us": float(np.mean(on_time)) if on_time else None,
        "slept_early_most_us": max(on_time, default=None), "slept_late_us": max(late, default=0.0),
    }  # fmt: skip


def df_wakes(runs: Runs) -> pa.Table | None:
    """A row per wake-up for a window; None where no point has any."""
    found = [
        {**_place(run), **row} for run in runs.runs if run.values["way"] == "ahead" for row in _wakes(run)
    ]  # fmt: skip
    return pa.Table.from_pylist(found) if found else None


def _wakes(run: Run) -> list[Row]:
    """By the trace. The timer that wakes for a window is the last that expired on its CPU before the event, and says
    when it was due. If the CPU was ready sooner after that than hardware can leave the deepest state, something else
    had begun to wake it before.
    """
    deepest, exit_ns = STATES.index(str(run.values["state"])), 1e3 * float(run.values["exit_us"])
    record = recording.load(run.rundir())
    wakes, expired, started = (
        record.tables[name] for name in ("lull_ahead_wake", "hrtimer_expire_entry", "hrtimer_start")
    )
    found = []
    for time, cpu, start, state, late in zip(
        wakes.time.tolist(), wakes.cpu.tolist(), *(wakes[name].tolist() for name in ("start", "state", "late_ns")),
        strict=True,
    ):  # fmt: skip
        timer = expired["hrtimer"][(expired.cpu == cpu) & (expired.time <= time)]
        due = started["expires"][(started["hrtimer"] == timer[-1]) & (started.time <= time)] if timer.size else timer
        if due.size:
            other = state == deepest and late < exit_ns
            found.append({"cpu": cpu, "woken_before": other, "early_us": (start - int(due[-1]) - late) / 1e3})
    return found


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = ("way", "deepest", "exit, µs", "learn", "governor", "events", "median, µs", "p99") + (
        ("power, mW", "clusters") if timed else ()
    )
    found = [
        (
            row["way"], row["state"], f"{row['exit_us']:g}" if row["group"] == "exits" else "-", row["learn"],
            row["governor"], row["events"], waiting.quantile_text(row, "median"), waiting.quantile_text(row, "p99"),
            *((waiting.watts_text(row, "power_w"), waiting.watts_text(row, "cpus_w")) if timed else ()),
        )
        for row in points.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, found)


def _windows_text(points: pa.Table) -> str:
    found = [
        (
            row["state"], f"{row['exit_us']:g}" if row["group"] == "exits" else "-", row["learn"], row["hits"],
            row["misses"], row["wakes"], row["late"], f"{row['late_most_ns'] / 1e3:.4g}",
            "-" if (ahead := _ahead_us(row)) is None else f"{ahead:.4g}",
        )
        for row in points.to_pylist()
        if row["way"] == "ahead"
    ]  # fmt: skip
    return markdown_table(
        ("deepest", "exit, µs", "learn", "hits", "misses", "woken", "late", "latest, µs", "early on average, µs"), found
    )


def _wakes_text(points: pa.Table) -> str:
    rows = [row for row in points.to_pylist() if row.get("slept")]
    if not rows:
        return ""
    found = [
        (
            row["state"], f"{row['exit_us']:g}" if row["group"] == "exits" else "-", row["learn"], row["woken_before"],
            row["slept"], *("-" if row[name] is None else f"{row[name]:.4g}" for name in READINESS),
        )
        for row in rows
    ]  # fmt: skip
    return (
        "\nThe same by the trace, without the windows before which something else, such as the tick, had begun to wake "
        "the CPU. Such a CPU is early by up to an exit latency, whatever it has learned.\n\n"
        + markdown_table(("deepest", "exit, µs", "learn", "woken before", "slept", *READINESS.values()), found)
    )


def _ahead_us(row: Row) -> float | None:
    on_time = row["wakes"] - row["late"]
    return row["ahead_sum_ns"] / on_time / 1e3 if on_time > 0 else None


def checks(points: pa.Table) -> list[Check]:
    """A CPU is ready when it has to be, whatever its hardware takes, and then an event costs what it costs from C1."""
    every = points.to_pylist()
    found = []
    for row in every:
        if row["way"] == "ahead" and row["group"] == "exits" and row["learn"]:
            ahead = row["slept_early_us"]
            early = "-" if ahead is None else f"{ahead:.3g}"
            late = f"late {row['late']} times, by {row['late_most_ns'] / 1e3:.3g} µs at most"
            found.append(
                Check(
                    f"a CPU that learns is ready within {READY_US:g} µs where leaving takes {row['exit_us']:g} µs",
                    ahead is not None and ahead <= READY_US and row["late_most_ns"] <= READY_US * 1e3,
                    f"early by {early} µs on average over {row['slept']} sleeps, {late}; {row['woken_before']} "
                    "times something else woke the CPU before",
                )
            )
    for state in dict.fromkeys(row["state"] for row in every):
        ways = {row["way"]: row for row in every if row["group"] == "ways" and row["state"] == state}
        if {"none", "ahead", "qos"} <= ways.keys():
            none, ahead, qos = (ways[name]["median_us"] for name in ("none", "ahead", "qos"))
            most = qos + BOUND_SHARE * (none - qos)
            found.append(
                Check(
                    f"an announced event does not wait for {state}", ahead <= most,
                    f"median {ahead:.4g} µs, may be {most:.4g}; {qos:.4g} from C1 and {none:.4g} without a window",
                )
            )  # fmt: skip
    return found


def plot_tradeoff(points: pa.Table, label: str) -> Figure:
    rows_ = [row for row in points.to_pylist() if row["group"] in ("ways", "teo")]
    states = list(dict.fromkeys(row["state"] for row in rows_))
    figure, axes = style.panels(len(states), 2, 2.6)
    for axis, state in zip(axes, states, strict=False):
        own = [row for row in rows_ if row["state"] == state]
        for number, row in enumerate(own):
            name = row["way"] if row["group"] == "ways" else row["governor"]
            axis.errorbar(
                [row["p99_us"]], [1e3 * row["power_w"]], yerr=[1e3 * (row["power_w_pm"] or 0.0)], color="black",
                marker=style.MARKERS[number % len(style.MARKERS)], markersize=5, capsize=2, linestyle="none",
                label=name,
            )  # fmt: skip
        axis.set_xscale("log")
        axis.set_title(f"deepest state {state}")
        axis.set_xlabel("p99 of the latency (µs)")
        axis.set_ylabel("power of the machine (mW)")
        axis.legend()
    figure.suptitle(f"An event that is announced\n{label}")
    return figure
