# SPDX-License-Identifier: BSD-3-Clause
"""The power of each CPU in each of its states, from the run's own ledger.

A state that the run never had gets the power of the CPU's nearest state in depth, times the ratio of both states'
shares of leakage in power-models/states.yaml. An added state begins with the power of the state of its kind.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lull.energy import rows, states
from lull.energy.states import IDLE, SWITCH
from lull.errors import UserError
from lull.platform.schema import Platform
from lull.rundir.folder import LEDGER, RunDir
from lull.whatif import added, trips

BACKEND = "mcpat"
_WAYS = ("entry", "exit")
_AT_ONCE = 1024
"""The number of the ledger's rows that are converted into Python's at a time."""
ON, OFF = "on", "off"
DYNAMIC, STATIC = "dynamic", "static"
_KINDS = {"clock": DYNAMIC, "leakage": STATIC}
_Tree = dict[int, dict[str, dict[str, float]]]
_Takes = Callable[[int, int], bool]
"""Returns true if a window counts, by its start and end."""


@dataclass(frozen=True)
class Watts:
    """Watts of the CPUs and of the clusters' L2 caches."""

    kinds: dict[int, dict[str, dict[str, float]]]
    """For each CPU and state, by kind: dynamic, static, transition."""
    causes: dict[int, dict[str, dict[str, float]]]
    """The share of each cause in the joules of a CPU's state."""
    assumed: dict[int, set[str]]
    """States whose power is not from the ledger."""
    clusters: dict[str, dict[str, float]]
    """For each cluster's L2, on and off. The energy of accesses is in neither."""
    never_off: set[str]
    """Clusters that were never off in the run: the power of their L2 while off is an assumed share."""
    waits: Mapping[str, float] = field(default_factory=dict)
    """For a state, the factor on the recorded leakage while waiting for its power switch."""

    def of(self, cpu: int) -> dict[str, float]:
        return {state: sum(power.values()) for state, power in self.kinds[cpu].items()}

    def waiting(self, cpu: int, state: str) -> float:
        """Return the power of a CPU that waits for a power switch or a rail, in the entry or exit of a state."""
        power = self.kinds[cpu][SWITCH]
        return sum(power.values()) + (self.waits.get(state, 1.0) - 1) * power.get(STATIC, 0.0)


def of_run(rundir: RunDir, platform: Platform, cpus: list[int], ticks: tuple[int, int]) -> Watts:
    """Return the watts between two of gem5's ticks (the command), from windows of statistics that are wholly inside.

    A window that is only partly inside is used only for a state of a CPU that no inner window has, and a window outside
    only if neither has the state. The reason is that other work before and after, such as the start and the end of the
    trace, has another power.
    """
    path = rundir / LEDGER
    if not path.is_file():
        raise UserError(f"{path}: missing; run `lull energy {rundir.path}` first")
    found = [_by_state(path, taken) for taken in (_any, _mostly(ticks), _wholly(ticks))]
    kinds: dict[int, dict[str, dict[str, float]]] = {}
    causes: _Tree = {}
    assumed: dict[int, set[str]] = {}
    for cpu in cpus:
        own: dict[str, dict[str, float]] = {}
        causes[cpu] = {}
        for watts, by_cause in found:
            own |= watts.get(cpu, {})
            causes[cpu] |= by_cause.get(cpu, {})
        if not own:
            raise UserError(
                f"{path}: has no joules of CPU {cpu} by the backend {BACKEND}; make it with "
                f"`lull energy {rundir.path}`, of a run with --cpu detailed"
            )
        assumed[cpu] = _complete(own)
        kinds[cpu] = own
    shares = {cpu: {state: _shares(parts) for state, parts in of.items()} for cpu, of in causes.items()}
    clusters, never_off = _clusters(path, platform)
    return Watts(kinds, shares, assumed, clusters, never_off)


def _any(_start: int, _end: int) -> bool:
    return True


def _mostly(ticks: tuple[int, int]) -> _Takes:
    return lambda start, end: ticks[0] <= (start + end) // 2 <= ticks[1]


def _wholly(ticks: tuple[int, int]) -> _Takes:
    return lambda start, end: ticks[0] <= start and end <= ticks[1]


def _by_state(path: Path, takes: _Takes) -> tuple[_Tree, _Tree]:
    """Return the watts of each CPU by state and kind, and the joules of each state by cause, over some windows."""
    joules: _Tree = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    causes: _Tree = defaultdict(lambda: defaultdict(lambda: defaultdict(float)))
    times: dict[tuple[int, str, str, int], float] = defaultdict(float)
    keys = ["cpu", "state", "cause", "component", "kind", "start", "end"]
    found = rows.grouped(path, keys, ["joules", "seconds"], BACKEND, rows.CALIBRATED)
    for row in (row for batch in found.to_batches(max_chunksize=_AT_ONCE) for row in batch.to_pylist()):
        moves = row["kind"] == "transition"  # not part of the power: `lull.whatif.charges` has transitions
        if row["cpu"] is None or moves or not takes(row["start"], row["end"]):
            continue
        joules[row["cpu"]][row["state"]][row["kind"]] += row["joules"]
        causes[row["cpu"]][row["state"]][row["cause"]] += row["joules"]
        # Each component repeats the time of its state and cause.
        place = (row["cpu"], row["state"], row["cause"], row["start"])
        times[place] = max(times[place], row["seconds"])
    seconds: dict[tuple[int, str], float] = defaultdict(float)
    for (cpu, state, _cause, _start), time in times.items():
        seconds[cpu, state] += time
    watts: _Tree = {}
    for (cpu, state), time in seconds.items():
        if time > 0:
            own = {kind: value / time for kind, value in joules[cpu][state].items()}
            watts.setdefault(cpu, {})[state] = own
    return watts, causes


