# SPDX-License-Identifier: BSD-3-Clause
"""Reads a trace's events about sleeps, timers and ticks, ordered by CLOCK_MONOTONIC's nanoseconds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lull.errors import UserError
from lull.trace import events
from lull.trace.clock import Clock
from lull.trace.datfile import TraceFile
from lull.trace.events import Batch, Numbers
from lull.trace.recording import BEGIN
from lull.whatif.library import NEVER

_FIELDS: dict[str, tuple[str, ...]] = {
    "cpu_idle": ("state",),
    "cpu_idle_miss": (),
    "sched_switch": ("prev_pid", "next_pid"),
    "irq_handler_entry": (),
    "irq_handler_exit": (),
    "ipi_exit": (),
    "softirq_exit": (),
    "hrtimer_start": ("hrtimer", "expires", "function"),
    "hrtimer_cancel": ("hrtimer",),
    "hrtimer_expire_entry": ("hrtimer", "function", "now"),
    "timer_start": ("timer", "bucket_expiry", "flags"),
    "timer_cancel": ("timer",),
    "timer_expire_entry": ("timer", "baseclk"),
    "tick_stop": ("success",),
    "timer_base_idle": ("is_idle",),
    "pm_qos_update_target": ("curr_value",),
    "ipi_raise": ("target_cpus",),
}
BESIDE = {"cpu_frequency": ("cpu_id",), "sched_migrate_task": ()}
"""Events that a replay cannot move. If a trace has any, a note says so."""
_WHOLE = ("hrtimer_start", "hrtimer_cancel", "hrtimer_expire_entry", "timer_expire_entry", *BESIDE)
"""Events whose columns are all in memory, because the whole trace depends on them."""
_SETS = ("target_cpus",)
_MOST_FIELDS = max(map(len, _FIELDS.values()))
_AT_ONCE = 4096
"""The number of events that are converted into Python's numbers at a time."""
EXIT = 0xFFFFFFFF
"""The value in place of a state in a `cpu_idle` that ends a sleep."""
FEWEST_STARTS = 8
"""The smallest number of a timer's starts to decide whether it drifts."""
NEEDED = ("cpu_idle", "sched_switch", "irq_handler_exit", "hrtimer_start", "timer_start", "tick_stop", "cpu_idle_miss")


class Clue(NamedTuple):
    time: int
    cpu: int
    name: str
    values: tuple[int, ...]


Columns = dict[str, list[tuple[int, Numbers, tuple[Numbers, ...]]]]


@dataclass
class Marks:
    """Facts that a trace has only once: its clock, the begin of the command, and the end of the trace."""

    clock: Clock | None = None
    begin: int | None = None
    end: int = 0
    first: int = NEVER
    """The stamp of the first event."""
    names: set[str] = field(default_factory=set)
    deepest: dict[int, int] = field(default_factory=dict)
    """For each CPU, the deepest state that it entered."""
    sleeps: int = 0
    lost: int = 0


def columns_of(trace: TraceFile) -> tuple[Columns, Marks]:
    """Return all that must be known before the events are read one after the other."""
    columns: Columns = {name: [] for name in _WHOLE}
    marks = Marks()
    for cpu in trace.cpus:
        missed = 0
        for batch in events.batches(trace, cpu):
            missed += batch.lost
            _mark(marks, batch)
            for name, fields in {**_FIELDS, **BESIDE}.items():
                which = batch.of(name)
                if not which.size:
                    continue
                marks.names.add(name)
                marks.first = min(marks.first, int(batch.time[which[0]]))
                if name in columns:
                    values = tuple(_column(batch, name, one, which) for one in fields)
                    columns[name].append((cpu, batch.time[which].astype(np.int64), values))
        marks.lost += max(missed, trace.dropped.get(cpu, 0))
    if marks.clock is None:
        raise UserError(f"{trace.path}: does not say how its clock runs; record it by `lull boot --trace`")
    return columns, marks


def _column(batch: Batch, name: str, field: str, which: Numbers) -> Numbers:
    return batch.bits(name, field, which) if field in _SETS else batch.numbers(name, field, which)


def rows(*columns: Numbers) -> Iterator[tuple[int, ...]]:
    """Yield the rows of columns as Python's numbers, converted a few at a time."""
    for begin in range(0, columns[0].size, _AT_ONCE):
        yield from zip(*(column[begin : begin + _AT_ONCE].tolist() for column in columns), strict=True)


def _mark(marks: Marks, batch: Batch) -> None:
    for at in batch.of("print").tolist():
        text = batch.tail("print", "buf", at).split(b"\0")[0].decode(errors="replace")
        if text.startswith(BEGIN) and marks.begin is None:
            marks.begin = int(batch.time[at])
        elif clock := Clock.of_marker(text):
            marks.clock, marks.end = clock, int(batch.time[at])
    which = batch.of("cpu_idle")
    states = batch.numbers("cpu_idle", "state", which)
    entered = states[states != EXIT]
    marks.sleeps += entered.size
    marks.deepest[batch.cpu] = max(marks.deepest.get(batch.cpu, 0), int(entered.max(initial=0)))


def monotonic(clock: Clock, stamps: Numbers, path: Path) -> Numbers:
    since = clock.counts(stamps.astype(np.uint64), path) - clock.monotonic_count
    ns: Numbers = np.rint(since * (clock.mult / (1 << clock.shift))).astype(np.int64)
    return clock.monotonic_ns + ns


