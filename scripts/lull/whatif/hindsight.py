# SPDX-License-Identifier: BSD-3-Clause
"""A near-ideal governor, which knows the length of each sleep (the column `ideal`).

It chooses the deepest state that is worth its trip. A state of a CPU is worth it from a certain length of sleep on, its
*limit*. The first limits follow from power, charges and the CPU's usual work. Then each limit in turn is moved to the
value with the least energy of the whole run. This energy includes later effects of a choice: work that begins later,
caches that are still empty, an L2 that another CPU keeps on.

The result is near the optimum, but not always optimal, for three reasons. Sleeps of the same length get the same state,
although the work before them may differ. A deep state is never chosen for a sleep so short that its entry is given up.
Each tick that the kernel does not need is stopped. A test compares the result with all choices on small traces.
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
"""The first limits count these shares of the cluster's savings, because a CPU does not know whether others sleep."""
TRIED = 9
"""The number of lengths that are tried as a limit, evenly over the CPU's sleeps. NEVER is tried, too."""
ROUNDS = 3
"""The most rounds over all limits. A limit may need another round after other limits have moved."""
LEAST = 1e-9
"""The smallest saving for which a limit is moved, as a share of the energy."""

Limits = npt.NDArray[np.int64]
Wakes = npt.NDArray[np.void]


def least(source: Replay, machine: Setup) -> Wakes:
    """Return the wake-ups with the limits that spend the least energy."""
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
    """Return the indices of all limits of states that Linux may choose, except of the lightest one."""
    found = []
    for cpu, own in source.states(machine).items():
        allowed = [number for number, state in enumerate(own) if not state.disabled]
        found += [cpu * MAX_STATES + number for number in allowed[1:] if cpu in source.chains.sleeps]
    return found


def _others(wakes: Wakes, place: int) -> Iterator[int]:
    """Yield limits to try for a CPU's state."""
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
    """Return the shortest sleep for which each state of each CPU is worth its trip, after the CPU's usual work.

    `credit` is the share of the L2's saving while off that counts for a CPU. The limit is NEVER for a state that is not
    allowed, or never worth it. The first allowed state is worth it for any sleep.
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
