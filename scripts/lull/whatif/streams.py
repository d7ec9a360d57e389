# SPDX-License-Identifier: BSD-3-Clause
"""Divides the sleeps of a CPU into streams: one for each drifting timer that ends sleeps, and one for all others."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lull.whatif.sleeps import Columns

STREAMS = 9
"""The streams of a CPU: sleeps that no drifting timer ends, and those of up to eight such timers."""


class Streams(NamedTuple):
    """For each sleep of a CPU: its stream, the sleep after which its timer was set, and the next sleep of its stream.
    Also the first sleep of each stream."""

    stream: npt.NDArray[np.int8]
    set_after: npt.NDArray[np.int32]
    following: npt.NDArray[np.int32]
    heads: list[int]


def of_sleeps(own: Columns) -> Streams:
    """Return the streams of a CPU's sleeps. Drifting timers beyond the first eight, and one that was set before the
    first sleep, are treated as fixed."""
    count, starts, set_at = len(own), own["start"], own["set_at"]
    found = Streams(
        np.zeros(count, np.int8), np.full(count, -1, np.int32), np.full(count, count, np.int32), [count] * STREAMS
    )
    places = np.searchsorted(starts, set_at)
    drifting = np.flatnonzero(places < np.arange(count))
    drifting = drifting[starts[places[drifting]] == set_at[drifting]]
    timers, firsts = np.unique(own["set_by"][drifting], return_index=True)
    for number, timer in enumerate(timers[np.argsort(firsts)][: STREAMS - 1].tolist(), 1):
        mine = drifting[own["set_by"][drifting] == timer]
        found.stream[mine], found.set_after[mine] = number, places[mine]
    for number in range(STREAMS):
        mine = np.flatnonzero(found.stream == number)
        found.following[mine[:-1]] = mine[1:]
        found.heads[number] = int(mine[0]) if mine.size else count
    return found
