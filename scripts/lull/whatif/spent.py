# SPDX-License-Identifier: BSD-3-Clause
"""Computes the time of each CPU in each state from the model's wake-ups, and the joules of this time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lull.platform.schema import Platform
from lull.whatif import charges
from lull.whatif.chain import Chains
from lull.whatif.charges import Back, Charge
from lull.whatif.watts import DYNAMIC, OFF, ON, Watts

ACTIVE, ENTRY, SWITCH, EXIT = "active", "entry", "switch", "exit"
WAY_IN, AS_BUSY = 0.7, 0.1
"""For the software's entry and exit: the length of entry relative to exit, and event joules per µs relative to work.
The first is from `wake-latency`, where the firmware takes 14 to 26 us for C3's entry and 20 to 37 us for its exit. The
second is from `what-if-validation`: with 0.06 to 0.15, runs of one load have the same power of work. With 0.3, by the
instructions of `wake-latency`, this power differs twice as much from run to run."""


Sums = npt.NDArray[np.float64]
_AT_ONCE = 1 << 14
"""The number of wake-ups that are added up at a time, to limit memory."""


@dataclass(frozen=True)
class Spending:
    """The time of each CPU in nanoseconds: `times` by activity, `slept` by the chosen state."""

    times: dict[int, dict[str, float]]
    slept: dict[int, dict[str, float]]
    entries: dict[int, dict[str, float]]
    waits: dict[int, dict[str, float]]
    """The nanoseconds of SWITCH, by the chosen state."""
    off: dict[str, float]
    """The nanoseconds in which each cluster's L2 was off."""
    charges: dict[int, dict[str, float]]
    """Joules of each CPU's entries and exits that are not power times time."""
    ways: dict[int, float]
    """The work of each CPU's software in entries and exits, as the equivalent time of other work."""
    length: int

    def cores(self, power: Watts, recorded: "Spending") -> dict[int, dict[str, float]]:
        """Return the joules of each CPU by activity. `recorded` is the spending of the run from which the power is.

        The ledger charges all events of a window to work, also those of software in entries and exits. So its power of
        work would be too high for a run with other sleeps. Therefore each CPU's joules are divided between both.
        """
        found = {}
        for cpu, times in self.times.items():
            own = power.of(cpu)
            extra = self.charges[cpu]
            found[cpu] = {
                what: own.get(what, own.get(ACTIVE, 0.0)) * time / 1e9 + extra.get(what, 0.0)
                for what, time in times.items()
            }
            found[cpu][SWITCH] = sum(power.waiting(cpu, state) * ns for state, ns in self.waits[cpu].items()) / 1e9
            worked, ways = recorded.times[cpu][ACTIVE], recorded.ways[cpu]
            if worked:
                clock = power.kinds[cpu].get(EXIT, {}).get(DYNAMIC, 0.0)  # entries and exits have it in their own power
                busy = (own.get(ACTIVE, 0.0) * worked + clock * ways) / (worked + ways)
                found[cpu][ACTIVE] = (busy * (times[ACTIVE] + self.ways[cpu]) - clock * self.ways[cpu]) / 1e9
        return found

    def caches(self, power: Watts) -> dict[str, float]:
        """Return the joules of each cluster's L2."""
        return {
            name: (power.clusters[name][ON] * (self.length - off) + power.clusters[name][OFF] * off) / 1e9
            for name, off in self.off.items()
        }


