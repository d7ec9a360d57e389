# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a what-if: time, wake-ups, latencies and energy of each CPU and state, each with an error bar.

A predicted number is the model's. With the run's own settings, the model's number may differ from the recorded one.
This difference is a part of the error bar (`lull.whatif.bars`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lull.whatif import added, bars, hindsight
from lull.whatif.bars import Scale
from lull.whatif.differ import OtherChoice
from lull.whatif.settings import Setup
from lull.whatif.source import Replay
from lull.whatif.spent import ACTIVE

ALL = -1
"""The value in place of a CPU's number."""
CHOICE = "choice"
"""The kind of a row about a choice whose replay differs from the recorded one."""
_NUMBER = re.compile(r"/[0-9]+$")
"""The number of a task, after its name."""
CORES = "cores"
"""The CPUs without their L2 caches."""
QUANTILES = (0.5, 0.99)
FEWEST = 8
"""The smallest number of a CPU's wake-ups for quantiles of their latency."""

Key = tuple[str, int, str]
"""The key of a number: what it is, CPU, and state or quantile."""


TOTALS: dict[str, Key] = {
    "energy_j": ("energy", ALL, "all"), "wake_ups": ("wake-ups", ALL, "all"), "latency_p99_us": ("latency", ALL, "p99"),
}  # fmt: skip
"""The columns of a grid."""


class Predicted(NamedTuple):
    what: str
    unit: str
    cpu: int
    of: str
    recorded: float
    predicted: float
    error: float
    chance: float
    """The part of the error bar for chance between boots."""
    ideal: float | None
    """The number with the near-ideal governor; None for a latency with too few wake-ups."""

    @property
    def anywhere(self) -> Key:
        """Return the key of this number in any run of the same program. A task is only its name, because its number
        differs from run to run."""
        return self.what, self.cpu, _NUMBER.sub("", self.of) if self.what == "cause" else self.of


class Said(NamedTuple):
    """A predicted number, its error bar, and the bar's part for chance between boots."""

    predicted: float
    error: float
    chance: float


UNITS = {"residency": "%", "entries": "", "wake-ups": "", "latency": "us", "energy": "J", "cause": "J"}


class Ground(NamedTuple):
    """The numbers of a run with its own settings."""

    truth: dict[Key, float]
    """The trace's numbers. Energy is the model's with the recorded choices."""
    model: dict[Key, float]
    """The model's numbers with the recorded choices."""
    own: dict[Key, float]
    """The model's numbers with the governor's choices."""


def rows(source: Replay, machine: Setup) -> list[Predicted]:
    """Return the whole table for one set of settings."""
    model = measures(source, source.machine, source.as_recorded)
    own = measures(source, source.machine, source.wakes(source.machine))
    ground = Ground(of_trace(source), model, own)
    wakes = source.wakes(machine)
    new = measures(source, machine, wakes)
    best = _best(source, machine, new)
    doubts = _doubts(source, machine, wakes, new["energy", ALL, CORES])
    found = []
    for key in sorted({*ground.truth, *new}):
        what, cpu, of = key
        if what == "latency" and key not in new:
            continue  # too few wake-ups
        said = _said(key, ground, new, doubts)
        ideal = None if what == "latency" and key not in best else best.get(key, 0.0)
        found.append(Predicted(what, UNITS[what], cpu, of, ground.truth.get(key, 0.0), *said, ideal))
    return found


class Doubts(NamedTuple):
    """All that widens the error bars of an answer."""

    strange: set[int]
    guesses: dict[Key, float]
    scale: Scale


def _doubts(source: Replay, machine: Setup, wakes: npt.NDArray[np.void], cores_j: float) -> Doubts:
    scale = _scale(source, machine, wakes, cores_j)
    return Doubts(unseen(source, machine, wakes), guessed(source, machine, wakes), scale)


def _known(key: Key, ground: Ground) -> bool:
    """Return true if a number is known; a latency of too few wake-ups is not."""
    return key[0] != "latency" or (key in ground.truth and key in ground.own)


def _said(key: Key, ground: Ground, new: Mapping[Key, float], doubts: Doubts) -> Said:
    """Return a number with the new settings, and its error bar."""
    what, cpu, of = key
    before, model, base, after = (one.get(key, 0.0) for one in (*ground, new))
    known = _known(key, ground)
    fault = max(abs(base - before), abs(model - before)) if known else 0.0
    unknown = cpu in doubts.strange or (cpu == ALL and doubts.strange) or not known
    share = bars.SHARE_OF_UNSEEN if unknown else bars.SHARE_OF_CHANGE
    change = share * abs(after - base) + bars.SHARE_OF_UNSEEN * doubts.guesses.get(key, 0.0)
    scale = doubts.scale
    return Said(after, bars.bar(what, cpu, of, after, fault, change, scale), bars.chance(what, cpu, of, after, scale))


def _scale(source: Replay, machine: Setup, wakes: npt.NDArray[np.void], cores_j: float) -> Scale:
    cpus, counts = np.unique(source.chains.woken(wakes)["cpu"], return_counts=True)
    power = source.power(machine)
    return Scale(
        tick_s=source.chains.period / 1e9,
        length_s=(source.chains.last - source.chains.first) / 1e9,
        cores_j=cores_j,
        wakes=dict(zip(cpus.tolist(), counts.tolist(), strict=True)),
        watts={cpu: power.of(cpu) for cpu in source.cpus},
        one_more=_one_more(source, machine),
        circumstances=source.circumstances,
    )


def _one_more(source: Replay, machine: Setup) -> dict[int, float]:
    """Return the joules of each CPU's most expensive sleep, besides those of the time asleep."""
    told, power, found = source.states(machine), source.power(machine), {}
    for (cpus, cluster), charges in zip(machine.platform.cpu_ranges(), source.charges(machine), strict=True):
        for cpu in source.chains.sleeps.keys() & set(cpus):
            found[cpu] = max(
                charge.most + power.waiting(cpu, state.name) * (state.actual.entry_us + state.actual.exit_us) / 1e6
                for state, charge, own in zip(cluster.cstates, charges, told[cpu], strict=True)
                if not own.disabled
            )
    return found


def unseen(source: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> set[int]:
    """Return the CPUs that would enter a state that they never left in the run."""
    chains = source.chains_of(machine)
    pairs = np.unique(np.stack([wakes["cpu"], wakes["state"]]), axis=1).T.tolist()
    return {cpu for cpu, state in pairs if state >= 0 and chains.unseen(cpu, state)}


def guessed(source: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> dict[Key, float]:
    """Return joules that do not follow from recorded numbers, for two reasons. Ticks are stopped and started on CPUs
    for which the run does not tell how long that takes. CPUs sleep in states that the what-if adds."""
    power, chains, found = source.power(machine), source.chains, {}
    other_s = np.abs(chains.ticking(wakes) - chains.ticking(source.as_recorded)) / 1e9
    for cpu, cost in chains.tick_cost.items():
        if cpu in chains.sleeps and not cost.measured:
            found["energy", cpu, ACTIVE] = float(other_s[cpu]) * power.of(cpu).get(ACTIVE, 0.0)
    asleep = _in_new_states(source, machine, wakes)
    whole = sum(found.values()) + asleep
    if asleep:
        found["cause", ALL, "idle"] = asleep
    return {**found, ("energy", ALL, CORES): whole, ("energy", ALL, "all"): whole}


def _in_new_states(source: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> float:
    """Return the guessed part of the joules of sleeps in added states. Only the power of the state's kind is known, and
    not even this if the run was never in the state of this kind."""
    new = {name: added.like(state) for name, state in added.of(machine.platform).items()}
    if not new:
        return 0.0
    power, times, found = source.power(machine), source.spending(machine, wakes).times, 0.0
    for cpu, own in times.items():
        for name in new.keys() & own.keys():
            known = new[name] not in source.watts.assumed.get(cpu, ())
            part = bars.SHARE_OF_CHANGE / bars.SHARE_OF_UNSEEN if known else 1.0
            found += part * power.of(cpu)[name] * own[name] / 1e9
    return found


def table(found: Sequence[Predicted], run: Path | str, differences: Iterable[OtherChoice] = ()) -> pa.Table:
    """Return the table: the numbers, and a row for each choice whose replay differs, with its states and the reason."""
    choices = [
        Predicted(CHOICE, "state", one.cpu, str(one), one.state, one.again, 0.0, 0.0, None) for one in differences
    ]
    return pa.Table.from_pylist([{"run": str(run), **row._asdict()} for row in [*found, *choices]])


def totals(source: Replay, machine: Setup) -> dict[str, float]:
    """Return the model's joules of all CPUs and L2 caches, the wake-ups, and the p99 of their latency."""
    found = _totals(source, machine, source.wakes(machine))
    return {column: found[key] for column, key in TOTALS.items()}


def ground_of_points(source: Replay) -> Ground:
    """Return the ground for `point`. It is the same for each point of a grid."""
    model, own = (
        _totals(source, source.machine, wakes) for wakes in (source.as_recorded, source.wakes(source.machine))
    )
    p99 = TOTALS["latency_p99_us"]
    return Ground({**model, p99: of_trace(source)[p99]}, model, own)


def columns_of(name: str) -> tuple[str, str, str]:
    """Return the columns of a grid for one of TOTALS: the number, its error bar, and the part for chance."""
    return name, f"{name}_error", f"{name}_chance"


def point(ground: Ground, source: Replay, machine: Setup) -> dict[str, float]:
    """Return a point of a grid: the numbers of the whole run as in the table of `rows`, with error bars."""
    wakes = source.wakes(machine)
    new = _totals(source, machine, wakes)
    doubts = _doubts(source, machine, wakes, new["energy", ALL, CORES])
    found: dict[str, float] = {}
    for column, key in TOTALS.items():
        found |= dict(zip(columns_of(column), _said(key, ground, new, doubts), strict=True))
    return found


def _totals(source: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> dict[Key, float]:
    power, spent = source.power(machine), source.spending(machine, wakes)
    cores = sum(sum(own.values()) for own in spent.cores(power, source.spent).values())
    return {
        ("energy", ALL, CORES): cores,
        TOTALS["energy_j"]: cores + sum(spent.caches(power).values()),
        TOTALS["wake_ups"]: float(source.chains.woken(wakes).size),
        TOTALS["latency_p99_us"]: p99_us(source, machine, wakes),
    }


def p99_us(source: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> float:
    """Return the p99 of the latency over the wake-ups of all CPUs."""
    woken = source.chains.woken(wakes)
    late = source.latency(machine, woken[woken["given_up"] == 0])
    return float(np.quantile(late, 0.99)) / 1000 if late.size else 0.0


def measures(source: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> dict[Key, float]:
    """Return all numbers of the model for some wake-ups."""
    found: dict[Key, float] = {}
    power_of, times = source.power(machine), source.spending(machine, wakes)
    cores, woken = times.cores(power_of, source.spent), source.chains.woken(wakes)
    for cpu, joules in cores.items():
        for label, value in joules.items():
            found["energy", cpu, label] = value
            # Work keeps its causes. A state that the run never had has one cause: idle.
            for cause, share in (power_of.causes.get(cpu, {}).get(label) or {"idle": 1.0}).items():
                found["cause", ALL, cause] = found.get(("cause", ALL, cause), 0.0) + share * value
        for name, slept in times.slept[cpu].items():
            found["entries", cpu, name] = times.entries[cpu][name]
            found["residency", cpu, name] = 100 * slept / times.length
        own = woken[woken["cpu"] == cpu]
        found.update(_quantiles(cpu, source.latency(machine, own[own["given_up"] == 0])))
        for cause, many in source.chains.causes(cpu, own).items():
            found["wake-ups", cpu, cause] = float(many)
    caches = times.caches(power_of)
    for name, off in times.off.items():
        found["energy", ALL, f"L2 {name}"] = caches[name]
        found["residency", ALL, f"off {name}"] = 100 * off / times.length
    found["energy", ALL, CORES] = sum(sum(joules.values()) for joules in cores.values())
    found["energy", ALL, "all"] = found["energy", ALL, CORES] + sum(caches.values())
    found["latency", ALL, "p99"] = p99_us(source, machine, wakes)
    return found


def _quantiles(cpu: int, late: npt.NDArray[np.int64]) -> dict[Key, float]:
    """Return the quantiles of a CPU's latency; none if there are too few wake-ups."""
    if late.size < FEWEST:
        return {}
    us = np.quantile(late, QUANTILES) / 1000
    return {("latency", cpu, f"p{100 * of:g}"): float(value) for of, value in zip(QUANTILES, us, strict=True)}


def of_trace(source: Replay) -> dict[Key, float]:
    """Return the same numbers from the trace itself. Energy is the model's with the recorded choices."""
    found = dict(measures(source, source.machine, source.as_recorded))
    first, last = source.chains.first, source.chains.last
    late: list[npt.NDArray[np.int64]] = []
    for cpus, cluster in source.machine.platform.cpu_ranges():
        for cpu in cpus:
            if cpu not in source.chains.sleeps:
                continue
            sleeps = source.chains.sleeps[cpu]
            begun = sleeps["end"] - sleeps["length"]
            inside = np.maximum(0, np.minimum(sleeps["end"], last) - np.maximum(begun, first))
            for number, state in enumerate(cluster.cstates):
                mine = sleeps["state"] == number
                found["entries", cpu, state.name] = float((mine & (begun >= first) & (begun < last)).sum())
                found["residency", cpu, state.name] = 100 * float(inside[mine].sum()) / (last - first)
            ended = source.chains.woken_from(cpu)
            late.append(ended["end"] - ended["woken"])
            found.update(_quantiles(cpu, late[-1]))
    found["latency", ALL, "p99"] = float(np.quantile(np.concatenate(late), 0.99)) / 1000
    return found


def _best(source: Replay, machine: Setup, governor: dict[Key, float]) -> dict[Key, float]:
    """Return the numbers with the least energy: with hindsight, or the governor's own if these are less."""
    found = measures(source, machine, hindsight.least(source, machine))
    return min([found, governor], key=lambda one: one["energy", ALL, "all"])
