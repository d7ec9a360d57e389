# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a what-if: time, wake-ups, latencies and energy of each CPU and state, each with an error bar.

A number is the recorded one plus the difference that the model sees between the run's own settings and the new ones.
Its error bar adds up the model's error without a change, a share of the difference, and the chance of a single run: for
counts and times that of rare sleeps, for latencies and joules a share of the number. Of a state that the run never left
on a CPU, neither the way out nor the power is known, and the difference itself is the error.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lull.whatif import chain
from lull.whatif.chain import BY_HINDSIGHT, MAX_STATES
from lull.whatif.settings import Setup
from lull.whatif.source import Replay

SHARE_OF_CHANGE = 0.5
"""Assumed: the part of a predicted difference that may be wrong."""
CHANCE = {"latency": 0.05, "energy": 0.05}
"""Assumed: the share by which these differ between two runs of the same settings."""
ACTIVE, ENTRY, SWITCH, EXIT = "active", "entry", "switch", "exit"
ALL = -1
"""In place of a CPU's number."""
QUANTILES = (0.5, 0.99)

Key = tuple[str, int, str]
"""What, CPU, and state or quantile."""


class Predicted(NamedTuple):
    what: str
    unit: str
    cpu: int
    of: str
    recorded: float
    predicted: float
    error: float
    ideal: float


UNITS = {"residency": "%", "entries": "", "wake-ups": "", "latency": "us", "energy": "J"}


def rows(source: Replay, machine: Setup) -> list[Predicted]:
    """The whole table of one set of settings."""
    truth = _of_trace(source)
    model = measures(source, source.machine, source.as_recorded)
    own = measures(source, source.machine, source.wakes(source.machine))
    wakes = source.wakes(machine)
    new = measures(source, machine, wakes)
    best = measures(source, machine, by_hindsight(source, machine))
    unseen = _unseen(source, wakes)
    found = []
    for key in sorted({*truth, *new}):
        what, cpu, of = key
        before, base, after = (one.get(key, 0.0) for one in (truth, own, new))
        said = max(0.0, before + after - base)
        fault = max(abs(base - before), abs(model.get(key, 0.0) - before))
        share = 1.0 if cpu in unseen or (cpu == ALL and unseen) else SHARE_OF_CHANGE
        error = fault + share * abs(after - base) + _chance(source, key, said, wakes)
        found.append(Predicted(what, UNITS[what], cpu, of, before, said, error, best.get(key, 0.0)))
    return found


def _chance(source: Replay, key: Key, said: float, wakes: npt.NDArray[np.void]) -> float:
    """What another run of the same settings may differ by: as many sleeps more or less as their number's root."""
    what, cpu, of = key
    if what in CHANCE:
        return CHANCE[what] * said
    if what != "residency":
        return max(1.0, math.sqrt(said))
    own = wakes[(wakes["cpu"] == cpu) & (wakes["state"] >= 0)]
    mine = own["state"] == [state.name for state in source.told[cpu]].index(of)
    length = (own["end"] - own["start"]).astype(np.float64)
    # What one state gains another one loses, so that the smaller of the two tells.
    rare = min(float(np.sqrt((length[which] ** 2).sum())) for which in (mine, ~mine))
    work = float(np.sqrt((source.chains.sleeps[cpu]["work"].astype(np.float64) ** 2).sum()))
    return 100 * (rare + work) / (source.chains.last - source.chains.first)


def _unseen(source: Replay, wakes: npt.NDArray[np.void]) -> set[int]:
    """The CPUs that would enter a state that the run never left on them."""
    pairs = np.unique(np.stack([wakes["cpu"], wakes["state"]]), axis=1).T.tolist()
    return {cpu for cpu, state in pairs if state >= 0 and source.chains.unseen(cpu, state)}


def table(found: list[Predicted], path: Path) -> pa.Table:
    return pa.Table.from_pylist([{"run": str(path), **row._asdict()} for row in found])


def totals(source: Replay, machine: Setup) -> dict[str, float]:
    """A point of a grid: joules of all CPUs, the wake-ups, and the p99 of their latency."""
    wakes = source.wakes(machine)
    found = measures(source, machine, wakes)
    late = _latency(wakes[wakes["given_up"] == 0])
    return {
        "energy_j": found["energy", ALL, "all"],
        "wake_ups": float(wakes.size),
        "latency_p99_us": float(np.quantile(late, 0.99)) / 1000 if late.size else 0.0,
    }