def of_wakes(
    chains: Chains, charged: Sequence[Sequence[Charge]], platform: Platform, wakes: npt.NDArray[np.void]
) -> Spending:
    """Return the spending of all CPUs. A sleep across an end of the asked time counts in part.

    `charged` are the charges of each cluster's states. All CPUs are computed at once, because a grid needs speed.
    """
    places = [(list(cpus), cluster) for cpus, cluster in platform.cpu_ranges()]
    most = max(len(cluster.cstates) for _, cluster in places)
    fills = np.full((2, max(chains.sleeps) + 1), np.inf)
    """Nanoseconds of work after which each CPU's L1s are full, and after which its L2 is full."""
    for (members, _), own in zip(places, charged, strict=True):
        for one in chains.sleeps.keys() & set(members):
            fills[:, one] = own[0].l1_fill_ns or np.inf, own[0].l2_fill_ns or np.inf
    sums = _sums(chains, fills, most, wakes[:_AT_ONCE])
    for begin in range(_AT_ONCE, wakes.size, _AT_ONCE):
        more = _sums(chains, fills, most, wakes[begin : begin + _AT_ONCE])
        sums = [one + other for one, other in zip(sums, more, strict=True)]
    asleep, chosen, count, waits, entry, out, software, off_by_cpu, *came = sums
    found = Spending({}, {}, {}, {}, {}, {}, {}, chains.last - chains.first)
    for (members, cluster), own in zip(places, charged, strict=True):
        inside = [one for one in members if one in chains.sleeps]
        for one in inside:
            names = [state.name for state in cluster.cstates]
            found.times[one] = {
                **dict(zip(names, asleep[one].tolist(), strict=False)), ENTRY: float(entry[one]),
                SWITCH: float(waits[one].sum()), EXIT: float(out[one]),
                ACTIVE: max(0.0, found.length - float(chosen[one].sum())),
            }  # fmt: skip
            found.slept[one] = dict(zip(names, chosen[one].tolist(), strict=False))
            found.waits[one] = dict(zip(names, waits[one].tolist(), strict=False))
            back = [Back(*of_state) for of_state in zip(*(part[one].tolist() for part in came), strict=True)]
            found.charges[one] = {
                ENTRY: sum(charge.going(of_state) for charge, of_state in zip(own, back, strict=False)),
                EXIT: sum(charge.coming(of_state) for charge, of_state in zip(own, back, strict=False)),
            }
            found.ways[one] = AS_BUSY * (1 + WAY_IN) * float(software[one])
            found.entries[one] = dict(zip(names, count[one].tolist(), strict=False))
        if inside:
            found.off[cluster.name] = float(off_by_cpu[inside].sum())
    return found


def _by(places: npt.NDArray[np.signedinteger], values: npt.NDArray[np.generic], count: int) -> Sums:
    return np.bincount(places, values, count).astype(np.float64)


def _sums(chains: Chains, fills: Sums, most: int, wakes: npt.NDArray[np.void]) -> list[Sums]:
    """Return for some of the wake-ups: the nanoseconds of each CPU and of each of its (at most `most`) states, and the
    numbers of `Back` of each CPU and state."""
    first, last, cpus = chains.first, chains.last, max(chains.sleeps) + 1
    slept = wakes[wakes["state"] >= 0]
    cpu, given_up = slept["cpu"], slept["given_up"] == 1
    place = cpu * most + slept["state"]
    late = np.maximum(slept["woken"], slept["start"])
    back = late + slept["hardware"]
    # If no event tells when an interrupt came, the ledger takes the exit for the hardware's alone. Then the software's
    # part is in the power of work, and would count twice.
    known = chains.known(slept)
    late = np.where(known | given_up, late, np.maximum(late, slept["end"] - slept["hardware"]))
    flushed = np.where(given_up, slept["end"], slept["start"] + slept["flush"])
    entered = np.where(given_up, flushed, flushed + slept["entry"])
    powered = np.where(given_up, flushed, late + slept["exit"])

    def part(start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        found: npt.NDArray[np.int64] = np.maximum(np.minimum(end, last) - np.maximum(start, first), 0)
        return found

    def by_cpu(values: npt.NDArray[np.int64]) -> Sums:
        return _by(cpu, values, cpus)

    def by_state(values: npt.NDArray[np.generic]) -> Sums:
        return _by(place, values, cpus * most).reshape(cpus, most)

    woken = chains.woken(wakes)
    came = woken["cpu"] * most + woken["state"]
    return [
        by_state(np.where(given_up, 0, part(entered, late))),
        by_state(part(slept["start"], slept["end"])),
        by_state((slept["start"] >= first) & (slept["start"] < last)),
        by_state(part(flushed, entered) + np.where(given_up, 0, part(late, powered))),
        by_cpu(part(slept["start"], flushed)),
        by_cpu(np.where(given_up, 0, part(powered, slept["end"]))),
        by_cpu(np.where(given_up, 0, part(back, slept["end"]))),
        _by(wakes["cpu"], part(wakes["woken"] - wakes["cluster_off"], wakes["woken"]), cpus),
        *(_by(came, own, cpus * most).reshape(cpus, most) for own in charges.back(woken, *fills[:, woken["cpu"]])),
    ]