def _shares(parts: Mapping[str, float]) -> dict[str, float]:
    whole = sum(parts.values())
    return {name: value / whole for name, value in parts.items()} if whole else {}


def _clusters(path: Path, platform: Platform) -> tuple[dict[str, dict[str, float]], set[str]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    keys = ["cpu", "cluster", "state", "kind"]
    for row in rows.grouped(path, keys, ["joules", "seconds"], BACKEND, rows.CALIBRATED).to_pylist():
        its_own = row["cpu"] is None and row["cluster"] is not None and row["kind"] == STATIC
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


def _complete(own: dict[str, dict[str, float]]) -> set[str]:
    known = [name for name in IDLE if name in own]
    missing = {name for name in IDLE if name not in own}
    for name in missing:
        if known:
            nearest = min(known, key=lambda other: abs(IDLE.index(other) - IDLE.index(name)))
            own[name] = _scaled(own[nearest], nearest, name)
        else:
            own[name] = {}
    _complete_ways(own)
    return missing


def _complete_ways(own: dict[str, dict[str, float]]) -> None:
    """Add the power of entries and exits for a CPU that never slept in these windows. As in the ledger, it is clocked
    without work."""
    model, power = states.load(), own["C1"]
    clock = power.get(DYNAMIC, 0.0) / (model.core.of("C1").clock or 1.0)
    leakage = power.get(STATIC, 0.0) / (model.core.of("C1").leakage or 1.0)
    for way in _WAYS:
        own.setdefault(way, {DYNAMIC: clock, STATIC: leakage})
    own.setdefault(SWITCH, {STATIC: leakage * model.transition.switch_leakage.value})


def _scaled(power: Mapping[str, float], before: str, after: str) -> dict[str, float]:
    model = states.load().core
    base = model.of(before).leakage
    return {kind: value * (model.of(after).leakage / base if base else 0.0) for kind, value in power.items()}


def with_model(watts: Watts, platform: Platform, numbers: Mapping[str, float]) -> Watts:
    """Return the watts with other numbers of power-models/states.yaml. Each kind of power scales with its number."""
    new = {name: added.like(state) for name, state in added.of(platform).items()}
    if not numbers and not new:
        return watts
    watts = _with_states(watts, new)
    numbers = {**_of_new(numbers, new), **numbers}
    model = states.load()
    kinds = {cpu: {state: dict(power) for state, power in own.items()} for cpu, own in watts.kinds.items()}
    clusters = {name: dict(power) for name, power in watts.clusters.items()}
    for key, value in numbers.items():
        part, _, last = key.rpartition(".")
        part, _, which = part.partition(".")
        if part == "transition":  # below, and in `lull.whatif.charges`
            continue
        if part == "l2":
            for cluster in platform.resolved_clusters():
                if cluster.core == last:
                    clusters[cluster.name][OFF] = clusters[cluster.name][ON] * value
            continue
        kind, before = _KINDS[last], getattr(model.core.of(new.get(which, which)), last)
        for cpu, own in kinds.items():
            if before and kind in own[which]:  # scaled, so that the existing number changes nothing
                own[which][kind] *= value / before
            else:  # C1 has both parts of an idle core's power. Its own new number may be among these
                base = getattr(model.core.of("C1"), last)
                own[which][kind] = watts.kinds[cpu]["C1"].get(kind, 0.0) / base * value if base else 0.0
    waits: dict[str, float] = {
        state.name: trips.factor(trips.SWITCH_LEAKAGE, state, numbers)
        for cluster in platform.resolved_clusters()
        for state in cluster.cstates
    }
    return replace(watts, kinds=kinds, clusters=clusters, waits=waits)


def _with_states(watts: Watts, new: Mapping[str, str]) -> Watts:
    """Return the watts with added states. `new` is the name of the state of its kind, for each added state."""
    kinds = {cpu: {**own, **{name: own[like] for name, like in new.items()}} for cpu, own in watts.kinds.items()}
    return replace(watts, kinds=kinds)


def _of_new(numbers: Mapping[str, float], new: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers of added states that are not set: those set for the state of their kind."""
    return {
        key.replace(f"core.{like}.", f"core.{name}."): value
        for name, like in new.items()
        for key, value in numbers.items()
        if key.startswith(f"core.{like}.")
    }
