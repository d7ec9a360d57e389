# SPDX-License-Identifier: BSD-3-Clause
"""A grid of points around a recorded run, for interpolation without a replay.

The grid has each combination of residencies with each governor. Nothing is interpolated between these, because a
governor's choices jump with residencies. At each of these points, the exit latency of one state after the other is
varied. The effects of several changed exits are added, because a later exit changes little else. The error of this is
measured at random points, which are replayed. Power needs no grid: no governor uses it, so the joules of a state are
proportional to its power.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lull.artifacts.governors import NAMES
from lull.errors import UserError
from lull.host.progress import Progress
from lull.platform.cstates import STATE_NAMES
from lull.whatif import bars, grid, prediction
from lull.whatif.prediction import ALL
from lull.whatif.settings import Setup
from lull.whatif.source import Replay

EXITS = (0.2, 1.0, 2.5, 5.0)
RESIDENCIES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Factors on the recorded residencies. A combination that no platform file may have is left out."""
HELD_OUT = 240
"""The number of random points that judge the interpolation, over all governors."""
WITHIN = 0.95
_DEPTHS = tuple(STATE_NAMES.values())
_JOULES = prediction.TOTALS["energy_j"]

Combination = tuple[float, ...]
Trial = tuple[str, Combination, tuple[float, ...]]
"""A governor, factors of residencies, and factors of exit latencies."""
Numbers = npt.NDArray[np.float64]


class Varied(NamedTuple):
    """A state whose numbers are varied, with its recorded numbers in each cluster."""

    name: str
    exit_us: dict[str, float]
    residency_us: dict[str, int]


class Off(NamedTuple):
    """The error of the interpolation as a share of the number: of 95 of 100 held-out points, and of the worst one."""

    usual: float
    worst: float


@dataclass(frozen=True)
class Surface:
    states: tuple[Varied, ...]
    measures: tuple[str, ...]
    """The numbers of a point: joules of each idle state, joules of everything else, p99, wake-ups, residencies, whether
    there is a state that the run never left, and guessed joules of ticks."""
    combinations: tuple[Combination, ...]
    """Factors of the residencies of `states`."""
    table: Numbers
    """The numbers by governor, combination, exit and measure. The exits are: all as recorded, then for each state each
    of EXITS except 1."""
    recorded: Numbers
    governor: str
    off: dict[str, dict[str, Off]]
    """The errors of the joules and of the p99, by governor."""
    bars: dict[str, tuple[float, float, float, float, float]]
    """The error bars of the joules and of the p99: a constant, the share of the number, the share of the change
    (without and with a state that the run never left), and the share of guessed joules of ticks."""
    points: int
    seconds: float

    def at(self, governor: str, residencies: Combination, exits: Sequence[float]) -> Numbers:
        """Return the numbers at a combination of the grid, with any exit latencies inside the range of the grid."""
        own = self.table[NAMES.index(governor), self.combinations.index(residencies)]
        found: Numbers = own[0].copy()
        for number, factor in enumerate(exits):
            first = 1 + number * (len(EXITS) - 1)
            others = own[first : first + len(EXITS) - 1]
            nodes = np.insert(others, EXITS.index(1.0), own[0], axis=0)
            place = min(max(int(np.searchsorted(EXITS, factor, side="right")) - 1, 0), len(EXITS) - 2)
            share = (factor - EXITS[place]) / (EXITS[place + 1] - EXITS[place])
            found += (1 - share) * nodes[place] + share * nodes[place + 1] - own[0]
        return found


def of_run(source: Replay, progress: Progress | None = None) -> Surface:
    states = tuple(_varied(source))
    if not states:
        raise UserError(f"{source.path}: no idle state but C1 was allowed; record a run with a deeper one")
    combinations = tuple(_combinations(source, states))
    exits = [(1.0,) * len(states)]
    for number in range(len(states)):
        exits += [
            tuple(factor if at == number else 1.0 for at in range(len(states))) for factor in EXITS if factor != 1
        ]
    points = list(product(NAMES, combinations, exits))
    trials = list(_random(states, combinations))
    if progress is not None:
        progress.total = len(points) + len(trials)
    found = np.array(
        grid.each(source, [words(source, states, *point) for point in (*points, *trials)], numbers, progress)
    )
    recorded = _recorded(source)
    measures = names(source)
    table = found[: len(points)].reshape(len(NAMES), len(combinations), len(exits), len(measures))
    length = (source.chains.last - source.chains.first) / 1e9
    plain = Surface(
        states, measures, combinations, table, recorded, source.machine.governor, {}, _bars(source), len(found), length
    )  # fmt: skip
    return replace(plain, off=_off(plain, trials, found[len(points) :]))


def names(source: Replay) -> tuple[str, ...]:
    idle = _idle(source)
    plain = ("other J", "p99 us", "wake-ups", *(f"{name} %" for name in idle), "unseen", "guess")
    return (*(f"{name} J" for name in idle), *plain)


def numbers(source: Replay, machine: Setup) -> list[float]:
    """Return a point's numbers, in the order of `names`. Residencies are means over the CPUs."""
    wakes, idle = source.wakes(machine), _idle(source)
    times, power = source.spending(machine, wakes), source.power(machine)
    cores = times.cores(power, source.spent)
    by_state = {name: sum(own.get(name, 0.0) for own in cores.values()) for name in idle}
    whole = sum(sum(own.values()) for own in cores.values()) + sum(times.caches(power).values())
    rests = [
        100 * sum(own.get(name, 0.0) for own in times.slept.values()) / (times.length * len(times.slept))
        for name in idle
    ]
    return [
        *by_state.values(), whole - sum(by_state.values()), prediction.p99_us(source, machine, wakes),
        float(source.chains.woken(wakes).size), *rests,
        float(bool(prediction.unseen(source, machine, wakes))), prediction.guessed(source, machine, wakes)[_JOULES],
    ]  # fmt: skip


