# SPDX-License-Identifier: BSD-3-Clause
"""The events of a trace that tell of sleeps, timers and ticks, in the order of CLOCK_MONOTONIC's nanoseconds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lull.errors import UserError
from lull.trace import events
from lull.trace.clock import Clock
from lull.trace.datfile import TraceFile
from lull.trace.events import Batch, Numbers
from lull.trace.recording import BEGIN

_FIELDS: dict[str, tuple[str, ...]] = {
    "cpu_idle": ("state",),
    "cpu_idle_miss": ("below",),
    "sched_switch": ("prev_pid", "next_pid"),
    "irq_handler_entry": ("irq",),
    "irq_handler_exit": ("irq",),
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
_BESIDE = {"cpu_frequency": ("cpu_id",), "sched_migrate_task": ()}
"""Events that a replay cannot move: that there are any is told."""
_SETS = ("target_cpus",)
_AT_ONCE = 4096
"""Events of one name whose numbers are made into Python's."""
FEWEST_STARTS = 8
"""Of a timer of which it is told whether it drifts."""
NEEDED = ("cpu_idle", "sched_switch", "irq_handler_exit", "hrtimer_start", "timer_start", "tick_stop", "cpu_idle_miss")


class Clue(NamedTuple):
    time: int
    cpu: int
    name: str
    values: tuple[int, ...]


Columns = dict[str, list[tuple[int, Numbers, tuple[Numbers, ...]]]]


@dataclass
class Marks:
    """What the guest wrote into its trace: when its command began, how the clock runs, when the trace ended."""

    clock: Clock | None = None
    begin: int | None = None
    end: int = 0


def columns_of(trace: TraceFile) -> tuple[Columns, Marks, int]:
    wanted = {**_FIELDS, **_BESIDE}
    columns: Columns = {name: [] for name in wanted}
    marks, lost = Marks(), 0
    for cpu in trace.cpus:
        missed = 0
        for batch in events.batches(trace, cpu):
            missed += batch.lost
            _mark(marks, batch)
            for name, fields in wanted.items():
                which = batch.of(name)
                if which.size:
                    values = tuple((batch.bits if one in _SETS else batch.numbers)(name, one, which) for one in fields)
                    columns[name].append((cpu, batch.time[which].astype(np.int64), values))
        lost += max(missed, trace.dropped.get(cpu, 0))
    if marks.clock is None:
        raise UserError(f"{trace.path}: does not say how its clock runs; record it by `lull boot --trace`")
    return columns, marks, lost


def _mark(marks: Marks, batch: Batch) -> None:
    for at in batch.of("print").tolist():
        text = batch.tail("print", "buf", at).split(b"\0")[0].decode(errors="replace")
        if text.startswith(BEGIN) and marks.begin is None:
            marks.begin = int(batch.time[at])
        elif clock := Clock.of_marker(text):
            marks.clock, marks.end = clock, int(batch.time[at])


def monotonic(clock: Clock, stamps: Numbers, path: Path) -> Numbers:
    since = clock.counts(stamps.astype(np.uint64), path) - clock.monotonic_count
    ns: Numbers = np.rint(since * (clock.mult / (1 << clock.shift))).astype(np.int64)
    return clock.monotonic_ns + ns


@dataclass(frozen=True)
class Stream:
    """The events of a CPU in the order in which the CPU wrote them, made while they are read: of a long trace only
    the columns are in memory."""

    columns: Columns
    clock: Clock
    path: Path
    cpu: int

    def __iter__(self) -> Iterator[Clue]:
        return merge(*(self._of(name) for name in _FIELDS), key=lambda one: one.time)

    def _of(self, name: str) -> Iterator[Clue]:
        for cpu, stamps, values in self.columns[name]:
            for begin in range(0, stamps.size if cpu == self.cpu else 0, _AT_ONCE):
                piece = slice(begin, begin + _AT_ONCE)
                times = monotonic(self.clock, stamps[piece], self.path).tolist()
                rows = zip(*(column[piece].tolist() for column in values), strict=True) if values else repeat(())
                for time, row in zip(times, rows, strict=False):
                    yield Clue(time, cpu, name, row)


