# SPDX-License-Identifier: BSD-3-Clause
"""Attributes each part of the traced time to the task or device that caused it.

A wake-up is charged to the task or device that armed the timer, or raised the interrupt, that ended the sleep. Three
parts are charged:
- the exit from the idle state,
- the entry into the next idle state,
- the extra energy of the ended sleep, compared with one long sleep (this sleep and the next one together) in the state
  that fits its length.
Linux may also choose a shallower state than the sleep's own length allows. This loss is charged to `idle`, not to a
wake-up.
A sleep is charged to the wake-up that ended it, never to the one before: nothing is charged twice.
Only the core's part is charged, because the L2's part depends on the cluster's other CPUs.
Assumed: without the wake-up, its work would not have been done either, and the two sleeps would have been one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lull.energy import transitions
from lull.energy.occupancy import Caches, ClosureError, Numbers, Occupancy, Track, Who, common
from lull.energy.states import ACTIVE, IDLE, STATES, UNTRACED
from lull.platform.schema import Cluster, Platform
from lull.trace.clock import TICKS_PER_US
from lull.trace.spans import ENTRY, EXIT, SWITCH, CpuSpans

IDLE_CAUSE, TRANSITION_CAUSE = "idle", "transition"
NO_INTERRUPT = "none"
"""The source of a wake-up without an interrupt."""

WORDS = (*IDLE, UNTRACED, *(state for state in STATES if state not in IDLE))
"""States by number: idle ones first, from light to deep."""
CODE = {word: number for number, word in enumerate(WORDS)}
LOSES_L1, LOSES_L2 = CODE["C3"], CODE["C4"]
"""The lightest states that lose a core's caches, and a cluster's."""
DEEPEST = len(IDLE)
NOBODY = -1

CACHES = tuple(entry.name for entry in fields(Caches))
L1_FLUSHES, L2_FLUSHES, L1_REFILLS, L2_REFILLS, CORE_WAKES, CLUSTER_WAKES = range(len(CACHES))


class WakeUp(Protocol):
    """The end of a sleep: the source that woke the CPU, and the task or device that armed it, if known."""

    @property
    def cpu(self) -> int: ...
    @property
    def time(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def armed_by(self) -> str | None: ...


class Words:
    """Numbers the texts of causes."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, text: str) -> int:
        code = self._codes.setdefault(text, len(self.texts))
        if code == len(self.texts):
            self.texts.append(text)
        return code

    def codes(self, texts: Iterable[str]) -> Numbers:
        return np.array([self.code(text) for text in texts], np.int64)


@dataclass(frozen=True)
class Spans:
    """One CPU's spans over the whole run, as columns."""

    start: Numbers
    end: Numbers
    state: Numbers
    cause: Numbers

    @cached_property
    def worked(self) -> Numbers:
        """Return the CPU's active time up to the end of each span."""
        return np.cumsum(np.where(self.state == CODE[ACTIVE], self.end - self.start, 0))

    @property
    def idle(self) -> Numbers:
        return np.flatnonzero(self.state < DEEPEST)

    def sleeps_in(self, state: int) -> Numbers:
        """Return start and end of each sleep in a state."""
        own = self.state == state
        return np.stack([self.start[own], self.end[own]], axis=1)


def occupancy(
    parts: Iterable[CpuSpans],
    wakes: Iterable[WakeUp],
    platform: Platform,
    deepest: Mapping[str, str],
    time: range,
    allow_gaps: bool = False,
) -> Occupancy:
    """Return the time of each CPU by state and cause. Time within `time` that the trace does not cover has no cause."""
    words = Words()
    traced = {part.cpu: part for part in parts}
    woken: list[list[WakeUp]] = [[] for _ in range(platform.cpu_count)]
    for wake in wakes:
        woken[wake.cpu].append(wake)
    whos: dict[Who, int] = {}
    tracks: list[Track] = []
    cluster_off: list[Numbers] = []
    for cpus, cluster in platform.cpu_ranges():
        spans = [_complete(cpu, traced.pop(cpu, None), words, time, allow_gaps) for cpu in cpus]
        l1_fill, l2_fill = (us * TICKS_PER_US for us in transitions.fill_us(cluster))
        off = _off_times(spans, l2_fill)
        cluster_off.append(off.off)
        for cpu, own in zip(cpus, spans, strict=True):
            roots = _roots(own, woken[cpu], words)
            who = _who(cpu, own, roots, _residencies(cluster, deepest[cluster.name]), words, whos)
            tracks.append(Track(own.start, own.end, who, *_caches(own, off, l1_fill)))
    return Occupancy(tracks, list(whos), cluster_off)