def measures(source: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> dict[Key, float]:
    """What the wake-ups of a model come to."""
    found: dict[Key, float] = {}
    length = source.chains.last - source.chains.first
    for _, (cpus, cluster) in enumerate(machine.platform.cpu_ranges()):
        names = [state.name for state in cluster.cstates]
        for cpu in cpus:
            if cpu in source.chains.sleeps:
                _measure(found, source, cpu, names, wakes[wakes["cpu"] == cpu], length)
    found["energy", ALL, "all"] = sum(value for (what, _, _), value in found.items() if what == "energy")
    return found


def _measure(
    found: dict[Key, float], source: Replay, cpu: int, names: Sequence[str], own: npt.NDArray[np.void], length: int
) -> None:
    slept = own[own["state"] >= 0]
    whole = np.where(slept["given_up"] == 1, 0, np.maximum(slept["woken"], slept["start"]) - slept["start"])
    asleep = np.maximum(whole - slept["flush"] - slept["entry"], 0)
    times: dict[str, float] = {}
    for number, name in enumerate(names):
        mine = slept["state"] == number
        times[name] = float(asleep[mine].sum())
        found["entries", cpu, name] = float(mine.sum())
        found["residency", cpu, name] = 100 * float((slept["end"] - slept["start"])[mine].sum()) / length
    given_up = float((slept["end"] - slept["start"])[slept["given_up"] == 1].sum())
    took = slept[slept["given_up"] == 0]
    times[ENTRY] = float(took["flush"].sum()) + given_up
    times[SWITCH] = float(took["entry"].sum() + took["exit"].sum())
    out = took["end"] - np.maximum(took["woken"], took["start"]) - took["exit"]
    times[EXIT] = float(out.sum())
    times[ACTIVE] = max(0.0, length - float((slept["end"] - slept["start"]).sum()))
    power = source.watts.by_cpu[cpu]
    for label, time in times.items():
        found["energy", cpu, label] = power.get(label, power.get(ACTIVE, 0.0)) * time / 1e9
    found.update(_quantiles(cpu, _latency(took)))
    for cause, many in _causes(source, cpu, own).items():
        found["wake-ups", cpu, cause] = float(many)


def _quantiles(cpu: int, late: npt.NDArray[np.int64]) -> dict[Key, float]:
    us = np.quantile(late, QUANTILES) / 1000 if late.size else np.zeros(len(QUANTILES))
    return {("latency", cpu, f"p{100 * of:g}"): float(value) for of, value in zip(QUANTILES, us, strict=True)}


def _latency(took: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
    late: npt.NDArray[np.int64] = took["end"] - np.maximum(took["woken"], took["start"])
    return late


def _causes(source: Replay, cpu: int, own: npt.NDArray[np.void]) -> Mapping[str, int]:
    sleeps = source.chains.sleeps[cpu][own["sleep"]]
    tick = (own["added"] == 1) | (sleeps["got_tick"] == 1)
    timer = ~tick & (sleeps["by_timer"] == 1)
    ipi = ~tick & ~timer & (sleeps["sender"] >= 0)
    found = {"tick": tick, "timer": timer, "ipi": ipi, "device": ~tick & ~timer & ~ipi}
    return {cause: int(which.sum()) for cause, which in found.items()}


def _of_trace(source: Replay) -> dict[Key, float]:
    """The same numbers of the trace itself. Energy is the model's with the recorded choices."""
    found = dict(measures(source, source.machine, source.as_recorded))
    length = source.chains.last - source.chains.first
    for cpus, cluster in source.machine.platform.cpu_ranges():
        for cpu in cpus:
            if cpu not in source.chains.sleeps:
                continue
            sleeps = source.chains.sleeps[cpu]
            for number, state in enumerate(cluster.cstates):
                mine = sleeps["state"] == number
                found["entries", cpu, state.name] = float(mine.sum())
                found["residency", cpu, state.name] = 100 * float(sleeps["length"][mine].sum()) / length
            late = (sleeps["end"] - sleeps["woken"])[sleeps["refused"] == 0]
            found.update(_quantiles(cpu, late))
    return found


def by_hindsight(source: Replay, machine: Setup) -> npt.NDArray[np.void]:
    """The wake-ups under a governor that knows each sleep's length and spends the least energy on it."""
    cpus = max(source.chains.sleeps) + 1
    ideal = np.full(cpus * MAX_STATES, np.iinfo(np.int64).max, np.int64)
    told = source.states(machine)
    for members, cluster in machine.platform.cpu_ranges():
        for cpu in members:
            if cpu not in source.chains.sleeps:
                continue
            power = source.watts.by_cpu[cpu]
            way = power.get(EXIT, power.get(ACTIVE, 0.0))
            costs: list[tuple[float, float]] = []
            for number, state in enumerate(cluster.cstates):
                actual, usual = state.actual, source.chains.usual[cpu][number].software
                trip = 1000 * (actual.entry_us + actual.exit_us + actual.flush_us + actual.refill_us)
                trip += usual if usual is not None else 0
                rest = power.get(state.name, 0.0)
                fixed = (way - rest) * trip
                worth = [(fixed - other) / (base - rest) for other, base in costs if base > rest]
                if number and worth and not told[cpu][number].disabled:
                    ideal[cpu * MAX_STATES + number] = max(round(max(worth)), round(trip))
                if number == 0 or not told[cpu][number].disabled:
                    costs.append((fixed, rest))
    return chain.run(source.chains, machine.platform, BY_HINDSIGHT, ideal)
