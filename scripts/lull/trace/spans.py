# SPDX-License-Identifier: BSD-3-Clause
"""Each CPU's time without gap or overlap: at work and for whom, in an idle state, on the way in, on the way out.

Linux's trace says when a CPU asked for an idle state and when it was back. The way in is as long as the platform file
says of the state: the flush of full caches (`entry`), then the wait until the core or its rail is off (`switch`). What
the firmware's own instructions take on the way in, some tens of microseconds in states that lose the core, counts as
the state. The way out begins with the interrupt: when the timer was due or the IPI was sent; where that is not known it
is as long as exit and refill. It is a wait for power (`switch`), as long as the platform file says of `exit`, and then
the firmware's and the kernel's instructions and the refill (`exit`). A sleep whose interrupt came on the way in was
given up, and is nothing but `entry`.

Work is what Linux takes for it: a CPU that waits in WFE for another one's answer is at work here, and gated to gem5.

A state is what the CPU asked for. Its cluster pays for going off with the last CPU to ask, and for coming on with the
first to be back; the others pay for their core alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lull.errors import UserError
from lull.platform.cstates import CState
from lull.platform.schema import Cluster, Platform
from lull.rundir.folder import RunDir
from lull.trace import recording
from lull.trace.activity import Changes
from lull.trace.clock import TICKS_PER_US
from lull.trace.events import Numbers
from lull.trace.origins import NOBODY, Origins
from lull.trace.recording import Recording
from lull.trace.sleeps import sleeps
from lull.trace.wakes import Waker

ACTIVE, ENTRY, EXIT, SWITCH = "active", "entry", "exit", "switch"
FIRMWARE = "firmware"


class Span(NamedTuple):
    """`cause`: `task:COMM/PID`, `irq:NAME`, `softirq:NAME`, `firmware` on the way in and out, or `idle`, which is also
    what the idle loop does while awake."""

    cpu: int
    start: int
    end: int
    state: str
    cause: str


@dataclass(frozen=True)
class CpuSpans:
    """One CPU's as columns, which take a fifth of the room: `state` and `cause` are places in lists of words."""

    cpu: int
    start: Numbers
    end: Numbers
    state: Numbers
    cause: Numbers
    states: list[str]
    causes: list[str]

    def __iter__(self) -> Iterator[Span]:
        columns = (self.start.tolist(), self.end.tolist(), self.state.tolist(), self.cause.tolist())
        for start, end, state, cause in zip(*columns, strict=True):
            yield Span(self.cpu, start, end, self.states[state], self.causes[cause])


def spans(rundir: RunDir, allow_lost: bool = False) -> list[Span]:
    """The spans of every CPU that was on, ordered by CPU and time, over the traced time."""
    return of_recording(recording.load(rundir), rundir.spec().platform, allow_lost)


def of_recording(record: Recording, platform: Platform, allow_lost: bool = False) -> list[Span]:
    return [span for part in by_cpu(record, platform, allow_lost) for span in part]


def by_cpu(record: Recording, platform: Platform, allow_lost: bool = False) -> Iterator[CpuSpans]:
    if record.lost and not allow_lost:
        raise UserError(
            f"{record.path}: lost {record.lost} events, so what the CPUs did is not known throughout; "
            "trace less, or raise --trace-buffer"
        )
    origins = Origins(record)
    for cpus, cluster in platform.cpu_ranges():
        on = {cpu: record.changes[cpu] for cpu in cpus if cpu in record.changes}
        for cpu in on:
            yield _of_cpu(cluster, on, Waker(record, origins, cpu))


