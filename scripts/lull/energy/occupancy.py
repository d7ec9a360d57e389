# SPDX-License-Identifier: BSD-3-Clause
"""The state of each CPU and its cause, window by window: the traced time, cut at the edges of windows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from lull.errors import UserError

Numbers = NDArray[np.int64]


class ClosureError(UserError):
    """The ledger's sums do not agree, by a fault of the run or of lull. Rounding never causes this."""


@dataclass(frozen=True)
class Caches:
    """The effect of transitions on caches and rails. Flushes and refills are in full caches, wakes are counts."""

    l1_flushes: float = 0.0
    l2_flushes: float = 0.0
    l1_refills: float = 0.0
    l2_refills: float = 0.0
    core_wakes: float = 0.0
    cluster_wakes: float = 0.0

    def times(self, share: float) -> "Caches":
        return Caches(*(getattr(self, entry.name) * share for entry in fields(self)))


NOTHING = Caches()


@dataclass(frozen=True)
class Who:
    """One use of a CPU's time: a state, and the cause to which it is charged."""

    cpu: int
    state: str
    cause: str
    deserved: str = ""
    """The state that an idle span would have had without the wake-up that cut it short."""
    chosen: str = ""
    """For such a span, the deeper of two states: the one that Linux chose, and the one that fits the short span."""
    blamed: str = ""
    """For such a span, the cause of the wake-up. It is charged for the energy of `chosen` above that of `deserved`."""


@dataclass(frozen=True)
class Stay:
    """A CPU's time in a window for one use, in ticks. The number is whole unless it was derived from shares."""

    who: Who
    ticks: float
    caches: Caches = NOTHING


@dataclass(frozen=True)
class Track:
    """One CPU's spans in order, without gap or overlap. They are columns, because a trace has millions of spans."""

    start: Numbers
    end: Numbers
    who: Numbers
    """Indices into a list of `Who`."""
    at: Numbers
    """The indices of the spans with an effect on caches, ascending. Most spans have none."""
    caches: NDArray[np.float64]
    """The effects of those spans, with a column for each field of `Caches`."""

    def within(self, start: int, end: int, whos: Sequence[Who]) -> Iterator[Stay]:
        low = int(np.searchsorted(self.end, start, side="right"))
        high = int(np.searchsorted(self.start, end, side="left"))
        if low >= high:
            return
        overlap = np.minimum(self.end[low:high], end) - np.maximum(self.start[low:high], start)
        present, place = np.unique(self.who[low:high], return_inverse=True)
        ticks = np.bincount(place, weights=overlap)
        caches = np.zeros((present.size, self.caches.shape[1]))
        first, last = np.searchsorted(self.at, (low, high))
        if first < last:
            # A span that is cut by a window's edge counts by its share, so that cutting changes no sum.
            cut = self.at[first:last] - low
            share = overlap[cut] / (self.end[low:high][cut] - self.start[low:high][cut])
            np.add.at(caches, place[cut], self.caches[first:last] * share[:, None])
        for number, who in enumerate(present.tolist()):
            own = caches[number]
            yield Stay(whos[who], float(ticks[number]), Caches(*own.tolist()) if own.any() else NOTHING)


class Occupancy:
    """The tracks of all CPUs, for questions about any window."""

    def __init__(self, tracks: Sequence[Track], whos: Sequence[Who], cluster_off: Sequence[Numbers]) -> None:
        self._tracks, self._whos = tracks, whos
        self._cluster_off = cluster_off
        """For each cluster, start and end of the times in which it was off."""

    def stays(self, cpu: int, start: int, end: int) -> list[Stay]:
        """Return the CPU's stays between two ticks. Raise ClosureError if they do not sum to the time between."""
        found = list(self._tracks[cpu].within(start, end, self._whos))
        covered = sum(stay.ticks for stay in found)
        if covered != end - start:
            raise ClosureError(
                f"CPU {cpu}, ticks {start} to {end}: the trace accounts for {covered:.0f} of {end - start} ticks; "
                "record the run again, or account for it with --allow-lost"
            )
        return found

    def slept(self, cpu: int) -> dict[str, tuple[int, int]]:
        """Return for each state the number of the CPU's known stays, and their ticks."""
        track = self._tracks[cpu]
        counts = np.bincount(track.who, minlength=len(self._whos))
        ticks = np.zeros(len(self._whos), np.int64)
        np.add.at(ticks, track.who, track.end - track.start)
        found: dict[str, tuple[int, int]] = {}
        for place in np.flatnonzero(counts).tolist():
            state = self._whos[place].state
            count, total = found.get(state, (0, 0))
            found[state] = count + int(counts[place]), total + int(ticks[place])
        return found

    def off_ticks(self, cluster: int, start: int, end: int) -> int:
        """Return the ticks in which the cluster was off: all of its CPUs were in C4."""
        intervals = self._cluster_off[cluster]
        if not intervals.size:
            return 0
        overlap = np.minimum(intervals[:, 1], end) - np.maximum(intervals[:, 0], start)
        return int(np.maximum(overlap, 0).sum())


def common(intervals: Iterable[Numbers]) -> Numbers:
    """Return the intersection of several lists of intervals, each in order and without overlap."""
    lists = list(intervals)
    edges = np.concatenate([np.concatenate([pairs[:, 0], pairs[:, 1]]) for pairs in lists])
    steps = np.concatenate([np.repeat([1, -1], len(pairs)) for pairs in lists])
    # An end sorts before a start at the same tick, so that neighbours do not count as overlap.
    order = np.lexsort((steps, edges))
    edges, depth = edges[order], np.cumsum(steps[order])
    begins = np.flatnonzero(depth == len(lists))
    found: Numbers = np.stack([edges[begins], edges[begins + 1]], axis=1).astype(np.int64)
    return found[found[:, 1] > found[:, 0]]