@dataclass(frozen=True)
class Stream:
    """The events of a CPU, in the order in which the CPU wrote them. Each iteration reads the file again, so that only
    one batch of a long trace is in memory."""

    trace: TraceFile
    clock: Clock
    cpu: int

    def __iter__(self) -> Iterator[Clue]:
        names = list(_FIELDS)
        for batch in events.batches(self.trace, self.cpu):
            rows = self._rows(batch)
            for begin in range(0, len(rows), _AT_ONCE):
                for time, number, *values in rows[begin : begin + _AT_ONCE].tolist():
                    name = names[number]
                    yield Clue(time, self.cpu, name, tuple(values[: len(_FIELDS[name])]))

    def _rows(self, batch: Batch) -> Numbers:
        """Return for each event its time, the number of its name, and its values. Events at one time are ordered by
        this number."""
        found = []
        for number, (name, fields) in enumerate(_FIELDS.items()):
            which = batch.of(name)
            rows = np.zeros((which.size, 2 + _MOST_FIELDS), np.int64)
            rows[:, 0], rows[:, 1] = monotonic(self.clock, batch.time[which].astype(np.int64), self.trace.path), number
            for at, one in enumerate(fields if which.size else ()):
                rows[:, 2 + at] = _column(batch, name, one, which)
            found.append(rows)
        every = np.concatenate(found)
        return every[np.argsort(every[:, 0], kind="stable")]


def streams(trace: TraceFile, clock: Clock) -> list[Stream]:
    """Return the streams of all CPUs."""
    return [Stream(trace, clock, cpu) for cpu in trace.cpus]


def beside(columns: Columns, clock: Clock, path: Path, begin: int, end: int) -> tuple[int, int]:
    """Return how often Linux changed the frequency (of the CPU with the most changes), and moved a task."""
    changed: dict[int, int] = {}
    moved = 0
    for name in BESIDE:
        for _, stamps, values in columns[name]:
            times = monotonic(clock, stamps, path)
            inside = (times >= begin) & (times <= end)
            moved += int(inside.sum()) if not values else 0
            for cpu in values[0][inside].tolist() if values else ():
                changed[cpu] = changed.get(cpu, 0) + 1
    return max(changed.values(), default=0), moved


class Expiries(NamedTuple):
    """The times at which a timer of high resolution expired, in order, and the CPU each time."""

    now: Numbers
    cpu: Numbers

    def owner(self, expires: int) -> int | None:
        """Return the CPU on which the timer expired after it was set for a time; None if it did not expire."""
        at = int(np.searchsorted(self.now, expires))
        return int(self.cpu[at]) if at < self.now.size else None


def owners(columns: Columns) -> dict[int, Expiries]:
    """Return the expiries of each timer of high resolution."""
    events = columns["hrtimer_expire_entry"]
    if not events:
        return {}
    timers, now = (np.concatenate([values[at] for _, _, values in events]) for at in (0, 2))
    cpus = np.concatenate([np.full(stamps.size, cpu, np.int32) for cpu, stamps, _ in events])
    order = np.lexsort((cpus, now, timers))
    return {timer: Expiries(now[own], cpus[own]) for timer, own in _by_timer(timers, order)}


def _by_timer(timers: Numbers, order: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield each timer with the indices of its events. `order` must be sorted by timer first."""
    distinct, firsts = np.unique(timers[order], return_index=True)
    if not distinct.size:  # split() makes one piece of nothing
        return
    yield from zip(distinct.tolist(), np.split(order, firsts[1:]), strict=True)


def drifting(columns: Columns, clock: Clock, path: Path, tick: int, expired: Mapping[int, Expiries]) -> set[int]:
    """Return the drifting timers: programs set them again and again for a time from now.

    The distance from a drifting timer's start to its time is nearly constant, and varies less than the distance between
    its times. So a timer that is set for times of a regular beat is not taken for a drifting one, even if its program
    always takes the same time. Only timers that expire count. `expired` is the result of `owners`.
    """
    starts = []
    for _, stamps, (timers, expiries, functions) in columns["hrtimer_start"]:
        others = functions != tick
        starts.append((timers[others], monotonic(clock, stamps[others], path), expiries[others]))
    if not starts:
        return set()
    timers, times, expiries = (np.concatenate(column) for column in zip(*starts, strict=True))
    order = np.lexsort((expiries, times, timers))
    return {
        timer
        for timer, own in _by_timer(timers, order)
        if own.size >= FEWEST_STARTS
        and timer in expired
        and expired[timer].now.size >= FEWEST_STARTS
        and _drifts(times[own], expiries[own])
    }


def _drifts(times: Numbers, expiries: Numbers) -> bool:
    return _spread(expiries - times) < _spread(np.diff(expiries)) / 4


def _spread(values: Numbers) -> float:
    return float(np.median(np.abs(values - np.median(values))))


def tick_function(columns: Columns) -> int:
    """Return the function of the tick's timers: the one that is started most often for whole periods."""
    functions = [values[2] for _, _, values in columns["hrtimer_start"]]
    expiries = [values[1] for _, _, values in columns["hrtimer_start"]]
    if not functions:
        return 0
    whole = np.concatenate(functions)[np.concatenate(expiries) % 1_000_000 == 0]
    distinct, many = np.unique(whole, return_counts=True)
    return int(distinct[int(many.argmax())]) if distinct.size else 0


def first_jiffy(columns: Columns, clock: Clock, path: Path, period: int) -> int:
    """Return the time of jiffy 0. Jiffies begin at whole periods, and an expiry of a timer gives the jiffy's number."""
    best = None
    for _, stamps, values in columns["timer_expire_entry"]:
        times = monotonic(clock, stamps, path)
        # The wheel may be late, but never early: the smallest difference is exact.
        first = (times // period - values[1].astype(np.uint32).astype(np.int64)).min()
        best = int(first) if best is None else min(best, int(first))
    return (best or 0) * period
