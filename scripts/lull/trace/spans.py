# SPDX-License-Identifier: BSD-3-Clause
"""Divides each CPU's time into spans without gap or overlap: work with its cause, idle states, entry and exit.

Linux's trace says when a CPU asked for an idle state and when it was back. Between these:
- The entry has the length of the platform file: the flush of the caches (`entry`), then the wait until the core or its
  rail is off (`switch`).
- The idle state itself includes the firmware's own instructions before it, some tens of microseconds in states that
  lose the core.
- The exit begins with the interrupt: when the timer was due, or the IPI was sent. If this is not known, the exit is as
  long as exit and refill. It is a wait for power (`switch`) with the platform file's length of `exit`, then the
  instructions of firmware and kernel, and the refill (`exit`).
As in the firmware, flush and refill are in eighths of the caches, by the time since they were lost. If the interrupt
came during the entry, the sleep was given up, and all of it is `entry`.

Work is meant as in Linux: a CPU that waits in WFE for another CPU is at work here, but gated in gem5.

A state is the one that the CPU asked for. The cluster's costs are charged to the last CPU to ask when the cluster goes
off, and to the first CPU to be back when it comes on. The other CPUs are charged for their cores only.
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
"""The number of parts in which the firmware charges lost caches."""
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]


class Span(NamedTuple):
    """A span. `cause`: `task:COMM/PID`, `irq:NAME`, `softirq:NAME`, `firmware` (entry, exit) or `idle` (also awake)."""

    cpu: int
    start: int
    end: int
    state: str
    cause: str


@dataclass(frozen=True)
class CpuSpans:
    """One CPU's spans as columns, to save memory. `state` and `cause` are indices into lists of words."""

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
    """Return the spans of every CPU that was on, over the traced time, ordered by CPU and time."""
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

    # If pieces begin at the same time, the last one counts. So their order is the order within a sleep.
    one, own = np.ones(start.size, np.int64), np.full(start.size, firmware)
    time = np.concatenate([start, flushed, asleep, back, powered, changes.time[awake]])
    label = np.concatenate([one, one * 3, index + 4, one * 3, one * 2, np.zeros(awake.size, np.int64)])
    cause = np.concatenate([own, own, idle, own, own, changes.cause[awake]])
    return CpuSpans(cpu, *_cut(time, label, cause, record), labels, causes)


def _cut(time: Numbers, label: Numbers, cause: Numbers, record: Recording) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return start, end, state and cause of the pieces within the traced time, without empty or repeated ones."""
    order = np.argsort(time, kind="stable")
    time, label, cause = np.clip(time[order], record.begin, record.end), label[order], cause[order]
    lasts = np.append(time[1:], record.end) > time
    time, label, cause = time[lasts], label[lasts], cause[lasts]
    new = np.ones(time.size, bool)
    new[1:] = (label[1:] != label[:-1]) | (cause[1:] != cause[:-1])
    time, label, cause = time[new], label[new], cause[new]
    return time, np.append(time[1:], record.end), label, cause


class _Ways(NamedTuple):
    """For each sleep of a CPU, the ticks of the parts of its entry and exit."""

    flush: Numbers
    entry: Numbers
    exit: Numbers
    refill: Numbers


class _Moves(NamedTuple):
    """Each sleep of a CPU: the states whose costs it pays in entry and exit, and whether the cluster goes off with this
    CPU and comes on with it."""

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
    """For each sleep of a CPU, the eighths of caches that are written back in the entry, and fetched in the exit."""

    flushed: Numbers
    again: Numbers


def _lost(cpu: int, cluster: Cluster, own: _Moves, of_cluster: "_OfCluster") -> _Lost:
    """Return the lost caches. They fill since the last sleep that lost them. Before the first, they count as full."""
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
    """The eighths of the L2 that are lost when the cluster goes off, and fetched when it comes on, by time and CPU."""

    gone: dict[tuple[int, int], int]
    come: dict[tuple[int, int], int]


def _of_cluster(cluster: Cluster, moves: Mapping[int, _Moves]) -> _OfCluster:
    """Return the lost and fetched eighths of the L2. As in the firmware, the L2 also fills during a refill."""
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
    """Return for each state the one whose costs a CPU pays while its cluster stays on: core-off for cluster-off."""
    core = [number for number, state in enumerate(states) if state.kind == "core-off"]
    return np.array(
        [core[-1] if state.kind == "cluster-off" and core else number for number, state in enumerate(states)]
    )
