# SPDX-License-Identifier: BSD-3-Clause
"""Finds the origin of each act of a CPU: the task or the device at the root.

An *act* is the start of a timer or the sending of an IPI: a CPU affects itself later, or another CPU. The origin of an
act in a task is this task. In a timer's handler, it is the origin of the timer's start; in an IPI's handler, that of
the sending; in a device's handler, the device. So each act has one root. The root is nobody for acts of the idle loop,
which starts timers to serve others in time, and for acts that began before the trace.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lull.trace.events import Numbers
from lull.trace.recording import Recording, Table

NOBODY = -1
TASK, IRQ, SOFTIRQ, DEVICE = "task:", "irq:", "softirq:", "device:"
CPU_TIMER = "irq:arch_timer"
KINDS = ("hrtimer", "timer")
"""Timers of high resolution, and timers of the wheel. Events and fields have these names."""


def latest(keys: Numbers, times: Numbers, asked_keys: Numbers, asked_times: Numbers, before: bool = False) -> Numbers:
    """Return for each asked key and time the last item of this key until then (or before then); NOBODY if there is
    none."""
    key, time = np.concatenate([keys, asked_keys]), np.concatenate([times, asked_times])
    asks = np.concatenate([np.zeros(keys.size, np.int64), np.full(asked_keys.size, -1 if before else 1)])
    order = np.lexsort((asks, time, key))
    found = np.maximum.accumulate(np.where(asks[order] == 0, np.arange(order.size), NOBODY))
    item = order[np.maximum(found, 0)]
    answer = np.empty(order.size, np.int64)
    answer[order] = np.where((found >= 0) & (key[item] == key[order]), item, NOBODY)
    return answer[keys.size :]


@dataclass(frozen=True)
class Arrivals:
    """IPIs by the CPU to which they were sent. An IPI to several CPUs is listed for each. `act` is the sending."""

    cpu: Numbers
    time: Numbers
    reason: Numbers
    act: Numbers


class Origins:
    def __init__(self, record: Recording) -> None:
        self.record = record
        self._codes = {text: number for number, text in enumerate(record.names)}
        self._ipi_causes = {IRQ, IRQ + "IPI", *(IRQ + text for text in record.strings.values())}
        parts: list[Table] = [record.tables[f"{kind}_start"] for kind in KINDS] + [record.tables["ipi_raise"]]
        self._first = np.cumsum([0, *map(len, parts)])
        self.cpu = np.concatenate([part.cpu for part in parts])
        self.time = np.concatenate([part.time for part in parts])
        self.arrivals = self._arrivals(parts[-1])
        self.cause = self._causes()
        self.roots = self._roots()

    def starts_of(self, kind: str, expiries: Numbers) -> Numbers:
        """Return the acts that started the timers of these expiries."""
        starts, ends = self.record.tables[f"{kind}_start"], self.record.tables[f"{kind}_expire_entry"]
        found = latest(starts[kind], starts.time, ends[kind][expiries], ends.time[expiries])
        return np.where(found == NOBODY, NOBODY, found + self._first[KINDS.index(kind)])

    def _causes(self) -> Numbers:
        """Return the cause for which each act's CPU worked."""
        found = np.full(self.time.size, NOBODY, np.int64)
        for cpu, changes in self.record.changes.items():
            mine = np.flatnonzero(self.cpu == cpu)
            at = np.searchsorted(changes.time, self.time[mine], side="right") - 1
            found[mine] = np.where(at >= 0, changes.cause[np.maximum(at, 0)], NOBODY)
        return found

    def _arrivals(self, ipis: Table) -> Arrivals:
        cpus = np.array(sorted(self.record.changes), np.int64)
        sent, to = np.nonzero(ipis["target_cpus"][:, None] >> cpus & 1)
        reasons = np.array([self.reason(address) for address in ipis["reason"].tolist()], np.int64)
        return Arrivals(cpus[to], ipis.time[sent], reasons[sent], sent + self._first[2])

    def reason(self, address: int) -> int:
        """Return the code of an IPI's handler as a cause."""
        return self._codes.get(IRQ + self.record.strings.get(address, "IPI"), NOBODY)

    def _roots(self) -> list[str | None]:
        parent = self._parents()
        while True:
            further = np.where(parent == NOBODY, NOBODY, parent[parent])
            if (further == NOBODY).all():
                break
            parent = np.where(further == NOBODY, parent, further)
        top = np.where(parent == NOBODY, np.arange(parent.size), parent)
        own = self._own_roots()
        return [own[number] for number in top.tolist()]

    def _own_roots(self) -> list[str | None]:
        """Return the task or the device in which each act happened."""
        entries = self.record.tables["irq_handler_entry"]
        before = latest(entries.cpu, entries.time, self.cpu, self.time)
        names = [self.record.irqs.get(number, "") for number in entries["irq"].tolist()] + [""]
        return [
            self._own_root(self.record.names[cause] if cause != NOBODY else "", IRQ + names[interrupt])
            for cause, interrupt in zip(self.cause.tolist(), before.tolist(), strict=True)
        ]

    def _own_root(self, cause: str, interrupt: str) -> str | None:
        """Return the task or the device of a cause. A softirq counts as work of the interrupt before it."""
        if cause.startswith(TASK):
            return cause
        handler = interrupt if cause.startswith(SOFTIRQ) else cause
        return DEVICE + handler.removeprefix(IRQ) if self.is_device(handler) else None

    def is_device(self, cause: str) -> bool:
        return cause.startswith(IRQ) and cause != CPU_TIMER and not self.is_ipi(cause)

    def is_ipi(self, cause: str) -> bool:
        return cause in self._ipi_causes

    def _parents(self) -> Numbers:
        """Return the act that led to each act. Acts of tasks have none."""
        parent = np.full(self.time.size, NOBODY, np.int64)
        in_task = np.array([text.startswith(TASK) for text in self.record.names] + [False])[self.cause]
        arrived = latest(
            self._pairs(self.arrivals.cpu, self.arrivals.reason), self.arrivals.time,
            self._pairs(self.cpu, self.cause), self.time, before=True,
        )  # fmt: skip
        if self.arrivals.act.size:
            _fill(parent, np.where(arrived == NOBODY, NOBODY, self.arrivals.act[arrived]))
        _fill(parent, self._earlier_starts())
        for kind in reversed(KINDS):
            _fill(parent, self._handled(kind))
        parent[in_task] = NOBODY
        return parent

    def _pairs(self, cpu: Numbers, code: Numbers) -> Numbers:
        return cpu * (len(self.record.names) + 1) + code + 1

    def _earlier_starts(self) -> Numbers:
        """Return the earlier start of timers that are started again after their handler."""
        starts = self.record.tables["hrtimer_start"]
        found = np.full(self.time.size, NOBODY, np.int64)
        found[: len(starts)] = latest(starts["hrtimer"], starts.time, starts["hrtimer"], starts.time, before=True)
        found[self.cause != self._codes.get(CPU_TIMER, NOBODY - 1)] = NOBODY
        return found

    def _handled(self, kind: str) -> Numbers:
        """Return for acts in a timer's handler the act that started this timer."""
        entries, exits = (self.record.tables[f"{kind}_expire_{end}"] for end in ("entry", "exit"))
        begun = latest(entries.cpu, entries.time, self.cpu, self.time)
        over = latest(exits.cpu, exits.time, self.cpu, self.time)
        inside = begun != NOBODY
        if len(exits):
            inside &= (over == NOBODY) | (exits.time[over] < entries.time[begun])
        found = np.full(self.time.size, NOBODY, np.int64)
        found[inside] = self.starts_of(kind, begun[inside])
        return found


def _fill(parent: Numbers, found: Numbers) -> None:
    take: npt.NDArray[np.bool_] = found != NOBODY
    parent[take] = found[take]
