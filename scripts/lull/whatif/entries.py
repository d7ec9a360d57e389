# SPDX-License-Identifier: BSD-3-Clause
"""Reads each choice of an idle state from a trace, with the inputs of the kernel's governor.

No event has the governor's inputs. Each input is derived from other events:

- *Timers* of high resolution that are pending: from `hrtimer_start`, `hrtimer_cancel` and `hrtimer_expire_entry`.
- The *wheel's* next timer: from `timer_start`, `timer_cancel` and `timer_expire_entry`. A CPU that is not the last one
  awake does not wait for timers that any CPU may serve; `timer_base_idle` says which CPUs are awake. If the tick was
  stopped, the tick's own timer says when the wheel is due next.
- The *tick*: `tick_stop` says that it was stopped, `timer_base_idle` that it was started again.
- The *latency request*: from `pm_qos_update_target`.
- A timer *drifts* if a program always sets it for a time from now. It is due later if the program was woken later. The
  distance from its starts to its times is nearly constant, unlike that of a timer with fixed times.
- The hardware *refused* a sleep that is shorter than the state's residency and has no `cpu_idle_miss`.

Times are nanoseconds of CLOCK_MONOTONIC.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from pathlib import Path

import numpy as np

from lull.errors import UserError
from lull.trace.datfile import TraceFile
from lull.whatif import clues, pending, sleeps
from lull.whatif.clues import EXIT, Clue
from lull.whatif.library import NEVER
from lull.whatif.sleeps import ChosenSleep, Sleeps

_ANY = 10**9
"""The smallest latency request in microseconds that counts as none. Linux has 2000 s if nobody has a request."""
TIMER_CPU = 0x3FFFF
TIMER_DEFERRABLE = 0x80000
TIMER_PINNED = 0x100000


@dataclass
class Entries:
    by_cpu: Mapping[int, Sleeps]
    begin: int
    end: int
    period: int
    lost: int
    unfinished: dict[int, ChosenSleep] = field(default_factory=dict)
    """The sleep of each CPU that does not end in the trace."""
    ticks: tuple[int, int] = (0, 0)
    """`begin` and `end` in gem5's ticks."""
    frequencies: int = 0
    """How often Linux changed the frequency."""
    moves: int = 0
    """How often Linux moved a task to another CPU."""
    known_since: int = 0
    known_until: int = NEVER
    """`known_since` and `known_until` are begin and end of the command; `begin` and `end` may be a part of it."""


def read(
    path: Path, residency_ns: dict[int, list[int]], period: int, within_ms: tuple[float, float] | None = None
) -> Entries:
    """Return the choices of a trace. `residency_ns` is for each CPU's states. `period` is the tick's.

    `within_ms` is the asked part of the traced command, in milliseconds since its begin; if not given, all of it.
    """
    trace = TraceFile(path)
    if missing := [name for name in clues.NEEDED if name not in trace.formats]:
        raise UserError(f"{path}: its kernel has no event {missing[0]}; record it by lull's kernel")
    columns, marks = clues.columns_of(trace)
    sleeps.check_room(path, marks.sleeps)
    clock = marks.clock
    assert clock is not None
    if not {"hrtimer_start", "tick_stop"} <= marks.names:
        raise UserError(f"{path}: has no event of a timer or of the tick; record a longer run")
    for cpu, state in marks.deepest.items():
        if cpu in residency_ns and state >= len(residency_ns[cpu]):
            raise UserError(f"{path}: CPU {cpu} enters an idle state that it does not have; run the command again")
    stamps = np.array([marks.begin or 0, marks.end, marks.first], np.int64)
    begin, end, first = clues.monotonic(clock, np.maximum(stamps, clock.epoch_ns), path).tolist()
    tick = clues.tick_function(columns)
    owners = clues.owners(columns)
    found = _Watcher(residency_ns, period, owners, tick, clues.drifting(columns, clock, path, tick, owners))
    found.jiffy = clues.first_jiffy(columns, clock, path, period)
    for timer, (cpu, due) in pending.of_trace(columns, clock, path, tick, first).items():
        if cpu in found.cpus:
            found.cpus[cpu].timers[timer] = due
    columns = {name: columns[name] for name in clues.BESIDE}  # free the others' memory for the sleeps
    streams = clues.streams(trace, clock)
    for stream in streams:
        found.begin_with(stream)
    for event in merge(*streams, key=lambda one: one.time):
        found.take(event)
    begin = max(begin, found.begin) if marks.begin else found.begin
    known = begin, end
    if within_ms is not None:
        begin, end = _part(path, begin, end, within_ms)
    begin_tick, end_tick = clock.monotonic_ticks(np.array([begin, end], np.int64)).tolist()
    beside = clues.beside(columns, clock, path, begin, end)
    return Entries(
        found.done(), begin, end, period, marks.lost, found.unfinished(), (begin_tick, end_tick), *beside, *known
    )


