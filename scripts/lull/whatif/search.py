# SPDX-License-Identifier: BSD-3-Clause
"""Searches the settings that spend the least energy within a bound: first a coarse grid, then single numbers.

The grid is each governor with each combination of residencies. Then, from the best point of each governor on, the
advertised numbers of one state at a time, or the parameters of haltpoll, are changed. The best change is kept, and the
next round begins there, until no change saves energy. So latencies need no grid of all combinations.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

RESIDENCY, LATENCY = "residency", "latency"
"""Advertised numbers of a state. Latency is entry and exit with one factor, because Linux uses only their sum."""
FACTORS = (0.25, 0.5, 1, 2, 4)
FINER = (0.71, 1.41)
"""Factors on the residency of the best point so far: half of a step."""
ROUNDS = 8
LEAST = 1e-9
"""The smallest saving for which a change is kept, as a share of the energy."""

ALIKE = 1e-4
"""Two answers count as one if energy and p99 differ at most by this share. A change that saves less is dropped."""

Number = tuple[str, str]
"""A state, and RESIDENCY or LATENCY."""
Outcome = tuple[float, float]
"""Joules, and the p99 in microseconds."""
Ask = Callable[[Sequence["Candidate"]], Mapping["Candidate", Outcome]]
"""Returns the outcomes of candidates. A candidate that no platform file may have has none."""


@dataclass(frozen=True)
class Candidate:
    governor: str
    factors: tuple[tuple[Number, float], ...] = ()
    """The factors, in a fixed order. Numbers that stay as recorded have none."""
    own: tuple[str, ...] = ()
    """Parameters of haltpoll."""

    def factor(self, number: Number) -> float:
        return dict(self.factors).get(number, 1)

    def scaled(self, *changes: tuple[Number, float]) -> "Candidate":
        """Return the candidate with other factors on some numbers."""
        now = {**dict(self.factors), **dict(changes)}
        return replace(self, factors=tuple(sorted((one, by) for one, by in now.items() if by != 1)))


class Matter(NamedTuple):
    """The effect of one number of the best answer, if all others stay."""

    number: str
    best: str
    """Its value in the best answer."""
    recorded: Outcome | None
    """The outcome with this number as recorded; None if it is as recorded, or if no platform file may have that."""
    energy_j: tuple[float, float]
    """The least and the most energy over all values that were tried."""
    latency_p99_us: tuple[float, float]

    def row(self) -> dict[str, str | float | None]:
        """Return the row of a data frame."""
        joules, late = self.recorded or (None, None)
        return {
            "number": self.number, "best": self.best, "energy_j": joules, "latency_p99_us": late,
            "energy_j_least": self.energy_j[0], "energy_j_most": self.energy_j[1],
            "latency_p99_us_least": self.latency_p99_us[0], "latency_p99_us_most": self.latency_p99_us[1],
        }  # fmt: skip


@dataclass(frozen=True)
class Space:
    """The settings that a search may choose."""

    governors: Sequence[str]
    states: Sequence[str]
    of_haltpoll: Sequence[tuple[str, ...]]
    recorded: Candidate

    @property
    def numbers(self) -> list[Number]:
        return [(state, what) for state in self.states for what in (RESIDENCY, LATENCY)]

    def owns(self, governor: str) -> Sequence[tuple[str, ...]]:
        """Return the combinations of a governor's parameters. menu and teo have none."""
        return self.of_haltpoll if governor == "haltpoll" else ((),)

    def grid(self) -> Iterator[Candidate]:
        """Yield the candidates of the coarse grid, the recorded settings first."""
        yield self.recorded
        residencies = [(state, RESIDENCY) for state in self.states]
        for governor, factors in product(self.governors, product(FACTORS, repeat=len(residencies))):
            one = Candidate(governor).scaled(*zip(residencies, factors, strict=True))
            for own in self.owns(governor):
                if (point := replace(one, own=own)) != self.recorded:
                    yield point

    def around(self, one: Candidate) -> Iterator[Candidate]:
        """Yield candidates that change one state's numbers, or the governor's parameters."""
        for state in self.states:
            now = one.factor((state, RESIDENCY))
            for told in (*FACTORS, *(round(now * step, 4) for step in FINER)):
                for late in FACTORS:
                    yield one.scaled(((state, RESIDENCY), told), ((state, LATENCY), late))
        for own in self.owns(one.governor):
            yield replace(one, own=own)


