# SPDX-License-Identifier: BSD-3-Clause
"""The time that wake-ups of a model leave in each state of each CPU, and what that time costs."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lull.whatif.settings import Setup
from lull.whatif.source import Replay
from lull.whatif.watts import OFF, ON, Watts

ACTIVE, ENTRY, SWITCH, EXIT = "active", "entry", "switch", "exit"


@dataclass(frozen=True)
class Spending:
    """Nanoseconds of each CPU: `times` by what it did, `slept` by the state it had chosen."""

    times: dict[int, dict[str, float]]
    slept: dict[int, dict[str, float]]
    entries: dict[int, dict[str, float]]
    off: dict[str, float]
    """Of each cluster's L2."""
    length: int

    def cores(self, power: Watts) -> dict[int, dict[str, float]]:
        """Joules of each CPU by what it did."""
        found = {}
        for cpu, times in self.times.items():
            own = power.of(cpu)
            found[cpu] = {what: own.get(what, own.get(ACTIVE, 0.0)) * time / 1e9 for what, time in times.items()}
        return found

    def caches(self, power: Watts) -> dict[str, float]:
        """Joules of each cluster's L2."""
        return {
            name: (power.clusters[name][ON] * (self.length - off) + power.clusters[name][OFF] * off) / 1e9
            for name, off in self.off.items()
        }


def of_wakes(source: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> Spending:
    """All CPUs at once: a grid asks this for each of its points."""
    length = source.chains.last - source.chains.first
    places = [(list(cpus), cluster) for cpus, cluster in machine.platform.cpu_ranges()]
    cpus = max(source.chains.sleeps) + 1
    most = max(len(cluster.cstates) for _, cluster in places)
    slept = wakes[wakes["state"] >= 0]
    cpu, given_up = slept["cpu"], slept["given_up"] == 1
    place = cpu * most + slept["state"]
    span = slept["end"] - slept["start"]
    late = np.maximum(slept["woken"], slept["start"])
    whole = np.where(given_up, 0, late - slept["start"])

    def by_cpu(values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        return np.bincount(cpu, values, cpus).astype(np.float64)

    def by_state(values: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.float64]:
        return np.bincount(place, values, cpus * most).reshape(cpus, most).astype(np.float64)

    asleep = by_state(np.maximum(whole - slept["flush"] - slept["entry"], 0))
    chosen, count = by_state(span), by_state()
    for one, sleeps in source.chains.outside.items():
        for state, part in sleeps.items():
            asleep[one, state] += part
            chosen[one, state] += part
    entry = by_cpu(np.where(given_up, span, slept["flush"]))
    switch = by_cpu(np.where(given_up, 0, slept["entry"] + slept["exit"]))
    out = by_cpu(np.where(given_up, 0, slept["end"] - late - slept["exit"]))
    off_by_cpu = np.bincount(wakes["cpu"], wakes["cluster_off"], cpus)
    found = Spending({}, {}, {}, {}, length)
    for members, cluster in places:
        inside = [one for one in members if one in source.chains.sleeps]
        for one in inside:
            names = [state.name for state in cluster.cstates]
            found.times[one] = {
                **dict(zip(names, asleep[one].tolist(), strict=False)), ENTRY: float(entry[one]),
                SWITCH: float(switch[one]), EXIT: float(out[one]),
                ACTIVE: max(0.0, length - float(chosen[one].sum())),
            }  # fmt: skip
            found.slept[one] = dict(zip(names, chosen[one].tolist(), strict=False))
            found.entries[one] = dict(zip(names, count[one].tolist(), strict=False))
        if inside:
            found.off[cluster.name] = float(off_by_cpu[inside].sum())
    return found
