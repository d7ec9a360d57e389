# SPDX-License-Identifier: BSD-3-Clause
"""How many packets an interrupt and a wake-up of the program bring, at each clock, from the trace.

An interrupt and a wake-up cost the same for one packet as for ten. While a slow CPU handles packets, more of them
come. So this part of a packet's cost grows with the clock.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from lull.plotting.markdown import markdown_table
from lull.rundir.run import Run
from lull.trace import columns, recording
from lull.trace.datfile import TraceFile

CARD = "eth0"
PROGRAM = "eanem-load"
SCHEMA = pa.schema(
    [("point", pa.string()), ("group", pa.string()), ("mss", pa.int64()), ("mhz", pa.int64())]
    + [(name, pa.float64()) for name in ("packets", "an_interrupt", "a_wake", "busy_us", "softirq_us")]
)
"""Packets that an interrupt of the card brings, and a wake-up of the program. What a packet takes of the CPU, and of
that in softirqs."""

Row = dict[str, Any]


def row(run: Run, place: Row, lines: list[Row], mean_bytes: float) -> Row:
    """Of all intervals of a run, which the trace is of."""
    record = recording.load(run.rundir())
    cards = [number for number, name in record.irqs.items() if name == CARD]
    interrupts = int(np.isin(record.tables["irq_handler_entry"]["irq"], cards).sum())
    switches = columns.of_event(TraceFile(record.path), "sched_switch", record.clock)
    wakes = switches["next_comm"].to_pylist().count(PROGRAM)
    packets = sum(int(line["bytes"]) for line in lines) / mean_bytes if mean_bytes else 0.0
    busy = sum(int(line["ns"]) - min(int(line["slept_ns"]), int(line["ns"])) for line in lines) / 1e3
    softirq = sum(int(line["monitor"]["softirq_ns"]) for line in lines) / 1e3
    return {
        **{name: place[name] for name in ("point", "group", "mss", "mhz")},
        "packets": packets,
        "an_interrupt": _each(packets, interrupts),
        "a_wake": _each(packets, wakes),
        "busy_us": _each(busy, packets),
        "softirq_us": _each(softirq, packets),
    }


def _each(sum_of: float, count: float) -> float | None:
    return sum_of / count if count else None


def text(batches: pa.Table | None) -> str:
    """Nothing if the result was published before there was this table."""
    if batches is None:
        return ""
    headings = (
        "point", "packets", "MHz", "packets an interrupt", "packets a wake-up of the program", "busy a packet, µs",
        "of that in softirqs",
    )  # fmt: skip
    names = ("an_interrupt", "a_wake", "busy_us", "softirq_us")
    rows = [
        (
            each["point"], f"{each['packets']:.0f}", each["mhz"],
            *("-" if each[name] is None else f"{each[name]:.3g}" for name in names),
        )
        for each in sorted(batches.to_pylist(), key=lambda each: (each["group"], each["mss"], each["mhz"]))
    ]  # fmt: skip
    return (
        "\n## Packets that come together\n\nAn interrupt of the network card and a wake-up of the program "
        "cost the same for one packet as for ten. Counted in the trace, over all intervals of a run.\n\n"
        + markdown_table(headings, rows)
    )