def _of_cpu(cluster: Cluster, on: Mapping[int, Changes], waker: Waker) -> CpuSpans:
    cpu, record = waker.cpu, waker.record
    changes = on[cpu]
    labels = [ACTIVE, ENTRY, EXIT, SWITCH, *(state.name for state in cluster.cstates)]
    causes = [*record.names, FIRMWARE]
    firmware = len(record.names)

    awake = np.flatnonzero(changes.state < 0)
    start, end, index = sleeps(changes)
    if index.size and int(index.max()) >= len(cluster.cstates):
        raise UserError(f"{record.path}: CPU {cpu} enters idle state {int(index.max())}, which {cluster.name} lacks")
    ways = _ways(cpu, cluster, on)
    interrupted = waker.interrupted()
    woken = np.where(interrupted == NOBODY, end - ways.exit - ways.refill, interrupted)
    given_up = woken < start + ways.flush + ways.entry
    flushed = np.where(given_up, end, start + ways.flush)
    asleep = np.where(given_up, end, start + ways.flush + ways.entry)
    back = np.where(given_up, end, woken)
    powered = np.minimum(end, back + ways.exit)
    idle = changes.cause[changes.state >= 0]

    # Of pieces that begin at one time the last one counts, so the order is that of a sleep.
    one, own = np.ones(start.size, np.int64), np.full(start.size, firmware)
    time = np.concatenate([start, flushed, asleep, back, powered, changes.time[awake]])
    label = np.concatenate([one, one * 3, index + 4, one * 3, one * 2, np.zeros(awake.size, np.int64)])
    cause = np.concatenate([own, own, idle, own, own, changes.cause[awake]])
    return CpuSpans(cpu, *_cut(time, label, cause, record), labels, causes)


def _cut(time: Numbers, label: Numbers, cause: Numbers, record: Recording) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Start, end, state and cause of the pieces within the traced time: no empty ones, and none like the one before."""
    order = np.argsort(time, kind="stable")
    time, label, cause = np.clip(time[order], record.begin, record.end), label[order], cause[order]
    lasts = np.append(time[1:], record.end) > time
    time, label, cause = time[lasts], label[lasts], cause[lasts]
    new = np.ones(time.size, bool)
    new[1:] = (label[1:] != label[:-1]) | (cause[1:] != cause[:-1])
    time, label, cause = time[new], label[new], cause[new]
    return time, np.append(time[1:], record.end), label, cause


class _Ways(NamedTuple):
    """For each sleep of a CPU, the ticks of the parts of its way in and of its way out."""

    flush: Numbers
    entry: Numbers
    exit: Numbers
    refill: Numbers


def _ways(cpu: int, cluster: Cluster, on: Mapping[int, Changes]) -> _Ways:
    start, end, index = sleeps(on[cpu])
    light = _light(cluster.cstates)
    last, first = np.ones(start.size, bool), np.ones(start.size, bool)
    whole = [number for number, state in enumerate(cluster.cstates) if state.kind == "cluster-off"]
    for other, changes in on.items():
        if other != cpu:
            last &= _asleep_at(start, changes, whole)
            first &= _asleep_at(end, changes, whole)
    going, coming = np.where(last, index, light[index]), np.where(first, index, light[index])
    actual = [state.actual for state in cluster.cstates]
    return _Ways(
        _ticks([cost.flush_us for cost in actual])[going],
        _ticks([cost.entry_us for cost in actual])[going],
        _ticks([cost.exit_us for cost in actual])[coming],
        _ticks([cost.refill_us for cost in actual])[coming],
    )


def _ticks(microseconds: Sequence[float]) -> Numbers:
    return np.array([round(us * TICKS_PER_US) for us in microseconds], np.int64)


def _asleep_at(time: Numbers, changes: Changes, states: Sequence[int]) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    at = np.searchsorted(changes.time, time, side="right") - 1
    return np.isin(changes.state[np.maximum(at, 0)], states) & (at >= 0)


def _light(states: Sequence[CState]) -> Numbers:
    """For each state, the one whose costs a CPU pays while its cluster stays on: of cluster-off, its core's alone."""
    core = [number for number, state in enumerate(states) if state.kind == "core-off"]
    return np.array(
        [core[-1] if state.kind == "cluster-off" and core else number for number, state in enumerate(states)]
    )
