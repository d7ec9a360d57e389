# SPDX-License-Identifier: BSD-3-Clause
"""The error bar of each number of a what-if.

A bar adds up what the model is off by without any change, a share of the predicted difference, and what two boots with
the same settings may differ by. The third follows from counts: one more tick is a sleep of 4 ms in another state; of so
many wake-ups about the root more or less come; and a CPU that had none may have one. Each kind of number has a factor
on this sum, from runs that were held out: benchmarks/what-if-validation says how often the bars hold, each group of
runs by the factors of the others.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from lull.energy.states import ACTIVE, IDLE
from lull.whatif.added import NEW_NAME

SHARE_OF_CHANGE = 0.1
"""The part of a predicted difference that may be wrong."""
SHARE_OF_UNSEEN = 0.5
"""The same where a CPU enters a state that the run never left on it."""
OF_LATENCY, OF_CORES, OF_WORK, OF_L2 = 0.02, 0.002, 0.02, 0.002
"""Chance: shares of a latency, of the joules of all CPUs, of the same for work, which may be another CPU's, and of an
L2's joules."""
OF_SUM = 0.3
"""Of many CPUs and states the errors partly cancel."""
FACTORS = {
    "latency": 2.4, "residency": 3.2, "off": 1.3, "entries": 6.2, "wake-ups": 6.2, "asleep": 3.9, "ways": 1.0,
    "active": 1.7, "sums": 3.1, "L2": 1.7, "cause": 6.2, "woken": 5.5,
}  # fmt: skip
"""What 95 of 100 numbers of a kind need in the group of runs that needs most, and 1 at least. The recordings `drags`
and `drags-deeper`, one asked of the other, are a group, too. `woken` is for the wake-ups of all CPUs, which a grid
tells. The experiment's tables have wake-ups by CPU, so that this factor is judged by a unit test, on their sums."""
OF_FREE_CLOCKS = {"L2": 12.1}
"""How many times as wide a bar is of a run whose clocks Linux may change (`schedutil`). A replay keeps the recorded
clocks, and another boot has others."""
OF_TURNS = {
    "latency": 88.0, "residency": 62.8, "off": 3.1, "entries": 28.2, "wake-ups": 9.2, "asleep": 24.3, "ways": 2.0,
    "active": 13.7, "sums": 2.8, "L2": 70.1, "cause": 1.9, "woken": 2.1,
}  # fmt: skip
"""The same of a run whose CPUs wake each other. When two tasks take turns, a wake-up that comes later moves all that
follow, and another boot may have the tasks on other CPUs."""
TURNS = 0.25
"""CPUs wake each other if they cause so large a share of all wake-ups. Of the held-out runs, those of `pairs`,
`pairs-fixed`, `page` and `watch` have a third or more, and all others a tenth at most."""


class Circumstances(NamedTuple):
    """What makes the answers of a recorded run less certain."""

    free_clocks: bool = False
    """Linux may change the clocks."""
    in_turns: bool = False
    """CPUs wake each other."""


BEST = Circumstances()


@dataclass(frozen=True)
class Scale:
    """How large a run is beside chance."""

    tick_s: float
    length_s: float
    cores_j: float
    """Of all CPUs."""
    wakes: dict[int, int]
    """Of each CPU."""
    watts: dict[int, dict[str, float]]
    """Of each CPU and state."""
    one_more: dict[int, float]
    """Joules of each CPU's ways into and out of its dearest state, once. A CPU that did not wake up in the recorded run
    may do so in another boot."""
    circumstances: Circumstances = BEST


def kind(what: str, cpu: int, of: str) -> str:
    """Numbers of one kind have one factor."""
    if what == "residency":
        return "off" if cpu < 0 else "residency"
    if what == "wake-ups" and cpu < 0:
        return "woken"
    if what != "energy":
        return what
    if of.startswith("L2"):
        return "L2"
    if cpu < 0:
        return "sums"
    return "asleep" if of in IDLE or NEW_NAME.fullmatch(of) else "active" if of == ACTIVE else "ways"


def factor(kind: str, of: Circumstances) -> float:
    wider = [1.0]
    wider += [OF_FREE_CLOCKS.get(kind, 1.0)] if of.free_clocks else []
    wider += [OF_TURNS.get(kind, 1.0)] if of.in_turns else []
    return FACTORS[kind] * max(wider)


def bar(what: str, cpu: int, of: str, said: float, fault: float, change: float, scale: Scale) -> float:
    """`fault` is what the model is off by without a change, `change` the part of the difference that may be wrong."""
    which = kind(what, cpu, of)
    return factor(which, scale.circumstances) * (fault + change + _chance(which, cpu, of, said, scale))


def chance(what: str, cpu: int, of: str, said: float, scale: Scale) -> float:
    """The part of a bar that is for chance between boots. The rest is systematic: no number of repetitions makes it
    smaller."""
    which = kind(what, cpu, of)
    return factor(which, scale.circumstances) * _chance(which, cpu, of, said, scale)


def _chance(which: str, cpu: int, of: str, said: float, scale: Scale) -> float:
    one_in = 1 / math.sqrt(max(1, scale.wakes.get(cpu, 0) if cpu >= 0 else sum(scale.wakes.values())))
    chances = {
        "latency": OF_LATENCY * said,
        "residency": 100 * scale.tick_s / scale.length_s,
        "off": 100 * scale.tick_s / scale.length_s,
        "entries": math.sqrt(max(1.0, said)),
        "wake-ups": math.sqrt(max(1.0, said)),
        "woken": math.sqrt(max(1.0, said)),
        "asleep": scale.tick_s * scale.watts.get(cpu, {}).get(of, 0.0),
        "L2": OF_L2 * said,
        "active": one_in * said + OF_WORK * scale.cores_j,
        "sums": (OF_SUM * one_in + OF_CORES) * scale.cores_j + max(scale.one_more.values(), default=0.0),
        "ways": max(one_in * said, scale.one_more.get(cpu, 0.0)) + OF_CORES * scale.cores_j,
    }
    # Of the joules of a cause: each wake-up's differ, and there may be some more or less.
    return chances.get(which, one_in * said + OF_CORES * scale.cores_j)
