# SPDX-License-Identifier: BSD-3-Clause
"""Finds for each wake-up of a CPU what ended the sleep, and who had armed it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lull.platform.cstates import CState
from lull.platform.schema import Platform
from lull.rundir.folder import RunDir
from lull.trace import recording
from lull.trace.clock import ticks_of_us
from lull.trace.events import Numbers
from lull.trace.origins import CPU_TIMER, DEVICE, IRQ, NOBODY, TASK, Origins
from lull.trace.recording import Recording
from lull.trace.sleeps import NEVER, sleeps

AHEAD = "ahead:"
"""The prefix for the timer of anticipatory wakeup. No work has come yet, so its owner is charged for the wake-up."""

SOFTWARE_US = 200
"""About the longest time of firmware and Linux in the exit from the deepest state."""

KERNEL_TIMER = "timer:kernel"
"""The tick, or a timer that was started before the trace began."""

_NO_TIMER = NOBODY - 1
"""The code for no expired timer. NOBODY is a timer whose start is not in the trace."""


class Wake(NamedTuple):
    """A wake-up. `time` is when Linux is back.

    `source` is one of: `irq:NAME` of a device; `timer:COMM/PID` of the task that started it; KERNEL_TIMER; `ipi:CPU` of
    the sender; `ahead:COMM/PID` of the task that asked for a window (`ahead:kernel` of a driver); `none` without an
    interrupt. `armed_by` is `task:COMM/PID`, `device:NAME` or `ahead:COMM/PID`; None if it is nobody's, or from before
    the trace. `act` is CPU and time of the timer's start or of the IPI.
    """

    cpu: int
    time: int
    state: str
    source: str
    armed_by: str | None
    act: tuple[int, int] | None = None


def wakes(rundir: RunDir) -> list[Wake]:
    """Return the wake-ups of a run, ordered by CPU and time."""
    return of_recording(recording.load(rundir), rundir.spec().platform)


def of_recording(record: Recording, platform: Platform) -> list[Wake]:
    origins = Origins(record)
    found: list[Wake] = []
    for cpus, cluster in platform.cpu_ranges():
        names = [state.name for state in cluster.cstates]
        for cpu in cpus:
            if cpu in record.changes:
                found += Waker(record, origins, cpu, cluster.cstates).wakes(names)
    return found


class Waker:
    """The wake-ups of one CPU. Sleeps that ended outside the traced time have none."""

    def __init__(self, record: Recording, origins: Origins, cpu: int, cstates: Sequence[CState]) -> None:
        self.record, self.origins, self.cpu = record, origins, cpu
        own = sleeps(record.changes[cpu])
        self._ended = (own.end > record.begin) & (own.end <= record.end)
        self._asleep, self._back, self._state = (column[self._ended] for column in own)
        self._until = np.append(own.start[1:], NEVER)[: own.start.size][self._ended]

        interrupts = record.tables["irq_handler_entry"]
        handler, following = self._first("irq_handler_entry"), self._first("irq_handler_entry", 1)
        over = np.where(following == NOBODY, self._until, np.append(interrupts.time, 0)[following])
        self._irq = np.append(interrupts["irq"], NOBODY)[handler]
        self._timer = self._starter("hrtimer", over)
        self._wheel = self._starter("timer", self._until)
        self._sender = self._first_sender()
        others = [line for line, name in record.irqs.items() if origins.is_ipi(IRQ + name)]
        self._ipi = np.isin(self._irq, others)
        out = [SOFTWARE_US + state.actual.exit_us + state.actual.refill_us for state in cstates]
        self._timer = self._sooner(ticks_of_us(out)[self._state])
        self._ahead = self._first("lull_ahead_wake")
        windows = record.tables["lull_ahead_wake"]
        self._ahead[(self._ahead == NOBODY) | (np.append(windows.time, NEVER)[self._ahead] >= over)] = NOBODY
        tasks = [name.removeprefix(TASK) for name in record.names if name.startswith(TASK)]
        self._tasks = {int(pid): name for name in tasks if (pid := name.rpartition("/")[2]).isdecimal()}

    def wakes(self, names: Sequence[str]) -> list[Wake]:
        columns = (self._back, self._state, self._ahead, self._irq, self._timer, self._wheel, self._sender)
        return [
            Wake(self.cpu, back, names[state], *self._source(irq, timer, wheel, sender, ahead))
            for back, state, ahead, irq, timer, wheel, sender in zip(
                *(column.tolist() for column in columns), strict=True
            )
        ]

    def interrupted(self) -> Numbers:
        """Return for each sleep the tick at which its timer was due, or its IPI was sent; NOBODY if not known."""
        by_ipi = (self._timer == _NO_TIMER) & (self._sender != NOBODY) & self._ipi
        at = self._due(self._timer)
        at[by_ipi] = self.origins.time[self._sender[by_ipi]]
        at[(at < self._asleep) | (at > self._back)] = NOBODY  # a timer of another clock
        found = np.full(self._ended.size, NOBODY, np.int64)
        found[self._ended] = at
        return found

    def _first(self, name: str, skip: int = 0) -> Numbers:
        """Return the first event (with `skip`, a later one) of a name while the CPU is awake after each sleep."""
        table = self.record.tables[name]
        mine = np.flatnonzero(table.cpu == self.cpu)
        time = np.append(table.time[mine], NEVER)
        at = np.minimum(np.searchsorted(time, self._back) + skip, mine.size)
        return np.where(time[at] < self._until, np.append(mine, NOBODY)[at], NOBODY)

    def _starter(self, kind: str, before: Numbers) -> Numbers:
        """Return for each sleep who started the first timer that expires after it and before a time; or NO_TIMER."""
        table = self.record.tables[f"{kind}_expire_entry"]
        expiry = self._first(f"{kind}_expire_entry")
        expired = (expiry != NOBODY) & (np.append(table.time, 0)[expiry] < before)
        found = np.full(expiry.size, _NO_TIMER, np.int64)
        found[expired] = self.origins.starts_of(kind, expiry[expired])
        return found

    def _due(self, timer: Numbers) -> Numbers:
        """Return for each sleep the tick at which its timer is due, or NOBODY."""
        expires = np.append(self.record.tables["hrtimer_start"]["expires"], 0)[np.maximum(timer, NOBODY)]
        return np.where(timer >= 0, self.record.clock.monotonic_ticks(expires), NOBODY)

    def _sooner(self, out: Numbers) -> Numbers:
        """Return the timer of each sleep, even if an IPI was handled first that was sent after the timer was due.

        This happens because hardware may take a millisecond to turn a CPU on. `out` is the length of the exit. A timer
        that was due earlier than that did not wake the CPU, for example if the CPU is off for Linux's scheduler.
        """
        later = self._starter("hrtimer", self._until)
        due, sent = self._due(later), np.append(self.origins.time, NEVER)[self._sender]
        sooner = (self._asleep <= due) & (due < sent) & (sent < self._back) & (self._back <= due + out)
        return np.where(self._ipi & (self._timer == _NO_TIMER) & sooner, later, self._timer)

    def _first_sender(self) -> Numbers:
        """Return the first IPI that was sent to the CPU in each sleep."""
        arrivals = self.origins.arrivals
        mine = np.flatnonzero(arrivals.cpu == self.cpu)
        time = np.append(arrivals.time[mine], NEVER)
        at = np.searchsorted(time, self._asleep)
        return np.where(time[at] < self._until, np.append(arrivals.act[mine], NOBODY)[at], NOBODY)

    def _source(
        self, irq: int, timer: int, wheel: int, sent: int, ahead: int
    ) -> tuple[str, str | None] | tuple[str, str | None, tuple[int, int] | None]:
        if ahead != NOBODY:
            owner = self._window_owner(ahead)
            return owner, owner
        if irq == NOBODY:
            return "none", None
        if timer != _NO_TIMER:
            return self._by_timer(timer, wheel)
        cause = IRQ + self.record.irqs.get(irq, "")
        if cause == CPU_TIMER:
            return KERNEL_TIMER, None
        if self.origins.is_device(cause):
            return cause, DEVICE + cause.removeprefix(IRQ)
        if sent == NOBODY:
            return "ipi:unknown", None
        return f"ipi:{int(self.origins.cpu[sent])}", self.origins.roots[sent], self._act(sent)

    def _window_owner(self, ahead: int) -> str:
        pid = int(self.record.tables["lull_ahead_wake"]["pid"][ahead])
        return AHEAD + (self._tasks.get(pid, f"pid/{pid}") if pid else "kernel")

    def _by_timer(self, timer: int, wheel: int) -> tuple[str, str | None, tuple[int, int] | None]:
        """Return source, origin and act of a wake-up by a timer. If the idle loop set it, the wheel's timer counts."""
        for act in (timer, wheel):
            root = self.origins.roots[act] if act >= 0 else None
            if root:
                return "timer:" + root.removeprefix(TASK), root, self._act(act)
        return KERNEL_TIMER, None, self._act(timer)

    def _act(self, act: int) -> tuple[int, int] | None:
        return (int(self.origins.cpu[act]), int(self.origins.time[act])) if act >= 0 else None