def _complete(cpu: int, part: CpuSpans | None, words: Words, time: range, allow_gaps: bool) -> Spans:
    """Return a CPU's spans, plus spans for the time that the trace does not cover: before it, after it, and where
    events were lost."""
    nothing = words.code("")
    if part is None:
        return Spans(*(np.array([value], np.int64) for value in (time.start, time.stop, CODE[UNTRACED], nothing)))
    order = np.argsort(part.start, kind="stable")
    start, end = (np.clip(column[order], time.start, time.stop) for column in (part.start, part.end))
    state = np.array([CODE[word] for word in part.states], np.int64)[part.state[order]]
    cause = words.codes(part.causes)[part.cause[order]]
    kept = end > start
    start, end, state, cause = start[kept], end[kept], state[kept], cause[kept]
    after = np.append(start, time.stop) - np.append(time.start, end)
    if (after < 0).any():
        at = int(start[np.flatnonzero(after < 0)[0]])
        raise ClosureError(f"CPU {cpu}, tick {at}: two spans of the trace overlap; record the run again")
    gaps = np.flatnonzero(after)
    inside = gaps[(gaps > 0) & (gaps < start.size)]
    if inside.size and not allow_gaps:
        raise ClosureError(
            f"CPU {cpu}, ticks {end[inside[0] - 1]} to {start[inside[0]]}: the trace has a gap; record the run again, "
            "or account for it with --allow-lost"
        )
    return Spans(
        np.insert(start, gaps, np.append(time.start, end)[gaps]),
        np.insert(end, gaps, np.append(start, time.stop)[gaps]),
        np.insert(state, gaps, CODE[UNTRACED]),
        np.insert(cause, gaps, nothing),
    )


def _roots(spans: Spans, wakes: Sequence[WakeUp], words: Words) -> Numbers:
    """Return for each idle span the cause that ended it: the first wake-up in it, or after it and before the next."""
    idle = spans.idle
    if not wakes or not idle.size:
        return np.full(idle.size, NOBODY)
    time = np.array([wake.time for wake in wakes], np.int64)
    order = np.argsort(time, kind="stable")
    root = np.array([_root(wake, words) for wake in wakes], np.int64)[order]
    time = time[order]
    place = np.searchsorted(time, spans.start[idle], side="right")
    limit = np.append(spans.start[idle][1:], spans.end[-1])
    found = np.append(time, np.iinfo(np.int64).max)[place] <= limit
    return np.where(found, np.append(root, NOBODY)[place], NOBODY)


def _root(wake: WakeUp, words: Words) -> int:
    """Return the number of a wake-up's cause; NOBODY if the core woke without an interrupt."""
    known = wake.armed_by or wake.source
    return NOBODY if known == NO_INTERRUPT else words.code(known)


def _residencies(cluster: Cluster, deepest: str) -> Numbers:
    """Return for each state the residency from which it pays. For a state that Linux may not use, it is endless."""
    found = np.full(DEEPEST, np.iinfo(np.int64).max)
    for state in cluster.cstates:
        if CODE[state.name] <= CODE[deepest]:
            found[CODE[state.name]] = state.advertised.residency_us * TICKS_PER_US
    found[CODE["C1"]] = 0
    return found


def _deserved(ticks: Numbers, residencies: Numbers) -> Numbers:
    """Return for each time the deepest state whose residency it reaches."""
    worth = ticks[:, None] >= residencies[None, :]
    deepest: Numbers = DEEPEST - 1 - np.argmax(worth[:, ::-1], axis=1)
    return deepest


def _who(cpu: int, spans: Spans, roots: Numbers, residencies: Numbers, words: Words, whos: dict[Who, int]) -> Numbers:
    idle = spans.idle
    lasted = spans.end[idle] - spans.start[idle]
    chosen = np.maximum(spans.state[idle], _deserved(lasted, residencies))
    deserved = _deserved(lasted + np.append(lasted[1:], 0), residencies)
    cut_short = (deserved > chosen) & (roots != NOBODY)

    cause, blamed, better, had = spans.cause.copy(), *(np.full(spans.state.size, NOBODY) for _ in range(3))
    cause[idle] = words.code(IDLE_CAUSE)
    better[idle[cut_short]], had[idle[cut_short]] = deserved[cut_short], chosen[cut_short]
    blamed[idle[cut_short]] = roots[cut_short]
    moves = np.isin(spans.state, (CODE[ENTRY], CODE[SWITCH], CODE[EXIT]))
    before = np.searchsorted(idle, np.flatnonzero(moves)) - 1
    woke = np.where(before >= 0, np.append(roots, NOBODY)[before], NOBODY)
    cause[moves] = np.where(woke == NOBODY, words.code(TRANSITION_CAUSE), woke)

    # One number for each different row of these columns. NOBODY becomes 0.
    columns = (spans.state, cause + 1, better + 1, had + 1, blamed + 1)
    sizes = (len(WORDS), len(words.texts) + 1, DEEPEST + 1, DEEPEST + 1, len(words.texts) + 1)
    numbers, place = np.unique(np.ravel_multi_index(columns, sizes), return_inverse=True)
    states, causes = ["", *WORDS], ["", *words.texts]
    codes = []
    for state, why, deserves, has, blames in np.stack(np.unravel_index(numbers, sizes), axis=1).tolist():
        who = Who(cpu, WORDS[state], causes[why], states[deserves], states[has], causes[blames])
        codes.append(whos.setdefault(who, len(whos)))
    return np.array(codes, np.int64)[place]


