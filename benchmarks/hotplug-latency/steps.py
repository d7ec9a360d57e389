# SPDX-License-Identifier: BSD-3-Clause
"""Hotplug step by step, as the kernel traces begin and end: each step of conventional hotplug, and a change of pseudo
hotplug as a whole."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lull.errors import UserError
from lull.plotting.markdown import markdown_table
from lull.rundir.folder import TRACE
from lull.rundir.run import Run
from lull.trace import columns, recording
from lull.trace import events as events_of
from lull.trace.clock import Clock
from lull.trace.datfile import TraceFile

FILE = "steps.txt"
ENTER = ("cpuhp_enter", "cpuhp_multi_enter")
EXIT = "cpuhp_exit"
CHANGE = "lull_pseudo_change"
SHOWN = 8
"""Steps in the summary, the longest first; the table has all."""

Row = dict[str, Any]


def df_steps(runs: Sequence[Run]) -> pa.Table:
    """Median time of each step of each point and direction."""
    rows = []
    for run in runs:
        if run.values["way"] == "conventional":
            found, names = _times(run), _names(run)
        elif run.values["way"] == "pseudo":
            found, names = _changes(run), {0: "pseudo:change"}
        else:
            continue
        for (direction, step), times in sorted(found.items()):
            rows.append(
                {
                    "point": run.name,
                    "way": run.values["way"],
                    "threads": run.values["threads"],
                    "cpufreq": run.values["cpufreq"],
                    "direction": direction,
                    "step": step,
                    "name": names.get(step, ""),
                    "n": len(times),
                    "median_us": float(np.median(times)),
                    "most_us": float(np.max(times)),
                }
            )
    return pa.Table.from_pylist(rows)


def _names(run: Run) -> dict[int, str]:
    """The kernel's list of its steps, lines of `NUMBER: NAME`."""
    found = {}
    for line in run.file(FILE).read_text().splitlines():
        number, colon, name = line.partition(":")
        if not colon or not number.strip().isdecimal():
            raise UserError(f"{run.file(FILE)}: `{line}` is no step; run the point again")
        found[int(number)] = name.strip()
    return found


def _times(run: Run) -> dict[tuple[str, int], list[float]]:
    """Microseconds of every step, by direction and number. A step that is still under way at the end has none."""
    trace = TraceFile(run.path / TRACE)
    clock = recording.load(run.rundir()).clock
    events: list[tuple[float, int, int | None]] = []
    for name in ENTER:
        events += [(row["time_s"], row["idx"], row["target"]) for row in _events(trace, name, clock)]
    events += [(row["time_s"], row["idx"], None) for row in _events(trace, EXIT, clock)]
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    begun: dict[int, tuple[float, int]] = {}
    for at, step, goal in sorted(events, key=lambda event: event[0]):
        if goal is not None:
            begun[step] = (at, int(goal))
        elif step in begun:
            since, goal = begun.pop(step)
            found["out" if goal < step else "in", step].append((at - since) * 1e6)
    return found


def _changes(run: Run) -> dict[tuple[str, int], list[float]]:
    """Microseconds of every change of pseudo hotplug: mask, interrupts, the call of the CPU, notifications."""
    trace = TraceFile(run.path / TRACE)
    found: dict[tuple[str, int], list[float]] = defaultdict(list)
    begin = 0.0
    for row in sorted(_events(trace, CHANGE, recording.load(run.rundir()).clock), key=lambda row: float(row["time_s"])):
        if row["done"]:
            found["out" if row["down"] else "in", 0].append((row["time_s"] - begin) * 1e6)
        else:
            begin = row["time_s"]
    return found


def _events(trace: TraceFile, name: str, clock: Clock) -> list[Row]:
    """The events of a name; none where it never happened."""
    if not any(batch.of(name).size for cpu in trace.cpus for batch in events_of.batches(trace, cpu)):
        return []
    found: list[Row] = columns.of_event(trace, name, clock).to_pylist()
    return found


def text(table: pa.Table) -> str:
    return _text_of_conventional([row for row in table.to_pylist() if row["way"] == "conventional"]) + _text_of_pseudo(
        [row for row in table.to_pylist() if row["way"] == "pseudo"]
    )


def _text_of_pseudo(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    lines = [
        (row["point"], row["direction"], row["n"], f"{row['median_us']:.4g}", f"{row['most_us']:.4g}") for row in rows
    ]
    return (
        "\n## The change of pseudo hotplug alone\n\nFrom the first to the last of what the kernel does for it, without "
        "the system call, in µs.\n\n" + markdown_table(("point", "", "n", "median", "most"), lines)
    )


def _text_of_conventional(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    most = max(row["threads"] for row in rows)
    lines = []
    for direction in ("out", "in"):
        own = [row for row in rows if row["threads"] == most and row["direction"] == direction]
        lines += [
            (direction, row["name"] or row["step"], row["n"], f"{row['median_us']:.4g}", f"{row['most_us']:.4g}")
            for row in sorted(own, key=lambda row: -row["median_us"])[:SHOWN]
        ]
    return (
        f"\n## Steps of conventional hotplug, with {most} threads\n\nThe {SHOWN} longest steps of each direction, by "
        "the kernel's own trace of them, in µs.\n\n" + markdown_table(("", "step", "n", "median", "most"), lines)
    )
