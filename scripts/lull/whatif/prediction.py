# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a what-if: time, wake-ups, latencies and energy of each CPU and state, each with an error bar.

A number is the recorded one plus the difference that the model sees between the run's own settings and the new ones.
Its error bar is the model's error without a change, and a share of the difference.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lull.whatif import chain
from lull.whatif.chain import BY_HINDSIGHT, MAX_STATES
from lull.whatif.settings import Machine
from lull.whatif.source import Source

SHARE_OF_CHANGE = 0.25
"""Assumed: the part of a predicted difference that may be wrong. Not calibrated by held-out runs."""
ACTIVE, ENTRY, SWITCH, EXIT = "active", "entry", "switch", "exit"
QUANTILES = (0.5, 0.99)

Key = tuple[str, int, str]
"""What, CPU, and state or quantile."""


class Row(NamedTuple):
    what: str
    unit: str
    cpu: int
    of: str
    recorded: float
    predicted: float
    error: float
    ideal: float


UNITS = {"residency": "%", "entries": "", "wake-ups": "", "latency": "us", "energy": "J"}


def rows(source: Source, machine: Machine) -> list[Row]:
    """The whole table of one set of settings."""
    truth = _of_trace(source)
    model = measures(source, source.machine, source.as_recorded)
    own = measures(source, source.machine, source.wakes(source.machine))
    new = measures(source, machine, source.wakes(machine))
    best = measures(source, machine, by_hindsight(source, machine))
    found = []
    for key in sorted({*truth, *new}):
        what, cpu, of = key
        before, base, after = (one.get(key, 0.0) for one in (truth, own, new))
        said = max(0.0, before + after - base)
        fault = max(abs(base - before), abs(model.get(key, 0.0) - before))
        error = fault + SHARE_OF_CHANGE * abs(after - base)
        if _is_unseen(source, cpu, of) and after > 0:
            error = max(error, said)
        found.append(Row(what, UNITS[what], cpu, of, before, said, error, best.get(key, 0.0)))
    return found


def table(found: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([row._asdict() for row in found])


def totals(source: Source, machine: Machine) -> dict[str, float]:
    """A point of a grid: joules of all CPUs, the wake-ups, and the p99 of their latency."""
    wakes = source.wakes(machine)
    found = measures(source, machine, wakes)
    late = _latency(wakes[wakes["given_up"] == 0])
    return {
        "energy_j": sum(value for (what, _, _), value in found.items() if what == "energy"),
        "wake_ups": float(wakes.size),
        "latency_p99_us": float(np.quantile(late, 0.99)) / 1000 if late.size else 0.0,
    }


def measures(source: Source, machine: Machine, wakes: npt.NDArray[np.void]) -> dict[Key, float]:
    """What the wake-ups of a model come to."""
    found: dict[Key, float] = {}
    length = source.chains.last - source.chains.first
    for _, (cpus, cluster) in enumerate(machine.platform.cpu_ranges()):
        names = [state.name for state in cluster.cstates]
        for cpu in cpus:
            if cpu in source.chains.sleeps:
                _measure(found, source, cpu, names, wakes[wakes["cpu"] == cpu], length)
    return found


def _measure(
    found: dict[Key, float], source: Source, cpu: int, names: list[str], own: npt.NDArray[np.void], length: int
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
    late = _latency(took)
    for quantile in QUANTILES:
        found["latency", cpu, f"p{100 * quantile:g}"] = float(np.quantile(late, quantile)) / 1000 if late.size else 0.0
    for cause, many in _causes(source, cpu, own).items():
        found["wake-ups", cpu, cause] = float(many)


def _latency(took: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
    late: npt.NDArray[np.int64] = took["end"] - np.maximum(took["woken"], took["start"])
    return late


def _causes(source: Source, cpu: int, own: npt.NDArray[np.void]) -> Mapping[str, int]:
    sleeps = source.chains.sleeps[cpu][own["sleep"]]
    tick = (own["added"] == 1) | (sleeps["got_tick"] == 1)
    ipi = ~tick & (sleeps["sender"] >= 0)
    return {"tick": int(tick.sum()), "ipi": int(ipi.sum()), "other": int((~tick & ~ipi).sum())}


def _of_trace(source: Source) -> dict[Key, float]:
    """The same numbers of the trace itself. Energy and latency are the model's with the recorded choices."""
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
    return found


def _is_unseen(source: Source, cpu: int, of: str) -> bool:
    names = [state.name for state in source.told[cpu]]
    return of in names and source.chains.unseen(cpu, names.index(of))


def by_hindsight(source: Source, machine: Machine) -> npt.NDArray[np.void]:
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