def _part(path: Path, begin: int, end: int, within_ms: tuple[float, float]) -> tuple[int, int]:
    start, stop = (begin + round(ms * 1e6) for ms in within_ms)
    if not begin <= start < stop <= end:
        raise UserError(
            f"{path}: its command ran for {(end - begin) / 1e6:.4g} ms, and {within_ms[0]:g} to {within_ms[1]:g} ms "
            "are asked for; ask for a part of it, or run it for longer"
        )
    return start, stop


def tell_interrupts(own: Sleeps, times: Sequence[int]) -> None:
    """Write the time of the interrupt that ended each sleep, if no timer or IPI did: the first of `times` in it."""
    came = np.append(np.array(times, np.int64), NEVER)[np.searchsorted(times, own["start"])]
    sent = (own["start"] <= own["sent_at"]) & (own["sent_at"] <= own["end"])
    told = (own["timer"] == NEVER) & ~sent & (came <= own["end"])
    own["sent_at"][told] = came[told]


@dataclass
class _CpuSeen:
    timers: dict[int, int] = field(default_factory=dict)
    drifting: dict[int, ChosenSleep] = field(default_factory=dict)
    """Drifting timers that are set, each with the sleep after which it was set."""
    tick: int = NEVER
    tick_before: int = NEVER
    stopped: bool = False
    stopped_before: bool = False
    idle: bool = False
    """True if the timer wheel's base is idle."""
    now: int = 0
    after_task: bool = False
    interrupted: int = NEVER
    """The end of the last interrupt in the idle loop, since the last sleep."""
    ticks_now: bool = False
    """True if the tick's handler ran in this interrupt."""
    ticked: int = NEVER
    """The begin of the tick's handler, if it has not started the tick again."""
    after_tick: int = NEVER
    """The end of the tick's interrupt, or of a softirq after it."""
    asleep: ChosenSleep | None = None
    last: ChosenSleep | None = None
    fresh: bool = False
    """True if no interrupt was handled since the last sleep."""
    handled: bool = False
    restarts: bool = False
    missed: int = NEVER
    """The time at which a tick is due whose restart is not in the trace."""
    raised: tuple[int, int] = (-1, NEVER)