def words(
    source: Replay, states: Sequence[Varied], governor: str, residencies: Combination, exits: Sequence[float]
) -> tuple[str, ...]:
    """Return the settings of a point. The exit latency is the actual one, the residency the advertised one."""
    found = [f"governor={governor}"]
    for state, told, left in zip(states, residencies, exits, strict=True):
        for cluster, key in _homes(source).items():
            if cluster in state.exit_us and left != 1:
                found.append(f"{key}.cstates.{state.name}.actual.exit_us={left * state.exit_us[cluster]:.6g}")
            if cluster in state.exit_us and told != 1:
                value = round(told * state.residency_us[cluster])
                found.append(f"{key}.cstates.{state.name}.advertised.residency_us={value}")
    return tuple(found)


def _homes(source: Replay) -> dict[str, str]:
    """Return the key of each cluster of the machine."""
    platform = source.machine.platform
    own = {cluster.name: f"clusters.{cluster.name}" for cluster in platform.clusters}
    return own | ({platform.shadow.cluster.name: "shadow.cluster"} if platform.shadow.enabled else {})


def _idle(source: Replay) -> tuple[str, ...]:
    return _DEPTHS[: 1 + max(_DEPTHS.index(name) for name in source.machine.deepest.values())]


def _varied(source: Replay) -> Iterator[Varied]:
    for name in _idle(source)[1:]:
        exits, told = {}, {}
        for cluster in source.machine.platform.resolved_clusters():
            for state in cluster.cstates:
                if state.name == name:
                    exits[cluster.name], told[cluster.name] = state.actual.exit_us, state.advertised.residency_us
        if exits:
            yield Varied(name, exits, told)


def _combinations(source: Replay, states: Sequence[Varied]) -> Iterator[Combination]:
    for residencies in product(RESIDENCIES, repeat=len(states)):
        try:
            source.machine.changed(words(source, states, NAMES[0], residencies, (1.0,) * len(states)))
        except UserError:
            continue
        yield residencies


def _random(states: Sequence[Varied], combinations: Sequence[Combination]) -> Iterator[Trial]:
    """Yield random points with all exits changed, evenly over the logarithms of the factors."""
    draw = np.random.default_rng(1)
    for number in range(HELD_OUT):
        exits = np.exp(draw.uniform(math.log(EXITS[0]), math.log(EXITS[-1]), len(states)))
        yield NAMES[number % len(NAMES)], combinations[int(draw.integers(len(combinations)))], tuple(exits.tolist())


def _recorded(source: Replay) -> Numbers:
    """Return the run's own numbers: p99 and residencies from the trace, energy with the recorded choices."""
    own = dict(zip(names(source), _of_choices(source), strict=True))
    truth = prediction.of_trace(source)
    own["p99 us"] = truth["latency", ALL, "p99"]
    for name in _idle(source):
        rests = [truth.get(("residency", cpu, name), 0.0) for cpu in source.cpus]
        own[f"{name} %"] = sum(rests) / len(rests)
    return np.array(list(own.values()))


def _of_choices(source: Replay) -> list[float]:
    wakes = source.as_recorded
    times = source.spending(source.machine, wakes)
    cores = times.cores(source.watts, source.spent)
    by_state = [sum(own.get(name, 0.0) for own in cores.values()) for name in _idle(source)]
    whole = sum(sum(own.values()) for own in cores.values()) + sum(times.caches(source.watts).values())
    many = float(source.chains.woken(wakes).size)
    return [*by_state, whole - sum(by_state), 0.0, many, *(0.0 for _ in _idle(source)), 0.0, 0.0]


def _bars(source: Replay) -> dict[str, tuple[float, float, float, float, float]]:
    found = {}
    wakes = source.wakes(source.machine)
    guess = prediction.guessed(source, source.machine, wakes)[_JOULES]
    for row in prediction.rows(source, source.machine):
        name = {("energy", "all"): "joules", ("latency", "p99"): "p99"}.get((row.what, row.of))
        if row.cpu == ALL and name is not None:
            factor = bars.factor(bars.kind(row.what, row.cpu, row.of), source.circumstances)
            share = factor * bars.OF_LATENCY if name == "p99" else 0.0
            of_guess = factor * bars.SHARE_OF_UNSEEN if name == "joules" else 0.0
            always = max(0.0, row.error - share * row.predicted - of_guess * guess)
            of_change = (factor * bars.SHARE_OF_CHANGE, factor * bars.SHARE_OF_UNSEEN)
            found[name] = (always, share, *of_change, of_guess)
    return found


def _off(surface: Surface, trials: Sequence[Trial], truth: Numbers) -> dict[str, dict[str, Off]]:
    found: dict[str, dict[str, Off]] = {}
    joules = [at for at, name in enumerate(surface.measures) if name.endswith(" J")]
    p99 = surface.measures.index("p99 us")
    for governor in NAMES:
        own = [(surface.at(*trial), true) for trial, true in zip(trials, truth, strict=True) if trial[0] == governor]
        by_measure = {
            "joules": [abs(said[joules].sum() / true[joules].sum() - 1) for said, true in own],
            "p99": [abs(said[p99] / true[p99] - 1) for said, true in own if true[p99]],
        }
        found[governor] = {
            name: Off(float(np.quantile(off, WITHIN)), float(np.max(off))) for name, off in by_measure.items() if off
        }
    return found