def within(found: Mapping[Candidate, Outcome], bound_us: float) -> list[Candidate]:
    """Return the candidates within the bound, the best first. If two are equal, the one with fewer changes is first."""
    good = [one for one, (_, late) in found.items() if late <= bound_us]
    return sorted(good, key=lambda one: (found[one][0], len(one.factors) + len(one.own)))


def descend(space: Space, ask: Ask, bound_us: float) -> dict[Candidate, Outcome]:
    """Search, and return all candidates that were tried with their outcomes."""
    found = dict(ask(list(space.grid())))
    best = {}
    for governor in space.governors:
        own = [one for one in found if one.governor == governor]
        if own:
            best[governor] = min(own, key=lambda one: _worth(found[one], bound_us))
    moving = set(best)
    for _ in range(ROUNDS):
        near = {governor: dict.fromkeys(space.around(best[governor])) for governor in sorted(moving)}
        found |= ask([one for own in near.values() for one in own if one not in found])
        moving = set()
        for governor, tried in near.items():
            first = min(
                (one for one in tried if one in found), key=lambda one: (_worth(found[one], bound_us), str(one))
            )
            if _is_better(found[first], found[best[governor]], bound_us):
                best[governor] = first
                moving.add(governor)
        if not moving:
            break
    return found


def answers(found: Mapping[Candidate, Outcome], ask: Ask, bound_us: float, most: int) -> list[Candidate]:
    """Return the best candidates within the bound, without changes that save nothing, and without alike ones."""
    listed: dict[Candidate, Outcome] = {}
    for one in within(found, bound_us):
        if len(listed) == most:
            break
        if not any(_are_alike(found[one], other) for other in listed.values()):
            plain, outcome = _plain(one, found[one], ask, bound_us)
            listed[plain] = outcome
    return list(listed)


def _plain(one: Candidate, outcome: Outcome, ask: Ask, bound_us: float) -> tuple[Candidate, Outcome]:
    most_j = outcome[0] * (1 + ALIKE)
    for number, _ in one.factors:
        back = one.scaled((number, 1))
        joules, late = ask([back]).get(back, (math.inf, math.inf))
        if joules <= most_j and late <= bound_us:
            one, outcome = back, (joules, late)
    return one, outcome


def _are_alike(one: Outcome, other: Outcome) -> bool:
    return all(math.isclose(mine, its, rel_tol=ALIKE) for mine, its in zip(one, other, strict=True))


def matters(space: Space, ask: Ask, best: Candidate) -> list[Matter]:
    """Return the effect of each number of a candidate, and of its governor."""
    ways: list[tuple[str, str, Candidate, list[Candidate]]] = []
    governors = [best if name == best.governor else Candidate(name, best.factors) for name in space.governors]
    back = best if best.governor == space.recorded.governor else Candidate(space.recorded.governor, best.factors)
    ways.append(("governor", best.governor, back, governors))
    for number in space.numbers:
        state, what = number
        own = [best.scaled((number, factor)) for factor in FACTORS]
        ways.append((f"{state} {what}", f"x {best.factor(number):g}", best.scaled((number, 1)), own))
    for key in dict.fromkeys(_key(word) for own in space.owns(best.governor) for word in own):
        others = [word for word in best.own if _key(word) != key]
        alike = [own for own in space.owns(best.governor) if [word for word in own if _key(word) != key] == others]
        mine = next((word.partition("=")[2] for word in best.own if _key(word) == key), "the kernel's")
        ways.append((key, mine, replace(best, own=tuple(others)), [replace(best, own=own) for own in alike]))
    found = ask([one for _, _, back, own in ways for one in (best, back, *own)])
    return [
        Matter(name, value, found.get(back) if back != best else None, *_spans(found, [best, *own]))
        for name, value, back, own in ways
    ]


def _key(word: str) -> str:
    return word.partition("=")[0]


def _spans(
    found: Mapping[Candidate, Outcome], tried: Sequence[Candidate]
) -> tuple[tuple[float, float], tuple[float, float]]:
    joules, late = zip(*(found[one] for one in tried if one in found), strict=True)
    return (min(joules), max(joules)), (min(late), max(late))


def _worth(outcome: Outcome, bound_us: float) -> tuple[bool, float]:
    """Return a sort key, the smallest of which is best: energy within the bound, or else the p99."""
    joules, late = outcome
    return (False, joules) if late <= bound_us else (True, late)


def _is_better(one: Outcome, other: Outcome, bound_us: float) -> bool:
    mine, its = _worth(one, bound_us), _worth(other, bound_us)
    return mine[0] < its[0] or (mine[0] == its[0] and mine[1] < its[1] * (1 - LEAST))