class _Watcher:
    """Follows the CPUs and their timers, event after event."""

    def __init__(
        self,
        residency_ns: dict[int, list[int]],
        period: int,
        owners: dict[int, clues.Expiries],
        tick: int,
        drifting: set[int],
    ) -> None:
        self.period, self.jiffy, self._tick, self._drifting = period, 0, tick, drifting
        self._residency, self._owners = residency_ns, owners
        self.cpus = {cpu: _CpuSeen() for cpu in residency_ns}
        self.wheel: dict[int, tuple[int, int, bool]] = {}
        """Timers of the wheel: CPU, time at which it is due, and whether it is pinned."""
        self.qos = NEVER
        self.begin, self.last = NEVER, 0
        self._rows = {cpu: bytearray() for cpu in residency_ns}
        """The sleeps that no later event changes."""

    def done(self) -> dict[int, Sleeps]:
        for number, cpu in self.cpus.items():
            self._keep(number, cpu)
        return {cpu: sleeps.unpacked(rows) for cpu, rows in self._rows.items()}

    def _keep(self, number: int, cpu: _CpuSeen) -> None:
        if cpu.last is not None:
            sleeps.pack(self._rows[number], cpu.last)
            cpu.last = None

    def unfinished(self) -> dict[int, ChosenSleep]:
        return {number: cpu.asleep for number, cpu in self.cpus.items() if cpu.asleep is not None}

    def take(self, event: Clue) -> None:
        cpu = self.cpus.get(event.cpu)
        if cpu is None:
            return
        self.begin, self.last = min(self.begin, event.time), event.time
        getattr(self, f"_{event.name}")(cpu, event)

    def begin_with(self, stream: Iterable[Clue]) -> None:
        """Set the state of the tick before the trace, which follows from the first events."""
        first = next(iter(stream), None)
        cpu = self.cpus.get(first.cpu) if first else None
        if first is None or cpu is None:
            return
        cpu.now = first.time
        cpu.stopped = cpu.idle = self._is_stopped(stream)
        cpu.stopped_before = cpu.stopped
        for event in stream:
            if event.name == "hrtimer_expire_entry" and event.values[1] == self._tick:
                due = event.values[2] - event.values[2] % self.period
                if cpu.stopped and due - cpu.now > self.period:  # timers' events were enabled after the restart
                    cpu.stopped = cpu.stopped_before = cpu.idle = True
                    cpu.missed = due
                else:
                    cpu.tick = cpu.tick_before = due
                return
            if event.name == "hrtimer_start" and event.values[2] == self._tick:
                if not cpu.stopped:
                    cpu.tick = cpu.tick_before = event.time - event.time % self.period + self.period
                return

    def _is_stopped(self, stream: Iterable[Clue]) -> bool:
        """Return true if the tick is stopped at the begin of the trace. The first event that shows it decides. While a
        task runs, the tick is not stopped. The handler of a tick that is not stopped starts it again."""
        handles = False
        for event in stream:
            if event.name == "sched_switch" and event.values[0] != 0:
                return False
            if event.name in ("timer_base_idle", "tick_stop"):
                return event.name == "timer_base_idle" and not event.values[0]
            if event.name == "hrtimer_expire_entry":
                handles = event.values[1] == self._tick
            elif handles and event.name == "hrtimer_start" and event.values[2] == self._tick:
                return False
            elif event.name == "irq_handler_exit":
                handles = False
        return True

    def _before(self, cpu: _CpuSeen, time: int) -> None:
        """Keep the inputs of the choice that comes next, because the choice may change them."""
        cpu.now, cpu.tick_before, cpu.stopped_before = time, cpu.tick, cpu.stopped
        cpu.after_task = False

    def _cpu_idle(self, cpu: _CpuSeen, event: Clue) -> None:
        (state,) = event.values
        if state == EXIT:
            if cpu.asleep is not None:
                self._keep(event.cpu, cpu)
                cpu.asleep.end = event.time
                cpu.last, cpu.asleep, cpu.fresh, cpu.handled = cpu.asleep, None, True, False
                cpu.interrupted = NEVER
                short = cpu.last.end - cpu.last.start < self._residency[event.cpu][cpu.last.state]
                cpu.last.refused = short and cpu.last.state > 0
                if cpu.raised[1] >= cpu.last.start:
                    cpu.last.sent_by, cpu.last.sent_at = cpu.raised
            self._before(cpu, event.time)
            return
        stops = cpu.stopped
        wheel = cpu.tick if stops else self._next_wheel(event.cpu, cpu)
        pending = {timer: at for timer, at in cpu.timers.items() if at > cpu.now - self.period}
        hrtimer = min(pending.values(), default=NEVER)
        fixed = min((at for timer, at in pending.items() if timer not in cpu.drifting), default=NEVER)
        tick = cpu.tick_before
        if not cpu.stopped_before and not cpu.now < tick < NEVER:  # it was started before timers' events were enabled
            tick = cpu.now - cpu.now % self.period + self.period
        entry = ChosenSleep(
            cpu=event.cpu, now=cpu.now, start=event.time, state=state, tick=tick, hrtimer=hrtimer,
            wheel=wheel, qos=self.qos, stopped=cpu.stopped_before, stops=stops,
            after_task=cpu.after_task, fixed_hrtimer=fixed,
        )  # fmt: skip
        cpu.asleep, cpu.raised, cpu.after_tick = entry, (-1, NEVER), NEVER

    def _cpu_idle_miss(self, cpu: _CpuSeen, _event: Clue) -> None:
        if cpu.last is not None:
            cpu.last.refused = False

    def _sched_switch(self, cpu: _CpuSeen, event: Clue) -> None:
        before, after = event.values
        cpu.after_tick = NEVER
        if before == 0 and cpu.last is not None:
            if not cpu.last.leaves and cpu.interrupted != NEVER:
                cpu.last.left_after = event.time - cpu.interrupted
            cpu.last.leaves = True
        if before == 0 and cpu.missed != NEVER:
            cpu.tick, cpu.missed, cpu.stopped, cpu.idle = cpu.missed, NEVER, False, False
        if after == 0:
            self._before(cpu, event.time)
            cpu.after_task = True

    def _irq_handler_entry(self, cpu: _CpuSeen, _event: Clue) -> None:
        cpu.ticks_now, cpu.after_tick = False, NEVER
        if cpu.fresh and cpu.handled:
            cpu.fresh = False
        cpu.handled = True

    def _irq_handler_exit(self, cpu: _CpuSeen, event: Clue) -> None:
        self._before(cpu, event.time)
        cpu.interrupted = event.time
        if cpu.ticks_now:
            cpu.ticks_now, cpu.after_tick = False, event.time

    def _softirq_exit(self, cpu: _CpuSeen, event: Clue) -> None:
        self._before(cpu, event.time)
        cpu.interrupted = event.time
        if cpu.after_tick != NEVER and cpu.last is not None:
            cpu.last.softirqs += event.time - cpu.after_tick
            cpu.after_tick = event.time

    _ipi_exit = _irq_handler_exit

    def _hrtimer_start(self, cpu: _CpuSeen, event: Clue) -> None:
        timer, expires, function = event.values
        if function == self._tick:
            cpu.tick = expires
            if cpu.ticked != NEVER and cpu.last is not None:
                cpu.last.handler += event.time - cpu.ticked
            cpu.ticked = NEVER
            if cpu.restarts:  # the idle loop was left, and may have begun again without a task in between
                cpu.restarts = False
                self._before(cpu, event.time)
            return
        expired = self._owners[timer].owner(expires) if timer in self._owners else None
        owner = event.cpu if expired is None else expired
        self._forget(timer)
        self.cpus.get(owner, cpu).timers[timer] = expires
        if timer in self._drifting and owner == event.cpu and cpu.last is not None:
            cpu.drifting[timer] = cpu.last

    def _hrtimer_cancel(self, cpu: _CpuSeen, event: Clue) -> None:
        (timer,) = event.values
        if not self._forget(timer) and cpu.asleep is None and cpu.stopped:
            cpu.tick = NEVER

    def _forget(self, timer: int) -> bool:
        for one in self.cpus.values():
            one.drifting.pop(timer, None)
        held = [one for one in self.cpus.values() if one.timers.pop(timer, None) is not None]
        return bool(held)

    def _hrtimer_expire_entry(self, cpu: _CpuSeen, event: Clue) -> None:
        timer, function, _now = event.values
        due = cpu.tick if function == self._tick else cpu.timers.get(timer, NEVER)
        due = due if due != NEVER else event.time
        if function == self._tick and cpu.last is not None and not cpu.last.leaves:
            cpu.last.late_tick = not cpu.fresh
        if cpu.fresh and cpu.last is not None:
            if function == self._tick:
                cpu.last.got_tick, cpu.last.beside = True, cpu.last.timer
            elif cpu.last.got_tick:
                cpu.last.beside = min(cpu.last.beside, due)
            if cpu.last.timer == NEVER:
                cpu.last.timer = due
            if timer in cpu.drifting and due in (cpu.last.timer, cpu.last.beside):
                cpu.last.set_by, cpu.last.set_at = timer, cpu.drifting[timer].start
        if function == self._tick:
            cpu.tick, cpu.ticked, cpu.ticks_now = NEVER, event.time, True
        self._forget(timer)

    def _timer_start(self, _cpu: _CpuSeen, event: Clue) -> None:
        timer, jiffy, flags = event.values
        if not flags & TIMER_DEFERRABLE:
            due = self.jiffy + (jiffy & 0xFFFFFFFF) * self.period
            self.wheel[timer] = (flags & TIMER_CPU, due, bool(flags & TIMER_PINNED))

    def _timer_cancel(self, _cpu: _CpuSeen, event: Clue) -> None:
        self.wheel.pop(event.values[0], None)

    def _timer_expire_entry(self, cpu: _CpuSeen, event: Clue) -> None:
        self._timer_cancel(cpu, event)
        cpu.after_tick = NEVER

    def _next_wheel(self, number: int, cpu: _CpuSeen) -> int:
        """Return when the wheel is due for a CPU: its own timers, and those of all CPUs if it is the last one awake."""
        own = min((due for at, due, pinned in self.wheel.values() if at == number and pinned), default=NEVER)
        every = min((due for at, due, pinned in self.wheel.values() if at == number and not pinned), default=NEVER)
        if every <= cpu.now - cpu.now % self.period + self.period:  # due too soon to be handed to another CPU
            return min(own, every)
        if all(other.idle for at, other in self.cpus.items() if at != number):
            every = min((due for _, due, pinned in self.wheel.values() if not pinned), default=NEVER)
            return min(own, every)
        return own

    def _tick_stop(self, cpu: _CpuSeen, event: Clue) -> None:
        if event.values[0]:
            cpu.stopped = True

    def _timer_base_idle(self, cpu: _CpuSeen, event: Clue) -> None:
        cpu.idle = bool(event.values[0])
        if not cpu.idle:
            if cpu.last is not None and cpu.asleep is None and not cpu.last.leaves:
                cpu.last.restarted = True
            cpu.stopped, cpu.restarts = False, True

    def _pm_qos_update_target(self, _cpu: _CpuSeen, event: Clue) -> None:
        self.qos = NEVER if event.values[0] >= _ANY else event.values[0] * 1000

    def _ipi_raise(self, _cpu: _CpuSeen, event: Clue) -> None:
        for number, other in self.cpus.items():
            if event.values[0] >> number & 1 and other.asleep is not None and other.raised[1] == NEVER:
                other.raised = (event.cpu, event.time)
