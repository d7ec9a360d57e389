# SPDX-License-Identifier: BSD-3-Clause
"""The error bar of each number of a what-if.

A bar is a factor times the sum of three parts:
- the model's error without any change,
- a share of the predicted difference,
- the chance difference of two boots with the same settings. This follows from counts: one more tick changes the state
  of a sleep of 4 ms; the number of wake-ups varies by about its square root; a CPU without wake-ups may have one.
Each kind of number has its own factor, fitted to held-out runs. benchmarks/what-if-validation says how often the bars
hold: each group of runs is judged by factors of the other groups.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from lull.energy.states import ACTIVE, IDLE
from lull.whatif.added import NEW_NAME

SHARE_OF_CHANGE = 0.1
"""The share of a predicted difference that may be wrong."""
SHARE_OF_UNSEEN = 0.5
"""The same share if a CPU enters a state that it never left in the run."""
OF_LATENCY, OF_CORES, OF_WORK, OF_L2 = 0.02, 0.002, 0.02, 0.002
"""Shares for chance: of a latency, of the joules of all CPUs, of the same for work (which may move to another CPU), and
of an L2's joules."""
OF_SUM = 0.3
"""The factor for sums over CPUs and states, in which errors partly cancel."""
FACTORS = {
    "latency": 2.4, "residency": 3.2, "off": 1.3, "entries": 6.2, "wake-ups": 6.2, "asleep": 3.9, "ways": 1.0,
    "active": 1.7, "sums": 3.1, "L2": 1.7, "cause": 6.2, "woken": 5.5,
}  # fmt: skip
"""The factors: each makes 95 of 100 numbers of its kind hold in the worst group of runs, and is at least 1. The
recordings `drags` and `drags-deeper`, each predicted from the other, are one group. `woken` is for the wake-ups of all
CPUs, as in a grid. The experiment's tables have wake-ups by CPU only, so a unit test judges this factor on their
sums."""
OF_FREE_CLOCKS = {"L2": 12.1}
"""Additional factors for a run whose clocks Linux may change (`schedutil`). A replay keeps the recorded clocks, but
another boot has others."""
OF_TURNS = {
    "latency": 88.0, "residency": 62.8, "off": 3.1, "entries": 28.2, "wake-ups": 9.2, "asleep": 24.3, "ways": 2.0,
    "active": 13.7, "sums": 2.8, "L2": 70.1, "cause": 1.9, "woken": 2.1,
}  # fmt: skip
"""Additional factors for a run whose CPUs wake each other. When two tasks take turns, a later wake-up delays all that
follow, and in another boot the tasks may be on other CPUs."""
TURNS = 0.25
"""CPUs wake each other if they cause at least this share of all wake-ups. Of the held-out runs, `pairs`, `pairs-fixed`,
`page` and `watch` have a third or more, all others a tenth at most."""


class Circumstances(NamedTuple):
    """Circumstances that make the answers of a recorded run less certain."""

    free_clocks: bool = False
    """True if Linux may change the clocks."""
    in_turns: bool = False
    """True if CPUs wake each other."""


BEST = Circumstances()


@dataclass(frozen=True)
class Scale:
    """The size of a run, from which the part for chance follows."""

    tick_s: float
    length_s: float
    cores_j: float
    """Joules of all CPUs."""
    wakes: dict[int, int]
    """Wake-ups of each CPU."""
    watts: dict[int, dict[str, float]]
    """Watts of each CPU in each state."""
    one_more: dict[int, float]
    """Joules of one entry and exit of each CPU's most expensive state. A CPU without wake-ups in the recorded run may
    have one in another boot."""
    circumstances: Circumstances = BEST


def kind(what: str, cpu: int, of: str) -> str:
    """Return the kind of a number. Each kind has its factor."""
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
    """Return a number's error bar. `fault` is the model's error without a change, `change` the uncertain part of the
    difference."""
    which = kind(what, cpu, of)
    return factor(which, scale.circumstances) * (fault + change + _chance(which, cpu, of, said, scale))


def chance(what: str, cpu: int, of: str, said: float, scale: Scale) -> float:
    """Return the part of a bar for chance between boots. The rest is systematic: repetitions do not make it smaller."""
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
    # Joules of a cause: they differ between wake-ups, and there may be a few more or fewer wake-ups.
    return chances.get(which, one_in * said + OF_CORES * scale.cores_j)
