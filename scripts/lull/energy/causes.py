# SPDX-License-Identifier: BSD-3-Clause
"""Who answers for which part of the traced time.

A wake-up is charged to the task or device at its root: the interrupt or timer that ended the sleep, and through it who
armed it. Charged are the way out of the idle state, the way back into the next one, and the idle time that it broke up:
what the ended span burned above the idle state that this span and the next one together would have deserved. What
Linux lost by a bad guess, a shallower state than the span itself deserved, is nobody's wake-up and stays with `idle`.
A sleep is charged to the wake-up that ended it, never to the one before, so that nothing is charged twice.
Only the core's part is charged: what an L2 would have saved depends on the cluster's other CPUs.
Assumed: without the wake-up its work would not have been done either, so that the two spans would have been one.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lull.energy.occupancy import NOTHING, Caches, ClosureError, Interned, Occupancy, Track, Who, common
from lull.energy.states import ACTIVE, IDLE, UNTRACED
from lull.platform.schema import Cluster, Platform

ENTRY, EXIT = "entry", "exit"
IDLE_CAUSE, TRANSITION_CAUSE = "idle", "transition"
LOSING_L1 = ("C3", "C4")
LOSING_L2 = "C4"
TICKS_PER_US = 1_000_000


class Span(Protocol):
    """A stretch of one CPU's traced time; times are ticks of gem5."""

    @property
    def cpu(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def cause(self) -> str: ...


class Wake(Protocol):
    """The end of a sleep: what woke the CPU, and the task or device that armed it, where that is known."""

    @property
    def cpu(self) -> int: ...
    @property
    def time(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def armed_by(self) -> str | None: ...


@dataclass(frozen=True)
class Stretch:
    """A span within the time of the run."""

    cpu: int
    start: int
    end: int
    state: str
    cause: str


@dataclass(frozen=True)
class Sleeps:
    """One CPU's idle spans, and for each who ended it."""

    starts: list[int]
    ends: list[int]
    states: list[str]
    roots: list[str]


def occupancy(
    spans: Iterable[Span],
    wakes: Iterable[Wake],
    platform: Platform,
    deepest: str,
    time: range,
    allow_gaps: bool = False,
) -> Occupancy:
    """The traced time by who answers for it. Of what the trace does not cover, within `time`, nobody is known."""
    by_cpu: list[list[Span]] = [[] for _ in range(platform.cpu_count)]
    for span in spans:
        by_cpu[span.cpu].append(span)
    ends_of_sleep: list[list[Wake]] = [[] for _ in range(platform.cpu_count)]
    for wake in wakes:
        ends_of_sleep[wake.cpu].append(wake)
    complete: dict[int, list[Stretch]] = {}
    tracks: list[Track] = []
    whos = Interned()
    cluster_off = []
    for cpus, cluster in platform.cpu_ranges():
        sleeps = []
        for cpu in cpus:
            complete[cpu] = _complete(cpu, sorted(by_cpu[cpu], key=lambda span: span.start), time, allow_gaps)
            sleeps.append(_sleeps(complete[cpu], sorted(ends_of_sleep[cpu], key=lambda wake: wake.time)))
        off = common(_intervals(own, LOSING_L2) for own in sleeps)
        cluster_off.append(off)
        begins, ends = set(off[:, 0].tolist()), set(off[:, 1].tolist())
        for cpu, own in zip(cpus, sleeps, strict=True):
            tracks.append(_Charging(cluster, deepest, whos, begins, ends).track(complete[cpu], own))
    return Occupancy(tracks, whos, cluster_off)


def _complete(cpu: int, spans: Sequence[Span], time: range, allow_gaps: bool) -> list[Stretch]:
    """With spans for what the trace does not cover: before it, after it, and where events were lost."""
    found: list[Stretch] = []
    at = time.start
    for span in spans:
        start, end = max(span.start, time.start), min(span.end, time.stop)
        if end <= start:
            continue
        if start < at:
            raise ClosureError(f"CPU {cpu}, tick {start}: two spans of the trace overlap; record the run again")
        if start > at:
            if found and not allow_gaps:
                raise ClosureError(
                    f"CPU {cpu}, ticks {at} to {start}: the trace has a gap; record the run again, or account for it "
                    "with --allow-lost"
                )
            found.append(Stretch(cpu, at, start, UNTRACED, ""))
        found.append(Stretch(cpu, start, end, span.state, span.cause))
        at = end
    if at < time.stop:
        found.append(Stretch(cpu, at, time.stop, UNTRACED, ""))
    return found


def _sleeps(spans: Sequence[Stretch], wakes: Sequence[Wake]) -> Sleeps:
    idle = [span for span in spans if span.state in IDLE]
    times = [wake.time for wake in wakes]
    roots = []
    for number, span in enumerate(idle):
        limit = idle[number + 1].start if number + 1 < len(idle) else spans[-1].end
        place = bisect_right(times, span.start)
        wake = wakes[place] if place < len(wakes) and times[place] <= limit else None
        roots.append((wake.armed_by or wake.source) if wake else "")
    return Sleeps([span.start for span in idle], [span.end for span in idle], [span.state for span in idle], roots)


def _intervals(sleeps: Sleeps, state: str) -> NDArray[np.int64]:
    pairs = [
        (start, end)
        for start, end, own in zip(sleeps.starts, sleeps.ends, sleeps.states, strict=True)
        if own == state and end > start
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


class _Charging:
    """One CPU's spans, each with who answers for it and with what its transition does to caches."""

    def __init__(
        self, cluster: Cluster, deepest: str, whos: Interned, cluster_off: set[int], cluster_on: set[int]
    ) -> None:
        self.residency = {
            state.name: state.advertised.residency_us * TICKS_PER_US
            for state in cluster.cstates
            if IDLE.index(state.name) <= IDLE.index(deepest)
        }
        fill_us = {state.name: state.actual.fill_us for state in cluster.cstates}
        self.l1_fill = fill_us.get("C3", 0.0) * TICKS_PER_US
        self.l2_fill = fill_us.get("C4", 0.0) * TICKS_PER_US
        self.whos = whos
        self.cluster_off, self.cluster_on = cluster_off, cluster_on
        # Caches are taken to be full when the trace begins.
        self.l1_active = self.l2_active = float("inf")

    def track(self, spans: Sequence[Stretch], sleeps: Sleeps) -> Track:
        track = Track()
        number = 0
        root = ""
        leaving = NOTHING
        for place, span in enumerate(spans):
            following = spans[place + 1] if place + 1 < len(spans) else None
            caches = NOTHING
            if span.state in IDLE:
                if not (place and spans[place - 1].state == ENTRY):
                    caches = self._going(span)
                leaving = self._coming(span)
                root = sleeps.roots[number]
                who = self._asleep(span, sleeps, number)
                number += 1
                if following is None or following.state != EXIT:
                    caches, leaving = caches.plus(leaving), NOTHING
            elif span.state == ENTRY:
                if following is not None and following.state in IDLE:
                    caches = self._going(following)
                who = Who(span.cpu, ENTRY, root or TRANSITION_CAUSE)
            elif span.state == EXIT:
                caches, leaving = leaving, NOTHING
                who = Who(span.cpu, EXIT, root or TRANSITION_CAUSE)
            else:
                if span.state == ACTIVE:
                    self.l1_active += span.end - span.start
                    self.l2_active += span.end - span.start
                who = Who(span.cpu, span.state, span.cause)
            track.add(span.start, span.end, self.whos.place(who), caches)
        return track

    def _asleep(self, span: Stretch, sleeps: Sleeps, number: int) -> Who:
        if not sleeps.roots[number] or number + 1 >= len(sleeps.starts):
            return Who(span.cpu, span.state, IDLE_CAUSE)
        own = span.end - span.start
        chosen = max(span.state, self._deserved(own))
        deserved = self._deserved(own + sleeps.ends[number + 1] - sleeps.starts[number + 1])
        if deserved <= chosen:
            return Who(span.cpu, span.state, IDLE_CAUSE)
        return Who(span.cpu, span.state, IDLE_CAUSE, deserved, chosen, sleeps.roots[number])

    def _deserved(self, ticks: int) -> str:
        """The deepest state that Linux was allowed and whose residency the time reaches."""
        return max(("C1", *(state for state, residency in self.residency.items() if residency <= ticks)))

    def _going(self, sleep: Stretch) -> Caches:
        if sleep.state not in LOSING_L1:
            return NOTHING
        l2 = 0.0
        if sleep.state == LOSING_L2 and sleep.start in self.cluster_off:
            self.cluster_off.discard(sleep.start)
            l2 = _share(self.l2_active, self.l2_fill)
        return Caches(l1_flushes=_share(self.l1_active, self.l1_fill), l2_flushes=l2)

    def _coming(self, sleep: Stretch) -> Caches:
        """Refilled is what was lost; the cluster's rail is charged by the first of its CPUs to wake."""
        if sleep.state not in LOSING_L1:
            return NOTHING
        l1, self.l1_active = _share(self.l1_active, self.l1_fill), 0.0
        l2 = 0.0
        first = sleep.state == LOSING_L2 and sleep.end in self.cluster_on
        if first:
            self.cluster_on.discard(sleep.end)
            l2, self.l2_active = _share(self.l2_active, self.l2_fill), 0.0
        return Caches(l1_refills=l1, l2_refills=l2, core_wakes=1.0, cluster_wakes=float(first))


def _share(active: float, fill: float) -> float:
    """How full a cache is, of what a cluster-wide or core-wide power-off loses."""
    return min(1.0, active / fill) if fill else 0.0
