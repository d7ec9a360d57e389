# SPDX-License-Identifier: BSD-3-Clause
"""The power of each CPU in each of its states, as the run's own ledger has it.

A state that the run never had gets the power of the state nearest to it in depth that the CPU did have, times the
quotient of the shares of leakage that power-models/states.yaml says of the two.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from lull.energy import rows, states
from lull.energy.states import IDLE
from lull.errors import UserError
from lull.platform.schema import Platform
from lull.rundir.folder import LEDGER, RunDir

BACKEND = "mcpat"
ON, OFF = "on", "off"


@dataclass(frozen=True)
class Watts:
    by_cpu: dict[int, dict[str, float]]
    assumed: dict[int, set[str]]
    """States whose power is not from the ledger."""
    clusters: dict[str, dict[str, float]]
    """Of each cluster's L2, on and off. What the L2 spends on accesses is in neither."""
    never_off: set[str]
    """Clusters that the run never turned off: the power of their L2 while off is a share that is assumed."""


def of_run(rundir: RunDir, platform: Platform, cpus: list[int]) -> Watts:
    path = rundir / LEDGER
    if not path.is_file():
        raise UserError(f"{path}: missing; run `lull energy {rundir.path}` first")
    joules: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    times: dict[tuple[int, str, str], float] = defaultdict(float)
    keys = ["cpu", "state", "cause", "component", "kind"]
    for row in rows.grouped(path, keys, ["joules", "seconds"], BACKEND, rows.CALIBRATED).to_pylist():
        if row["cpu"] is not None:
            joules[row["cpu"]][row["state"]] += row["joules"]
            # Each component repeats the time of its state and cause.
            place = (row["cpu"], row["state"], row["cause"])
            times[place] = max(times[place], row["seconds"])
    seconds: dict[int, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (cpu, state, _cause), time in times.items():
        seconds[cpu][state] += time
    found: dict[int, dict[str, float]] = {}
    assumed: dict[int, set[str]] = {}
    for cpu in cpus:
        own = {state: joules[cpu][state] / time for state, time in seconds[cpu].items() if time > 0}
        assumed[cpu] = _complete(own)
        found[cpu] = own
    clusters, never_off = _clusters(path, platform)
    return Watts(found, assumed, clusters, never_off)


def _clusters(path: Path, platform: Platform) -> tuple[dict[str, dict[str, float]], set[str]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    keys = ["cpu", "cluster", "state", "kind"]
    for row in rows.grouped(path, keys, ["joules", "seconds"], BACKEND, rows.CALIBRATED).to_pylist():
        its_own = row["cpu"] is None and row["cluster"] is not None and row["kind"] == "static"
        if its_own and row["state"] in (ON, OFF) and row["seconds"] > 0:
            found[row["cluster"]][row["state"]] = row["joules"] / row["seconds"]
    never_off = set()
    for cluster in platform.resolved_clusters():
        watts = found[cluster.name]
        watts.setdefault(ON, 0.0)
        if OFF not in watts:
            never_off.add(cluster.name)
            watts[OFF] = watts[ON] * states.load().l2.when_off(cluster.core)
    return dict(found), never_off


def _complete(own: dict[str, float]) -> set[str]:
    model = states.load().core
    known = [name for name in IDLE if name in own]
    missing = {name for name in IDLE if name not in own}
    for name in missing:
        if known:
            nearest = min(known, key=lambda other: abs(IDLE.index(other) - IDLE.index(name)))
            base = model.of(nearest).leakage
            own[name] = own[nearest] * (model.of(name).leakage / base if base else 0.0)
        else:
            own[name] = 0.0
    return missing
