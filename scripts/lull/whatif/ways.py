# SPDX-License-Identifier: BSD-3-Clause
"""Exits from idle states: the hardware's part of each, and the usual time of the software's part."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lull.platform.cstates import StateKind
from lull.platform.schema import Cluster


class Usual(NamedTuple):
    """Medians over one CPU's recorded sleeps in a state; None for a state that was never left."""

    software: int | None
    given_up: int | None
    many: int
    """The number of sleeps for the median `software`."""


NEVER_LEFT = Usual(None, None, 0)
TYPICAL_NS: dict[StateKind, int] = {"wfi": 600, "retention": 4_500, "core-off": 44_000, "cluster-off": 51_000}
"""The software's exit times on the rk3399's A53 at 1416 MHz, in `what-if-validation`. On other cores, all four differ
by about the same factor. For example, an A15 at 2116 MHz takes 0.3, 2.6, 25 and 31 us, and an A53 at 850 MHz takes
1.1, 6.1, 58 and 66 us."""
MOST = 3.0
"""The largest factor; its reciprocal is the smallest. The limit is needed because a single sleep in C1 says little."""
_KINDS = tuple(TYPICAL_NS)


def usually_ns(kinds: Sequence[StateKind], cluster: Mapping[int, Sequence[Usual]]) -> dict[int, list[int]]:
    """Return the software's usual exit time of each state, for each CPU of a cluster.

    If a CPU never left a state, the cluster's other CPUs are used. If none of them left the state, their nearest state
    in depth is used, scaled by TYPICAL_NS. `cluster` has the recorded exits of each CPU.
    """
    pooled = {state: _pooled([one[state] for one in cluster.values()]) for state in range(len(kinds))}
    left = {state: ns for state, ns in pooled.items() if ns is not None}

    def guess(kind: StateKind) -> int:
        if not left:
            return TYPICAL_NS[kind]
        near = min(left, key=lambda other: (abs(_KINDS.index(kinds[other]) - _KINDS.index(kind)), -other))
        factor = left[near] / TYPICAL_NS[kinds[near]]
        return round(min(max(factor, 1 / MOST), MOST) * TYPICAL_NS[kind])

    guesses = [guess(kind) for kind in kinds]
    return {
        cpu: [guessed if one.software is None else one.software for one, guessed in zip(own, guesses, strict=True)]
        for cpu, own in cluster.items()
    }


def _pooled(ways: Sequence[Usual]) -> int | None:
    """Return the median of several CPUs' medians, weighted by their numbers of sleeps."""
    left = sorted((ns, one.many) for one in ways if (ns := one.software) is not None)
    middle = sum(many for _, many in left) // 2
    for ns, many in left:
        if middle < many:
            return ns
        middle -= many
    return None


def usual(
    sleeps: npt.NDArray[np.void], told: npt.NDArray[np.bool_], hardware: npt.NDArray[np.int64], states: int
) -> list[Usual]:
    """Return the medians over one CPU's recorded sleeps, for each state.

    `told` is true if an event tells when the interrupt came. `hardware` is the model's part of the exit. A sleep whose
    whole exit is shorter than this is not used for the software's part.
    """
    software, found = sleeps["end"] - sleeps["woken"] - hardware, []
    for state in range(states):
        mine = sleeps["state"] == state
        telling = mine & told & (software > 0)
        short = sleeps["length"][mine & (sleeps["refused"] == 1)]
        found.append(Usual(_median(software[telling]), _median(short), int(telling.sum())))
    return found


def _median(values: npt.NDArray[np.int64]) -> int | None:
    return int(np.median(values)) if values.size else None


def divide(
    sleeps: npt.NDArray[np.void],
    told: npt.NDArray[np.bool_],
    ended: npt.NDArray[np.bool_],
    hardware: npt.NDArray[np.int64],
    wholes: npt.NDArray[np.int64],
    usual: npt.NDArray[np.int64],
) -> bool:
    """Write the software's part of each exit of one CPU.

    If no event tells when the interrupt came, the software's usual time is assumed. Return true if the time of such an
    interrupt changed. `wholes` and `usual` are each state's longest exit of the hardware, and usual software part.
    """
    usually, whole = usual[sleeps["state"]], wholes[sleeps["state"]]
    guessed = ~told & (sleeps["refused"] == 0) & ended
    woken = np.maximum(sleeps["end"] - sleeps["length"], sleeps["end"] - hardware - usually)
    moved = bool((guessed & (woken != sleeps["woken"])).any())
    sleeps["woken"] = np.where(guessed, woken, sleeps["woken"])
    late = sleeps["end"] - sleeps["woken"]
    hardware = np.where(told & _was_whole(late, hardware, whole, usually), whole, hardware)
    sleeps["software"] = np.where(ended, np.maximum(0, late - hardware), 0)
    return moved


def whole_ns(cluster: Cluster) -> npt.NDArray[np.int64]:
    """Return the hardware's longest exit time of each state."""
    return np.array([1000 * (one.actual.exit_us + one.actual.refill_us) for one in cluster.cstates]).astype(np.int64)


def _was_whole(
    late: npt.NDArray[np.int64],
    hardware: npt.NDArray[np.int64],
    wholes: npt.NDArray[np.int64],
    usually: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Return for each exit whether the hardware took its longest time: the software's part is then nearer to its usual
    time.

    A trace does not tell whether another CPU kept the cluster on for some microseconds. If one did, the caches were
    full at the next sleep, but the model has them partly empty.
    """
    found: npt.NDArray[np.bool_] = (late >= wholes) & (
        np.abs(late - wholes - usually) < np.abs(late - hardware - usually)
    )
    return found
