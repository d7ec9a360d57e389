# SPDX-License-Identifier: BSD-3-Clause
"""Each wake-up of a CPU: what ended the sleep, and who had armed that."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lull.platform.schema import Platform
from lull.rundir import RunDir
from lull.trace import recording
from lull.trace.events import Numbers
from lull.trace.origins import CPU_TIMER, DEVICE, IRQ, NOBODY, TASK, Origins
from lull.trace.recording import Recording
from lull.trace.spans import sleeps

KERNEL_TIMER = "timer:kernel"
"""The tick, or a timer that was started before the trace began."""

_NEVER = 1 << 62
_NO_TIMER = NOBODY - 1


class Wake(NamedTuple):
    """`time`: when Linux is back.

    `source`: `irq:NAME` of a device, `timer:COMM/PID` of the task that started it, KERNEL_TIMER, `ipi:CPU` of the
    sender, or `none`: no interrupt came. `armed_by`: `task:COMM/PID` or `device:NAME`, or None where it is nobody's or
    from before the trace. `act`: CPU and time of the timer's start or of the IPI.
    """

    cpu: int
    time: int
    state: str
    source: str
    armed_by: str | None
    act: tuple[int, int] | None = None


def wakes(rundir: RunDir) -> list[Wake]:
    """Ordered by CPU and time."""
    return of_recording(recording.load(rundir), rundir.spec().platform)


def of_recording(record: Recording, platform: Platform) -> list[Wake]:
    origins = Origins(record)
    found: list[Wake] = []
    for cpus, cluster in platform.cpu_ranges():
        names = [state.name for state in cluster.cstates]
        for cpu in cpus:
            if cpu in record.changes:
                found += _Waker(record, origins, cpu).wakes(names)
    return found


class _Waker:
    """One CPU's sleeps that ended within the traced time."""

    def __init__(self, record: Recording, origins: Origins, cpu: int) -> None:
        self.record, self.origins, self.cpu = record, origins, cpu
        start, end, state = sleeps(record.changes[cpu])
        ended = (end > record.begin) & (end <= record.end)
        self.asleep, self.back, self.state = start[ended], end[ended], state[ended]
        self.until = np.append(start[1:], _NEVER)[: start.size][ended]

    def wakes(self, names: Sequence[str]) -> list[Wake]:
        interrupts = self.record.tables["irq_handler_entry"]
        handler, following = self._first("irq_handler_entry"), self._first("irq_handler_entry", 1)
        over = np.where(following == NOBODY, self.until, np.append(interrupts.time, 0)[following])
        timer = self._starter("hrtimer", over)
        wheel = self._starter("timer", self.until)
        sender = self._sender()
        irqs = np.append(interrupts["irq"], NOBODY)[handler]
        return [
            Wake(self.cpu, back, names[state], *self._source(irq, started, waited, sent))
            for back, state, irq, started, waited, sent in zip(
                *(column.tolist() for column in (self.back, self.state, irqs, timer, wheel, sender)), strict=True
            )
        ]

    def _first(self, name: str, skip: int = 0) -> Numbers:
        """The first event (or a later one) of a name while the CPU is awake after each sleep."""
        table = self.record.tables[name]
        mine = np.flatnonzero(table.cpu == self.cpu)
        time = np.append(table.time[mine], _NEVER)
        at = np.minimum(np.searchsorted(time, self.back) + skip, mine.size)
        return np.where(time[at] < self.until, np.append(mine, NOBODY)[at], NOBODY)

    def _starter(self, kind: str, before: Numbers) -> Numbers:
        """Who started the first timer that expires after each sleep, and before another time; NO_TIMER if none does."""
        table = self.record.tables[f"{kind}_expire_entry"]
        expiry = self._first(f"{kind}_expire_entry")
        expired = (expiry != NOBODY) & (np.append(table.time, 0)[expiry] < before)
        found = np.full(expiry.size, _NO_TIMER, np.int64)
        found[expired] = self.origins.starts_of(kind, expiry[expired])
        return found

    def _sender(self) -> Numbers:
        """The first IPI that was sent to the CPU in each sleep."""
        arrivals = self.origins.arrivals
        mine = np.flatnonzero(arrivals.cpu == self.cpu)
        time = np.append(arrivals.time[mine], _NEVER)
        at = np.searchsorted(time, self.asleep)
        return np.where(time[at] < self.until, np.append(arrivals.act[mine], NOBODY)[at], NOBODY)

    def _source(
        self, irq: int, timer: int, wheel: int, sent: int
    ) -> tuple[str, str | None] | tuple[str, str | None, tuple[int, int] | None]:
        if irq == NOBODY:
            return "none", None
        if timer != _NO_TIMER:
            return self._timer(timer, wheel)
        cause = IRQ + self.record.irqs.get(irq, "")
        if cause == CPU_TIMER:
            return KERNEL_TIMER, None
        if self.origins.is_device(cause):
            return cause, DEVICE + cause.removeprefix(IRQ)
        if sent == NOBODY:
            return "ipi:unknown", None
        return f"ipi:{int(self.origins.cpu[sent])}", self.origins.roots[sent], self._act(sent)

    def _timer(self, timer: int, wheel: int) -> tuple[str, str | None, tuple[int, int] | None]:
        """The idle loop's own timer is there for the wheel's."""
        for act in (timer, wheel):
            root = self.origins.roots[act] if act >= 0 else None
            if root:
                return "timer:" + root.removeprefix(TASK), root, self._act(act)
        return KERNEL_TIMER, None, self._act(timer)

    def _act(self, act: int) -> tuple[int, int] | None:
        return (int(self.origins.cpu[act]), int(self.origins.time[act])) if act >= 0 else None
