# SPDX-License-Identifier: BSD-3-Clause
"""A run's trace, read once: the activity of each CPU, and the events that give its causes. Times are gem5's ticks.

Events are kept as columns: some tens of bytes for each event of the kinds named here, nothing for others.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lull.errors import UserError
from lull.rundir.folder import TRACE, RunDir
from lull.trace import events
from lull.trace.activity import IDLE, UNKNOWN, Activity, Changes, Names
from lull.trace.clock import Clock
from lull.trace.datfile import TraceFile
from lull.trace.events import Batch, Numbers

BEGIN = "lull begin"
CLOCK = "local"

_KEPT: dict[str, tuple[str, ...]] = {
    "irq_handler_entry": ("irq",),
    "hrtimer_start": ("hrtimer", "expires"),
    "hrtimer_expire_entry": ("hrtimer",),
    "hrtimer_expire_exit": (),
    "timer_start": ("timer",),
    "timer_expire_entry": ("timer",),
    "timer_expire_exit": (),
    "ipi_raise": ("target_cpus", "reason"),
    "cpu_frequency": ("state", "cpu_id"),
    "lull_route": ("irq", "from", "to", "reason"),
    "lull_ahead_wake": ("pid", "start", "state", "late_ns"),
    "lull_ahead_came": ("what", "ns", "expected_ns", "margin_ns"),
}
"""The events that are kept, and their fields."""
_SETS = ("target_cpus",)
"""Fields that are a set of CPUs, with a bit for each."""


@dataclass(frozen=True)
class Table:
    """The events of one name, in the order of time."""

    time: Numbers
    cpu: Numbers
    columns: dict[str, Numbers]

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, name: str) -> Numbers:
        return self.columns[name]


@dataclass(frozen=True)
class Recording:
    path: Path
    clock: Clock
    begin: int
    end: int
    """`begin` and `end` of the traced time. It begins with the command, or when the traces of all CPUs have begun."""
    changes: dict[int, Changes]
    names: list[str]
    tables: dict[str, Table]
    irqs: dict[int, str]
    """Interrupts by their number in Linux."""
    strings: dict[int, str]
    """The kernel's own texts, such as IPIs' reasons, by their address."""
    lost: int
    """The number of missing events."""

    def cause_at(self, cpu: int, time: int) -> str:
        """Return the cause for which a CPU works at a time; IDLE before its first event."""
        changes = self.changes[cpu]
        at = int(np.searchsorted(changes.time, time, side="right")) - 1
        return self.names[int(changes.cause[at])] if at >= 0 else IDLE


def load(rundir: RunDir) -> Recording:
    path = rundir / TRACE
    if not path.is_file():
        raise UserError(f"{path}: missing; run the command again with --trace sched --trace power --trace irq")
    trace = TraceFile(path)
    if trace.clock != CLOCK:
        raise UserError(f"{path}: its clock is {trace.clock}, not {CLOCK}; record it by `lull boot --trace`")
    reader = _Reader(trace)
    for cpu in trace.cpus:
        reader.read(cpu)
    return reader.recording()


class _Reader:
    def __init__(self, trace: TraceFile) -> None:
        self.trace = trace
        self.names = Names()
        self.irqs: dict[int, str] = {}
        self.clock: Clock | None = None
        self.begin: int | None = None
        self.end = 0
        self.lost = 0
        self.changes: dict[int, Changes] = {}
        self.columns: dict[str, list[tuple[int, Numbers, dict[str, Numbers]]]] = defaultdict(list)
        reasons = {address: f"irq:{text}" for address, text in trace.strings.items()}
        self.ipi_names = defaultdict(lambda: "irq:IPI", reasons)
        self.irq_names: dict[int, str] = {}

    def read(self, cpu: int) -> None:
        activity = Activity(self.names)
        lost = 0
        for batch in events.batches(self.trace, cpu):
            lost += batch.lost
            self._learn_interrupts(batch)
            activity.take(batch, self.irq_names, self.ipi_names)
            self._read_marks(batch)
            self._keep(batch)
        self.lost += max(lost, self.trace.dropped.get(cpu, 0))
        changes = activity.changes()
        if changes.time.size:
            self.changes[cpu] = changes

    def recording(self) -> Recording:
        path = self.trace.path
        if self.clock is None:
            raise UserError(f"{path}: does not say how its clock runs; record it by `lull boot --trace`")
        clock = self.clock
        changes = {
            cpu: Changes(clock.ticks(item.time.astype(np.uint64), path), item.state, item.cause)
            for cpu, item in self.changes.items()
        }
        known = [int(item.time[item.state != UNKNOWN][0]) for item in changes.values()]
        if self.begin is not None:
            known.append(self._ticks(self.begin))
        if not known:
            raise UserError(f"{path}: holds no events; run the command again with --trace sched --trace power")
        return Recording(
            path=path,
            clock=clock,
            begin=max(known),
            end=self._ticks(self.end),
            changes=changes,
            names=self.names.texts,
            tables={name: self._table(name, clock) for name in _KEPT},
            irqs={number: name.partition(":")[2] for number, name in self.irq_names.items()},
            strings=self.trace.strings,
            lost=self.lost,
        )

    def _ticks(self, stamp: int) -> int:
        assert self.clock is not None
        return int(self.clock.ticks(np.array([stamp], np.uint64), self.trace.path)[0])

    def _learn_interrupts(self, batch: Batch) -> None:
        entries = batch.of("irq_handler_entry")
        if not entries.size:
            return
        numbers, first = np.unique(batch.numbers("irq_handler_entry", "irq", entries), return_index=True)
        for number, at in zip(numbers.tolist(), entries[first].tolist(), strict=True):
            if number not in self.irq_names:
                name = batch.dynamic("irq_handler_entry", "name", at).split(b"\0")[0].decode(errors="replace")
                self.irq_names[number] = f"irq:{name}"

    def _read_marks(self, batch: Batch) -> None:
        for at in batch.of("print").tolist():
            text = batch.tail("print", "buf", at).split(b"\0")[0].decode(errors="replace")
            if text.startswith(BEGIN) and self.begin is None:
                self.begin = int(batch.time[at])
            elif clock := Clock.of_marker(text):
                self.clock, self.end = clock, int(batch.time[at])

    def _keep(self, batch: Batch) -> None:
        for name, fields in _KEPT.items():
            which = batch.of(name)
            if which.size:
                columns = {
                    field: (batch.bits if field in _SETS else batch.numbers)(name, field, which) for field in fields
                }
                self.columns[name].append((batch.cpu, batch.time[which].astype(np.int64), columns))

    def _table(self, name: str, clock: Clock) -> Table:
        parts = self.columns.pop(name, [])
        if not parts:
            nothing = np.empty(0, np.int64)
            return Table(nothing, nothing, dict.fromkeys(_KEPT[name], nothing))
        time = np.concatenate([stamps for _, stamps, _ in parts])
        cpu = np.concatenate([np.full(stamps.size, number) for number, stamps, _ in parts])
        order = np.argsort(time, kind="stable")
        ticks = clock.ticks(time[order].astype(np.uint64), self.trace.path)
        columns = {key: np.concatenate([values[key] for _, _, values in parts])[order] for key in _KEPT[name]}
        return Table(ticks, cpu[order], columns)
