# SPDX-License-Identifier: BSD-3-Clause
"""The toggles of a run: the guest's own times, and when the trace says that the CPU was asleep."""

from typing import Any

import numpy as np

from lull.rundir.run import Run
from lull.trace import recording
from lull.trace.clock import TICKS_PER_US
from lull.trace.recording import Recording
from lull.trace.sleeps import sleeps

FILE = "toggles.jsonl"
OFF = ("conventional",)
"""Ways after which the CPU is off: Linux has no idle state of it."""

Row = dict[str, Any]


def read(run: Run) -> list[Row]:
    record = recording.load(run.rundir())
    with run.understanding(FILE):
        lines = [{**line, "begin": int(line["begin"]), "end": int(line["end"])} for line in run.lines(FILE)]
        return [_row(run, record, line, after) for line, after in zip(lines, [*lines[1:], None], strict=True)]


def _row(run: Run, record: Recording, line: Row, after: Row | None) -> Row:
    period = record.clock.period
    begin, end = line["begin"] * period, line["end"] * period
    row: Row = {
        "number": int(line["number"]),
        "direction": str(line["direction"]),
        "write_us": (end - begin) / TICKS_PER_US,
        "asleep_us": None,
        "deep_share": None,
        "refused": int(line["refused"]),
        "loops": int(line["loops"]),
        "late_mean_us": int(line["late_sum_ns"]) / max(1, int(line["loops"])) / 1e3,
        "late_most_us": int(line["late_most_ns"]) / 1e3,
    }
    if line["direction"] == "out" and after is not None:
        row |= _asleep(run, record, begin, after["begin"] * period)
    return row


def _asleep(run: Run, record: Recording, begin: int, back: int) -> Row:
    """When the CPU was asleep in the deepest state, or off, and for what share of the time until it was wanted back."""
    cpu = int(run.values["cpu"])
    changes = record.changes[cpu]
    if run.values["way"] in OFF:
        inside = changes.time[(changes.time >= begin) & (changes.time < back)]
        at = int(inside[-1]) if inside.size else begin
        return {"asleep_us": (at - begin) / TICKS_PER_US, "deep_share": (back - at) / (back - begin)}
    found = sleeps(changes)
    deepest = len(run.cluster(cpu).cstates) - 1
    own = (found.state == deepest) & (found.end > begin) & (found.start < back)
    if not own.any():
        return {"asleep_us": None, "deep_share": 0.0}
    start, end = np.maximum(found.start[own], begin), np.minimum(found.end[own], back)
    return {
        "asleep_us": float(start[0] - begin) / TICKS_PER_US,
        "deep_share": float((end - start).sum()) / (back - begin),
    }
