# SPDX-License-Identifier: BSD-3-Clause
"""Recordings written by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lull.trace.activity import Changes
from lull.trace.clock import Clock
from lull.trace.recording import Recording, Table

CLOCK = Clock(hz=25165824, mult=83333333, shift=21, epoch_ns=0, epoch_count=0, monotonic_ns=0, monotonic_count=0)
TIMER_LINE, IPI_LINE, DEVICE_LINE = 11, 1, 40
REASON = 0x1000
"""The address of the words `Rescheduling interrupts`."""

_COLUMNS: dict[str, tuple[str, ...]] = {
    "hrtimer_start": ("hrtimer", "expires"),
    "hrtimer_expire_entry": ("hrtimer",),
    "hrtimer_expire_exit": (),
    "timer_start": ("timer",),
    "timer_expire_entry": ("timer",),
    "timer_expire_exit": (),
    "irq_handler_entry": ("irq",),
    "ipi_raise": ("target_cpus", "reason"),
    "lull_ahead_wake": ("pid",),
}

Rows = Sequence[tuple[int, ...]]
Events = Mapping[str, Rows]
"""Rows by event: time, CPU, and the columns. Columns left out at the end are 0."""


def recording(
    cpus: Sequence[Rows], names: list[str], begin: int, end: int, events: Events | None = None, lost: int = 0
) -> Recording:
    """Make a recording. `cpus` has each CPU's activity from some times on: time, state, cause."""
    changes = {cpu: Changes(*np.array(rows, np.int64).T) for cpu, rows in enumerate(cpus)}
    tables = {}
    for name, columns in _COLUMNS.items():
        width = 2 + len(columns)
        given = [(*row, *[0] * (width - len(row))) for row in (events or {}).get(name, [])]
        table = np.array(given, np.int64).reshape(-1, width)
        tables[name] = Table(table[:, 0], table[:, 1], {key: table[:, 2 + at] for at, key in enumerate(columns)})
    irqs = {TIMER_LINE: "arch_timer", IPI_LINE: "IPI", DEVICE_LINE: "lull-event"}
    strings = {REASON: "Rescheduling interrupts"}
    return Recording(Path("trace.dat"), CLOCK, begin, end, changes, names, tables, irqs, strings, lost)