def streams(columns: Columns, clock: Clock, path: Path) -> list[Stream]:
    """One of each CPU."""
    cpus = sorted({cpu for name in _FIELDS for cpu, _, _ in columns[name]})
    return [Stream(columns, clock, path, cpu) for cpu in cpus]


def beside(columns: Columns, clock: Clock, path: Path, begin: int, end: int) -> tuple[int, int]:
    """How often Linux changed the frequency of the CPU of which it did most often, and moved a task to another CPU."""
    changed: dict[int, int] = {}
    moved = 0
    for name in _BESIDE:
        for _, stamps, values in columns[name]:
            times = monotonic(clock, stamps, path)
            inside = (times >= begin) & (times <= end)
            moved += int(inside.sum()) if not values else 0
            for cpu in values[0][inside].tolist() if values else ():
                changed[cpu] = changed.get(cpu, 0) + 1
    return max(changed.values(), default=0), moved


def owners(columns: Columns) -> dict[int, list[tuple[int, int]]]:
    """Of each timer of high resolution, when and on which CPU it expired, in the order of the trace's stamps."""
    found: dict[int, list[tuple[int, int]]] = {}
    for cpu, _, values in columns["hrtimer_expire_entry"]:
        for timer, now in zip(values[0].tolist(), values[2].tolist(), strict=True):
            found.setdefault(timer, []).append((now, cpu))
    for expiries in found.values():
        expiries.sort()
    return found


def drifting(
    columns: Columns, clock: Clock, path: Path, tick: int, expired: Mapping[int, Sequence[tuple[int, int]]]
) -> set[int]:
    """The timers that programs set for a time from now, again and again.

    The distance from such a timer's start to its time is nearly the same each time, nearer than the times are to a
    regular beat. A timer that is set for times of a beat is told apart by this, even if its program is as quick each
    time. Only timers that expire are of interest. `expired`: what `owners` returns.
    """
    starts: dict[int, list[tuple[int, int]]] = {}
    for _, stamps, (timers, expiries, functions) in columns["hrtimer_start"]:
        rows = zip(timers.tolist(), functions.tolist(), monotonic(clock, stamps, path).tolist(), expiries.tolist(),
                   strict=True)  # fmt: skip
        for timer, function, time, expires in rows:
            if function != tick:
                starts.setdefault(timer, []).append((time, expires))
    return {
        timer
        for timer, own in starts.items()
        if len(own) >= FEWEST_STARTS and len(expired.get(timer, ())) >= FEWEST_STARTS and _drifts(sorted(own))
    }


def _drifts(starts: Sequence[tuple[int, int]]) -> bool:
    times, expiries = np.array(starts).T
    return _spread(expiries - times) < _spread(np.diff(expiries)) / 4


def _spread(values: Numbers) -> float:
    return float(np.median(np.abs(values - np.median(values))))


def tick_function(columns: Columns) -> int:
    """The function of the tick's timers: the one that is started most on whole periods of each CPU."""
    functions = [values[2] for _, _, values in columns["hrtimer_start"]]
    expiries = [values[1] for _, _, values in columns["hrtimer_start"]]
    if not functions:
        return 0
    whole = np.concatenate(functions)[np.concatenate(expiries) % 1_000_000 == 0]
    distinct, many = np.unique(whole, return_counts=True)
    return int(distinct[int(many.argmax())]) if distinct.size else 0


def first_jiffy(columns: Columns, clock: Clock, path: Path, period: int) -> int:
    """The time of jiffy 0: jiffies begin at whole periods, and a timer's start says which one it is."""
    best = None
    for _, stamps, values in columns["timer_expire_entry"]:
        times = monotonic(clock, stamps, path)
        # The wheel runs behind jiffies, never before: the least difference is the exact one.
        first = (times // period - values[1].astype(np.uint32).astype(np.int64)).min()
        best = int(first) if best is None else min(best, int(first))
    return (best or 0) * period
