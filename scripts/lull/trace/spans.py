# SPDX-License-Identifier: BSD-3-Clause
"""Each CPU's time without gap or overlap: at work and for whom, in an idle state, on the way in, on the way out.

Linux's trace says when a CPU asked for an idle state and when it was back. The way in is as long as the platform file
says of the state: the flush of what the caches hold (`entry`), then the wait until the core or its rail is off
(`switch`). As the firmware does, a flush and a refill are counted in eighths of the caches, by the time since they were
lost last. What the firmware's own instructions take on the way in, some tens of microseconds in states that lose the
core, counts as the state. The way out begins with the interrupt: when the timer was due or the IPI was sent; where that
is not known it is as long as exit and refill. It is a wait for power (`switch`), as long as the platform file says of
`exit`, and then the firmware's and the kernel's instructions and the refill (`exit`). A sleep whose interrupt came on
the way in was given up, and is nothing but `entry`.

Work is what Linux takes for it: a CPU that waits in WFE for another one's answer is at work here, and gated to gem5.

A state is what the CPU asked for. Its cluster pays for going off with the last CPU to ask, and for coming on with the
first to be back; the others pay for their core alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lull.errors import UserError
from lull.platform.cstates import KEEPING_CACHES, CState
from lull.platform.schema import Cluster, Platform
from lull.rundir.folder import RunDir
from lull.trace import recording
from lull.trace.activity import Changes
from lull.trace.clock import ticks_of_us
from lull.trace.events import Numbers
from lull.trace.origins import NOBODY, Origins
from lull.trace.recording import Recording
from lull.trace.sleeps import NEVER, sleeps
from lull.trace.wakes import Waker

ACTIVE, ENTRY, EXIT, SWITCH = "active", "entry", "exit", "switch"
FIRMWARE = "firmware"
SLICES = 8
"""The firmware charges lost caches in so many parts."""
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


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
        for cpu, changes in on.items():
            if (deepest := int(changes.state.max(initial=-1))) >= len(cluster.cstates):
                raise UserError(f"{record.path}: CPU {cpu} enters idle state {deepest}, which {cluster.name} lacks")
        moves = {cpu: _moves(cpu, cluster, on) for cpu in on}
        lost = _of_cluster(cluster, moves)
        for cpu, own in moves.items():
            yield _of_cpu(cluster, Waker(record, origins, cpu, cluster.cstates), _ways(cpu, cluster, own, lost))


def _of_cpu(cluster: Cluster, waker: Waker, ways: "_Ways") -> CpuSpans:
    cpu, record = waker.cpu, waker.record
    changes = record.changes[cpu]
    labels = [ACTIVE, ENTRY, EXIT, SWITCH, *(state.name for state in cluster.cstates)]
    causes = [*record.names, FIRMWARE]
    firmware = len(record.names)

    awake = np.flatnonzero(changes.state < 0)
    start, end, index = sleeps(changes)
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


class _Moves(NamedTuple):
    """Each sleep of a CPU: the states whose costs it pays on its way in and out, and whether its cluster goes off with
    it and comes on with it."""

    start: Numbers
    end: Numbers
    state: Numbers
    going: Numbers
    coming: Numbers
    last: Mask
    first: Mask


def _moves(cpu: int, cluster: Cluster, on: Mapping[int, Changes]) -> _Moves:
    start, end, index = sleeps(on[cpu])
    light = _light(cluster.cstates)
    whole = [number for number, state in enumerate(cluster.cstates) if state.kind == "cluster-off"]
    last, first = np.isin(index, whole), np.isin(index, whole)
    for other, changes in on.items():
        if other != cpu:
            last &= _asleep_at(start, changes, whole)
            first &= _asleep_at(end, changes, whole)
    return _Moves(
        start, end, index, np.where(last, index, light[index]), np.where(first, index, light[index]), last, first
    )


def _ways(cpu: int, cluster: Cluster, own: _Moves, of_cluster: "_OfCluster") -> _Ways:
    lost = _lost(cpu, cluster, own, of_cluster)
    actual = [state.actual for state in cluster.cstates]
    flush, entry, back, refill = (
        ticks_of_us([getattr(cost, f"{name}_us") for cost in actual]) for name in ("flush", "entry", "exit", "refill")
    )
    return _Ways(
        flush[own.going] * lost.flushed // SLICES, entry[own.going],
        back[own.coming], refill[own.coming] * lost.again // SLICES,
    )  # fmt: skip


class _Lost(NamedTuple):
    """For each sleep of a CPU the eighths of caches that are written back on the way in, and fetched on the way out."""

    flushed: Numbers
    again: Numbers


def _lost(cpu: int, cluster: Cluster, own: _Moves, of_cluster: "_OfCluster") -> _Lost:
    """Caches fill from the end of the last sleep that lost them; before the first one they are taken to be full."""
    deep = [number for number, state in enumerate(cluster.cstates) if state.kind not in KEEPING_CACHES]
    fills = ticks_of_us([state.actual.fill_us for state in cluster.cstates])
    lost = own.end[np.isin(own.state, deep)]
    at = np.searchsorted(lost, own.start, side="right") - 1
    worked = np.where(at < 0, NEVER // SLICES, own.start - np.append(lost, 0)[np.maximum(at, 0)])
    flushed = np.where(worked >= fills[own.going], SLICES, -(-worked * SLICES // np.maximum(fills[own.going], 1)))
    again = flushed.copy()
    flushed[own.last] = [of_cluster.gone[time, cpu] for time in own.start[own.last].tolist()]
    again[own.first] = [of_cluster.come[time, cpu] for time in own.end[own.first].tolist()]
    return _Lost(flushed, again)


class _OfCluster(NamedTuple):
    """The eighths of the L2 that are lost each time when the cluster goes off, and fetched when it comes on, by time
    and CPU."""

    gone: dict[tuple[int, int], int]
    come: dict[tuple[int, int], int]


def _of_cluster(cluster: Cluster, moves: Mapping[int, _Moves]) -> _OfCluster:
    """The firmware takes the L2 to fill also while it fetches what was lost. Then the L2 may be full again."""
    found = _OfCluster({}, {})
    whole = [state.actual for state in cluster.cstates if state.kind == "cluster-off"]
    if not whole:
        return found
    (actual,) = whole
    fill, refill = ticks_of_us([actual.fill_us, actual.refill_us]).tolist()
    events = [(time, cpu, True) for cpu, own in moves.items() for time in own.start[own.last].tolist()]
    events += [(time, cpu, False) for cpu, own in moves.items() for time in own.end[own.first].tolist()]
    lost, since = SLICES, -fill
    for time, cpu, goes in sorted(events):
        if goes:
            lost = min(SLICES, -(-(time - since) * SLICES // fill)) if fill else SLICES
            found.gone[time, cpu] = lost
        else:
            found.come[time, cpu] = lost
            since = time - refill * lost // SLICES
    return found


def _asleep_at(time: Numbers, changes: Changes, states: Sequence[int]) -> Mask:
    at = np.searchsorted(changes.time, time, side="right") - 1
    return np.isin(changes.state[np.maximum(at, 0)], states) & (at >= 0)


def _light(states: Sequence[CState]) -> Numbers:
    """For each state, the one whose costs a CPU pays while its cluster stays on: of cluster-off, its core's alone."""
    core = [number for number, state in enumerate(states) if state.kind == "core-off"]
    return np.array(
        [core[-1] if state.kind == "cluster-off" and core else number for number, state in enumerate(states)]
    )
