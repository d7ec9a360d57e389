# SPDX-License-Identifier: BSD-3-Clause
"""A near-ideal governor, which knows how long each sleep will be: the column `ideal`.

It takes the deepest state that is worth its trip. From which length on a state is worth it is a number for each CPU and
state, its *limit*. The first limits follow from power, charges and the CPU's usual work. Then each limit is moved to
where the energy of the whole run is least, one after the other. So the account decides, which also has what a choice
changes later: the work that begins later, the caches that are still empty, the L2 that another CPU keeps on.

This is near the best of all choices, but not always the best one: two sleeps of one length get one state, although the
work before them may differ; a deep state is never chosen for a sleep so short that its entry is given up; and each tick
is let go that the kernel does not need. A test compares it with all choices on small traces.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lull.whatif import chain
from lull.whatif.chain import BY_HINDSIGHT, MAX_STATES
from lull.whatif.library import NEVER
from lull.whatif.settings import Setup
from lull.whatif.source import Replay
from lull.whatif.spent import ACTIVE, EXIT
from lull.whatif.watts import OFF, ON

CREDITS = (0.0, 0.25, 1.0)
"""Hindsight of one CPU does not know whether others sleep: the first limits count so much of what its cluster saves."""
TRIED = 9
"""Lengths that are tried as a limit, evenly over the CPU's sleeps; and that the state is never worth it."""
ROUNDS = 3
"""Over all limits, at most. The next round is for limits that another one's move has made wrong."""
LEAST = 1e-9
"""The share of the energy that moving a limit has to save."""

Limits = npt.NDArray[np.int64]
Wakes = npt.NDArray[np.void]


def least(source: Replay, machine: Setup) -> Wakes:
    """The wake-ups with the limits that spend the least energy."""
    firsts = [limits(source, machine, credit) for credit in CREDITS]
    best, wakes, now = min(((own, *_run(source, machine, own)) for own in firsts), key=lambda one: one[2])
    places = _allowed(source, machine)
    for _ in range(ROUNDS):
        before = now
        for place in places:
            for limit in _others(wakes, place):
                moved = best.copy()
                moved[place] = limit
                tried, joules = _run(source, machine, moved)
                if joules < now * (1 - LEAST):
                    best, wakes, now = moved, tried, joules
        if now == before:
            break
    return wakes


def _allowed(source: Replay, machine: Setup) -> list[int]:
    """The places of all limits of states that Linux may choose. The first of these states needs none."""
    found = []
    for cpu, own in source.states(machine).items():
        allowed = [number for number, state in enumerate(own) if not state.disabled]
        found += [cpu * MAX_STATES + number for number in allowed[1:] if cpu in source.chains.sleeps]
    return found


def _others(wakes: Wakes, place: int) -> Iterator[int]:
    """Limits to try for a CPU's state."""
    own = wakes[(wakes["cpu"] == place // MAX_STATES) & (wakes["state"] >= 0)]
    lengths = np.unique(own["woken"] - own["start"])
    yield NEVER
    if lengths.size:
        yield from np.unique(np.quantile(lengths, np.linspace(0, 1, TRIED), method="lower")).tolist()


def _run(source: Replay, machine: Setup, own: Limits) -> tuple[Wakes, float]:
    wakes = chain.run(source.chains_of(machine), machine.platform, BY_HINDSIGHT, own, source.deepest(machine))
    power, spent = source.power(machine), source.spending(machine, wakes)
    cores = sum(sum(joules.values()) for joules in spent.cores(power, source.spent).values())
    return wakes, cores + sum(spent.caches(power).values())


def limits(source: Replay, machine: Setup, credit: float) -> Limits:
    """The least sleep for which each state of each CPU is worth its trip after the CPU's usual work.

    `credit` is the share of what an L2 saves that is off, which a CPU in its cluster's sleep counts as its own. A state
    that is not allowed, or never worth it, has NEVER. The first state that is allowed is worth it for any
    sleep.
    """
    cpus = max(source.chains.sleeps) + 1
    ideal = np.full(cpus * MAX_STATES, NEVER, np.int64)
    told, power_of, chains = source.states(machine), source.power(machine), source.chains_of(machine)
    for (members, cluster), charges in zip(machine.platform.cpu_ranges(), source.charges(machine), strict=True):
        for cpu, usually in chains.ways_out(members, cluster).items():
            power, worked = power_of.of(cpu), float(np.median(source.chains.sleeps[cpu]["work"]))
            way = power.get(EXIT, power.get(ACTIVE, 0.0))
            costs: list[tuple[float, float]] = []
            for number, state in enumerate(cluster.cstates):
                if told[cpu][number].disabled:
                    continue
                actual = state.actual
                trip = 1000 * (actual.entry_us + actual.exit_us + actual.flush_us + actual.refill_us) + usually[number]
                rest = power.get(state.name, 0.0)
                if state.kind == "cluster-off":
                    rest -= credit * (power_of.clusters[cluster.name][ON] - power_of.clusters[cluster.name][OFF])
                lost = charges[number].of_core(worked) + credit * charges[number].of_cluster(worked)
                fixed = (way - rest) * trip + 1e9 * lost
                worth = [(fixed - other) / (base - rest) for other, base in costs if base > rest]
                if not costs:
                    ideal[cpu * MAX_STATES + number] = -NEVER
                elif worth:
                    ideal[cpu * MAX_STATES + number] = min(max(round(max(worth)), round(trip)), NEVER)
                costs.append((fixed, rest))
    return ideal
