# SPDX-License-Identifier: BSD-3-Clause
"""Loads a recorded run on gem5 for a what-if: its choices made again, its chains and its power."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lull.artifacts import governors
from lull.errors import UserError
from lull.platform.cstates import STATE_NAMES, CState
from lull.platform.schema import Platform
from lull.rundir import cpuidle
from lull.rundir.folder import CPUIDLE, RUN, TRACE, RunDir
from lull.runspec.spec import RunSpec
from lull.whatif import added, bars, chain, charges, differ, entries, recorded, renumbered, spent, ticks, watts
from lull.whatif.bars import Circumstances
from lull.whatif.chain import AS_RECORDED, Chains
from lull.whatif.charges import Charge
from lull.whatif.differ import OtherChoice
from lull.whatif.entries import Entries
from lull.whatif.library import Lived, State
from lull.whatif.recorded import Again
from lull.whatif.settings import Setup
from lull.whatif.sleeps import Columns
from lull.whatif.spent import Spending
from lull.whatif.watts import Watts

TICK_NS = 4_000_000
"""The period of the tick: HZ=250 in kernel-patches/config."""
TRACED = ("sched", "power", "irq", "ipi", "timer")
"""The groups of events that a replay reads."""
FREE_CLOCKS = "schedutil"
"""The only setting of `cpufreq` with which Linux changes the clocks in a run."""
_DEPTHS = tuple(STATE_NAMES.values())


class _OfMachine(NamedTuple):
    """Data about a machine that several parts of an answer share."""

    machine: Setup
    states: dict[int, list[State]]
    deepest: dict[int, int]
    power: Watts
    charges: list[list[Charge]]


@dataclass(frozen=True)
class Replay:
    path: Path
    machine: Setup
    told: dict[int, list[State]]
    """The states of each CPU, as described to Linux."""
    entries: Entries
    again: Again
    chains: Chains
    watts: Watts
    kept: tuple[str, ...]
    """Notes on parts that are left out or not changed."""
    free_clocks: bool = False
    """True if Linux may change the clocks."""

    @cached_property
    def circumstances(self) -> Circumstances:
        return Circumstances(self.free_clocks, self.by_cpus >= bars.TURNS)

    @cached_property
    def by_cpus(self) -> float:
        """Return the share of the recorded wake-ups that other CPUs caused."""
        woken = self.chains.woken(self.as_recorded)
        many = sum(self.chains.causes(cpu, woken[woken["cpu"] == cpu])[chain.OF_CPUS] for cpu in self.cpus)
        return many / max(1, woken.size)

    @property
    def cpus(self) -> list[int]:
        return sorted(self.chains.sleeps)

    @cached_property
    def differences(self) -> list[OtherChoice]:
        """Return the choices whose replay differs, each with its reason. To find the reasons takes many replays."""
        return differ.of_run(self.entries, self.again, self.machine.governor, self.told)

    @property
    def notes(self) -> list[str]:
        turns = [_of_turns(self.by_cpus)] if self.circumstances.in_turns else []
        return [*self.kept, *turns]

    @cached_property
    def as_recorded(self) -> npt.NDArray[np.void]:
        """Return the model's wake-ups with the recorded choices, without a change of states or governor."""
        return chain.run(self.chains, self.machine.platform, AS_RECORDED)

    def latency(self, machine: Setup, wakes: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
        """Return the latency of each wake-up, in nanoseconds.

        A sleep in its recorded state is corrected by the model's error with the recorded choices. This is some
        microseconds for a few sleeps, for example if the model wakes two CPUs of a cluster in another order.
        """
        late, recorded = chain.latency(wakes), self.chains_of(machine).sleeps
        for cpu, off in self._off.items():
            mine = (wakes["cpu"] == cpu) & (wakes["added"] == 0)
            sleep = wakes["sleep"][mine]
            same = recorded[cpu]["state"][sleep] == wakes["state"][mine]
            late[mine] = np.maximum(0, late[mine] + np.where(same, off[sleep], 0))
        return late

    @cached_property
    def _off(self) -> dict[int, npt.NDArray[np.int64]]:
        """Return for each CPU's sleeps the recorded latency minus the model's."""
        woken, found = self.chains.woken(self.as_recorded), {}
        for cpu, sleeps in self.chains.sleeps.items():
            own = woken[(woken["cpu"] == cpu) & (woken["added"] == 0) & (woken["given_up"] == 0)]
            recorded = sleeps[own["sleep"]]
            found[cpu] = np.zeros(sleeps.size, np.int64)
            found[cpu][own["sleep"]] = recorded["end"] - recorded["woken"] - chain.latency(own)
        return found

    def spending(self, machine: Setup, wakes: npt.NDArray[np.void]) -> Spending:
        return spent.of_wakes(self.chains, self.charges(machine), machine.platform, wakes)

    @cached_property
    def spent(self) -> Spending:
        """Return the recorded times and charges."""
        return self.spending(self.machine, self.as_recorded)

    @cached_property
    def _full_charges(self) -> list[Charge]:
        """Return the charge of each cluster for a sleep in which all caches are lost."""
        return charges.of_platform(self.machine.platform)

    def charges(self, machine: Setup) -> Sequence[Sequence[Charge]]:
        """Return the charges of each cluster's states."""
        return self._of(machine).charges

    @cached_property
    def lived(self) -> dict[int, Lived]:
        return recorded.lived(self.entries, self.again)

    def wakes(self, machine: Setup) -> npt.NDArray[np.void]:
        engine = recorded.warmed(machine.governor, self.states(machine), self._lived_of(machine), machine.tunables)
        return chain.run(self.chains_of(machine), machine.platform, engine, deepest=self.deepest(machine))

    def chains_of(self, machine: Setup) -> Chains:
        """Return the recorded chains with the numbers of states on a machine."""
        return self._numbered(machine)[0]

    def _lived_of(self, machine: Setup) -> Mapping[int, Lived]:
        return self._numbered(machine)[1]

    def _numbered(self, machine: Setup) -> tuple[Chains, Mapping[int, Lived]]:
        """Return the chains and lived sleeps with a machine's numbers of states, shared by points with these states."""
        if not added.of(machine.platform):
            return self.chains, self.lived
        layout = renumbered.layout(machine.platform)
        if layout not in self._by_layout:
            self._by_layout.clear()  # memory is for one layout, and a grid does not return to an earlier one
            chains = renumbered.chains(self.chains, self.machine.platform, machine.platform)
            lived = renumbered.lived(self.lived, self.machine.platform, machine.platform)
            self._by_layout[layout] = chains, lived
        return self._by_layout[layout]

    @cached_property
    def _by_layout(self) -> dict[renumbered.Layout, tuple[Chains, Mapping[int, Lived]]]:
        return {}

    def deepest(self, machine: Setup) -> dict[int, int]:
        """Return the number of each CPU's deepest state, for sleeps in the deepest state from before the command."""
        return self._of(machine).deepest

    def power(self, machine: Setup) -> Watts:
        return self._of(machine).power

    def states(self, machine: Setup) -> dict[int, list[State]]:
        """Return the states of each CPU, as described to Linux."""
        return self._of(machine).states

    def _of(self, machine: Setup) -> _OfMachine:
        if not self._last or self._last[0].machine is not machine:
            platform, states = machine.platform, self._states(machine)
            clusters = {cpu: cluster for cpus, cluster in platform.cpu_ranges() for cpu in cpus}
            self._last[:] = [
                _OfMachine(
                    machine, states,
                    {cpu: _deepest_kind(own, clusters[cpu].cstates) for cpu, own in states.items()},
                    watts.with_model(self.watts, platform, machine.model),
                    charges.of_states(self._full_charges, platform, machine.model),
                )
            ]  # fmt: skip
        return self._last[0]

    @cached_property
    def _last(self) -> list[_OfMachine]:
        """Return the data of the last machine that was asked about, in a list of at most one."""
        return []

    def _states(self, machine: Setup) -> dict[int, list[State]]:
        """Return the states as described to Linux: as recorded, unless the platform differs from the run's. A state
        that was disabled stays disabled, unless it was only too deep."""
        found: dict[int, list[State]] = {}
        old = self.machine.platform.resolved_clusters()
        for number, (cpus, cluster) in enumerate(machine.platform.cpu_ranges()):
            for cpu in cpus:
                if cpu not in self.told:
                    continue
                before = {
                    state.name: (state.advertised, was)
                    for state, was in zip(old[number].cstates, self.told[cpu], strict=True)
                }
                limit, was_limit = (_DEPTHS.index(one.deepest[cpu]) for one in (machine, self.machine))
                own = []
                for state in cluster.cstates:
                    now, depth = state.advertised, added.depth(state)
                    off = depth > limit or state.name in machine.without
                    told = State(state.name, 1000 * now.latency_us, 1000 * now.residency_us, off)
                    if state.name in before:
                        advertised, was = before[state.name]
                        told = told._replace(disabled=off or (was.disabled and depth < was_limit))
                        if (now.latency_us, now.residency_us) == (advertised.latency_us, advertised.residency_us):
                            told = was._replace(disabled=told.disabled)
                    own.append(told)
                found[cpu] = own
        return found


def check(path: Path) -> tuple[RunDir, RunSpec]:
    """Raise a UserError if a run cannot be asked about. Its trace is not read."""
    rundir = RunDir.open(path)
    spec = rundir.spec()
    if spec.engine != "gem5":
        raise UserError(f"{path}: of {spec.engine}, which has no timing; name a run on gem5")
    if (state := rundir.manifest()["state"]) != "finished":
        raise UserError(f"{path}: this run has not finished ({state}); wait, or run it again")
    untraced = [group for group in TRACED if group not in spec.trace]
    if untraced or not (rundir / TRACE).is_file():
        why = f"was traced without {', '.join(untraced)}" if spec.trace and untraced else "missing"
        words = " ".join(f"--trace {group}" for group in TRACED)
        raise UserError(f"{rundir / TRACE}: {why}; run the command again with {words}")
    return rundir, spec


def machine_of(path: Path) -> Setup:
    """Return the settings of a run. Its trace is not read, so that a mistake in a question is reported at once."""
    _, machine = _settings(*check(path))
    return machine


def _settings(rundir: RunDir, spec: RunSpec) -> tuple[dict[int, list[State]], Setup]:
    """Return the states of each CPU as described to Linux, and the settings of the run."""
    rows = cpuidle.read(rundir / CPUIDLE)
    if not rows:
        raise UserError(f"{rundir / CPUIDLE}: missing or empty; run the command again")
    told = _told(rows, rundir / CPUIDLE, spec.platform)
    (governor,) = cpuidle.governors(rows)["governor"]
    deepest = {cpu: own[_deepest(own)].name for cpu, own in told.items()}
    return told, Setup(spec.platform, governor, deepest, shadow=spec.policy.idle_shadow)


def load(
    path: Path,
    within_ms: tuple[float, float] | None = None,
    interrupts: Mapping[int, Sequence[int]] | None = None,
) -> Replay:
    """Return a run, ready for questions. `within_ms` is the asked part of the traced command; if not given, all of it.

    `interrupts` are the times of CLOCK_MONOTONIC at which devices interrupted each CPU, in order. Only some runs record
    them; the trace has no event for them.
    """
    rundir, spec = check(path)
    told, machine = _settings(rundir, spec)
    residencies = {cpu: [state.residency_ns for state in own] for cpu, own in told.items()}
    found = entries.read(rundir / TRACE, residencies, TICK_NS, within_ms)
    for cpu, times in (interrupts or {}).items():
        if cpu in found.by_cpu:
            entries.tell_interrupts(found.by_cpu[cpu], times)
    if found.lost:
        raise UserError(
            f"{rundir / TRACE}: lost {found.lost} events; trace less, or raise --trace-buffer, and run again"
        )
    again = recorded.again(found, machine.governor, told)
    most = {cpu: _deepest(own) for cpu, own in told.items()}

    def given(cpu: int, own: Columns) -> npt.ArrayLike:
        """Return 1 or 2 for sleeps from before the command. They are not chosen again: the trace lacks some of their
        inputs, and another governor would have had other sleeps before."""
        return np.where(own["start"] >= found.known_since, 0, np.where(own["state"] == most[cpu], 2, 1))

    tick_cost = ticks.of_cpus(found, spec.platform)
    chains = chain.of_run(
        again.made, spec.platform, TICK_NS, found.begin, found.end, found.unfinished, given, tick_cost,
        known=(found.known_since, found.known_until), events={cpu: past.events for cpu, past in again.pasts.items()},
    )  # fmt: skip
    if not any(chains.woken_from(cpu).size for cpu in chains.sleeps):
        raise UserError(f"{rundir / TRACE}: no CPU wakes up in the part that is asked about; record a longer run")
    return Replay(
        path=path,
        machine=machine,
        told=told,
        entries=found,
        again=again,
        chains=chains,
        watts=watts.of_run(rundir, spec.platform, sorted(chains.sleeps), found.ticks),
        kept=tuple(_kept(rundir, spec.platform, chains, found, again)),
        free_clocks=spec.policy.cpufreq == FREE_CLOCKS,
    )


def _of_turns(by_cpus: float) -> str:
    widest = max(times for kind, times in bars.OF_TURNS.items() if kind != "latency")
    return (
        f"{by_cpus:.0%} of the wake-ups are by another CPU; a replay knows such runs least, so that bars of latencies "
        f"are {bars.OF_TURNS['latency']:g} times as wide, and others up to {widest:g} times"
    )


def _deepest(states: Sequence[State]) -> int:
    return max(number for number, state in enumerate(states) if not state.disabled)


def _deepest_kind(told: Sequence[State], states: Sequence[CState]) -> int:
    """Return the deepest allowed state, as `_deepest`. An added state counts only if no other one is as deep."""
    allowed = [number for number, state in enumerate(told) if not state.disabled]
    return max(allowed, key=lambda at: (added.depth(states[at]), not isinstance(states[at], added.AddedState), at))


def _told(rows: Sequence[cpuidle.Row], path: Path, platform: Platform) -> dict[int, list[State]]:
    found: dict[int, list[State]] = {}
    if len(cpuidle.governors(rows)["governor"]) != 1:
        raise UserError(f"{path}: does not name one governor; run the command again")
    for row in rows:
        numbers: Mapping[str, object] = row
        latency, residency = numbers.get("latency_us"), numbers.get("residency_us")
        if not isinstance(latency, int) or not isinstance(residency, int):
            raise UserError(f"{path}: does not say what Linux was told of its states; run the command again")
        state = State(row["name"], 1000 * latency, 1000 * residency, bool(row["disabled"]))
        found.setdefault(row["cpu"], []).append(state)
    machine = {
        cpu: [state.name for state in cluster.cstates] for cpus, cluster in platform.cpu_ranges() for cpu in cpus
    }
    for cpu, own in found.items():
        if [state.name for state in own] != machine.get(cpu):
            raise UserError(f"{path}: CPU {cpu} has other idle states than in {RUN} beside it; run the command again")
        if all(state.disabled for state in own):
            raise UserError(f"{path}: CPU {cpu} may enter no idle state; run the command again with idle states")
    return found


def _kept(rundir: RunDir, platform: Platform, chains: Chains, seen: Entries, again: Again) -> list[str]:
    found = [
        f"CPU {cpu} is left out: it {'did not sleep' if cpu in seen.by_cpu else 'was off when the command ended'}"
        for cpus, _ in platform.cpu_ranges()
        for cpu in cpus
        if cpu not in chains.sleeps
    ]
    same = governors.of_run(dict(rundir.manifest()["artifacts"].get("kernel", {})))
    if not same:
        was = "may have been" if same is None else "was"
        found.append(
            f"the run's kernel {was} built with other governors than this checkout's; "
            f"{again.share():.1%} of its choices come out again"
        )
    if seen.frequencies:
        found.append(f"Linux changed the frequency {_times(seen.frequencies)}; work keeps the time that it took")
    if seen.moves:
        found.append(f"Linux moved a task to another CPU {_times(seen.moves)}; tasks stay where they were")
    return found


def _times(many: int) -> str:
    return "once" if many == 1 else f"{many} times"