class _OffTimes:
    """The times when a cluster was off, with the fill of its L2 each time. Begin and end of each are assigned to the
    first CPU that claims them."""

    def __init__(self, off: Numbers, fullness: NDArray[np.float64]) -> None:
        self.off, self._fullness = off, np.append(fullness, 0.0)
        self._claimed = np.zeros(off.shape, bool)

    def go_off(self, times: Numbers) -> Numbers:
        """Return the off time that begins at each of a CPU's times; NOBODY if none does, or if another CPU has claimed
        it."""
        return self._claim(0, times)

    def come_on(self, times: Numbers) -> Numbers:
        return self._claim(1, times)

    def fullness(self, which: Numbers) -> NDArray[np.float64]:
        """Return the share of the L2 that is lost in each off time; 0 for NOBODY."""
        return self._fullness[which]

    def _claim(self, edge: int, times: Numbers) -> Numbers:
        edges = np.append(self.off[:, edge], np.iinfo(np.int64).max)
        place = np.searchsorted(edges, times)
        mine = (edges[place] == times) & ~np.append(self._claimed[:, edge], True)[place]
        self._claimed[place[mine], edge] = True
        return np.where(mine, place, NOBODY)


def _off_times(spans: Sequence[Spans], fill: float) -> _OffTimes:
    """Return a cluster's off times. The L2 is full when the trace begins; later it fills with the active time of the
    cluster's CPUs since it came on."""
    off = common(own.sleeps_in(LOSES_L2) for own in spans)
    if not fill:
        return _OffTimes(off, np.zeros(len(off)))
    worked = np.zeros(off.shape, np.int64)
    for own in spans:
        worked += np.append(0, own.worked)[np.searchsorted(own.start, off)]
    since = worked[1:, 0] - worked[:-1, 1]
    return _OffTimes(off, np.append(1.0, np.minimum(1.0, since / fill))[: len(off)])


def _caches(spans: Spans, cluster_off: _OffTimes, fill: float) -> tuple[Numbers, NDArray[np.float64]]:
    """Return the spans with an effect on caches and rails, and the effects: entries write back, exits fetch again.

    An L1 is full when the trace begins. Later it fills with the CPU's active time since the L1 was lost.
    """
    idle = spans.idle
    losing = idle[spans.state[idle] >= LOSES_L1]
    deep = spans.state[losing] == LOSES_L2
    off = cluster_off.go_off(np.where(deep, spans.start[losing], NOBODY))
    on = cluster_off.come_on(np.where(deep, spans.end[losing], NOBODY))
    l1 = _fullness(spans.worked, losing, fill)

    going, coming = (np.zeros((losing.size, len(CACHES))) for _ in range(2))
    going[:, L1_FLUSHES], going[:, L2_FLUSHES] = l1, cluster_off.fullness(off)
    coming[:, L1_REFILLS], coming[:, L2_REFILLS] = l1, cluster_off.fullness(on)
    coming[:, CORE_WAKES], coming[:, CLUSTER_WAKES] = 1.0, on != NOBODY
    at = np.concatenate([_beside(spans, losing, -1, ENTRY), _beside(spans, losing, 1, EXIT)])
    places, number = np.unique(at, return_inverse=True)
    found = np.zeros((places.size, len(CACHES)))
    np.add.at(found, number, np.concatenate([going, coming]))
    return places, found


def _beside(spans: Spans, sleeps: Numbers, way: int, wanted: str) -> Numbers:
    """Return the span of the entry (`way` -1) or exit (1) of each sleep, beyond the wait for the power switch; if there
    is none, the sleep itself."""
    last = spans.state.size - 1
    near, far = (np.clip(sleeps + steps * way, 0, last) for steps in (1, 2))
    beyond = (spans.state[near] == CODE[SWITCH]) & (spans.state[far] == CODE[wanted])
    found = np.where(beyond, far, near)
    return np.where(np.isin(spans.state[found], (CODE[wanted], CODE[SWITCH])), found, sleeps)


def _fullness(worked: Numbers, losses: Numbers, fill: float) -> NDArray[np.float64]:
    """Return the fill of the L1s, 0 to 1, at each span that loses them."""
    if not fill:
        return np.zeros(losses.size)
    since = np.diff(worked[losses], prepend=0)
    since[:1] = fill
    full: NDArray[np.float64] = np.minimum(1.0, since / fill)
    return full
