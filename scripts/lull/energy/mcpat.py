# SPDX-License-Identifier: BSD-3-Clause
"""The backend `mcpat`: events times joules per event, plus leakage times time, and the shares of both in idle states.

It is not known in which span of a window its events happened. Assumed: an active CPU does the same work per time
throughout a window. During entry into and exit from an idle state, its clocks run, but nothing else happens. While it
waits for a power switch or a rail, its clocks do not run either.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lull.energy import activity, calibration, em, memory_controller, residency, states, tables, technology, transitions
from lull.energy.account import Account, Joules, Label, Part, closed, shared
from lull.energy.backend import OfCpu, OfL2, OfMemory
from lull.energy.calibration import Factors
from lull.energy.events import CYCLES, L2
from lull.energy.mcpat_xml import MEMORY
from lull.energy.memory_controller import MemoryTable
from lull.energy.occupancy import NOTHING, Caches, Stay
from lull.energy.states import ACTIVE, IDLE, OFF, SWITCH, TRANSITIONS
from lull.energy.tables import ClusterTable, OppTable
from lull.energy.uncore import PLATFORM, SELF_REFRESH, dram_shares, line_joules
from lull.errors import UserError
from lull.platform.cstates import CState
from lull.platform.schema import Cluster, Opp, Platform

READ = ".dram.dramBytesRead"
_CONTROLLER = re.compile(rf"system\.mem_ctrls\d*{re.escape(READ)}")


@dataclass(frozen=True)
class _Core:
    """A core at one operating point, by component."""

    components: tuple[str, ...]
    cycle_j: Joules
    """Energy of a cycle in which the core is clocked but does nothing."""
    idle_clock_w: Joules
    leakage_w: Joules

    @classmethod
    def of(cls, opp: OppTable, leakage: float) -> "_Core":
        """Return the core at an operating point. `leakage` is the run's leakage as a share of the table's."""
        names = tuple(sorted({*opp.joules_per_event, *opp.leakage} - {L2}))
        cycle = np.array([opp.joules_per_event.get(name, {}).get(CYCLES, 0.0) for name in names])
        return cls(names, cycle, cycle * opp.mhz * 1e6, leakage * np.array([_leakage_w(opp, name) for name in names]))

    def idle_w(self, state: str) -> Joules:
        """Return the clock power of each component in an idle state, then the leakage power of each."""
        remains = states.load().core.of(state)
        return np.concatenate([self.idle_clock_w * remains.clock, self.leakage_w * remains.leakage])


@dataclass(frozen=True)
class _Power:
    """Power of a core in each state during one window: dynamic power by component, then static power by component.

    gem5 may count events in a window in which the CPU was always idle by the trace, because the two clocks may disagree
    about an edge. `leftover_w` spreads the energy of these events over the window.
    """

    core: _Core
    working_w: Joules
    moving_w: Joules
    leftover_w: Joules
    moves_leak: bool
    dynamic_j: float

    @classmethod
    def of(cls, core: _Core, dynamic: Joules, stays: Sequence[Stay], hz: float, free_moves: bool) -> "_Power":
        """Return the power in a window. With `free_moves`, transitions cost only the energy that is given for them."""
        active_s = sum(stay.ticks for stay in stays if stay.who.state == ACTIVE) / hz
        switch_s = sum(stay.ticks for stay in stays if stay.who.state == SWITCH) / hz
        moving_s = sum(stay.ticks for stay in stays if stay.who.state in TRANSITIONS) / hz - switch_s
        # gem5 clocks a core also while it waits for power. So the cycles of both are subtracted from those of work.
        both_s = moving_s + switch_s
        both = np.minimum(core.idle_clock_w * both_s, dynamic) if active_s or free_moves else dynamic
        if not both_s:
            both = np.zeros_like(dynamic)
        rest = dynamic - both
        moving = np.zeros_like(dynamic) if free_moves or not moving_s else both * (moving_s / both_s)
        working, leftover = (rest, np.zeros_like(rest)) if active_s else (np.zeros_like(rest), rest)
        total_s = sum(stay.ticks for stay in stays) / hz
        return cls(
            core,
            working / (active_s or 1.0),
            moving / (moving_s or 1.0),
            leftover / total_s,
            not free_moves,
            float((moving + rest).sum()),
        )

    def of_state(self, state: str) -> Joules:
        extra = np.concatenate([self.leftover_w, np.zeros_like(self.leftover_w)])
        if state == ACTIVE:
            own: Joules = np.concatenate([self.working_w, self.core.leakage_w])
        elif state in TRANSITIONS:
            moving_w = np.zeros_like(self.moving_w) if state == SWITCH else self.moving_w
            own = np.concatenate([moving_w, self.core.leakage_w * self._leaks(state)])
        else:
            own = self.core.idle_w(state)
        spent: Joules = own + extra
        return spent

    def _leaks(self, state: str) -> float:
        """Return the share of its leakage that a core has in a state of work or transition."""
        if state in TRANSITIONS and not self.moves_leak:
            return 0.0
        return states.load().transition.switch_leakage.value if state == SWITCH else 1.0

    def static_w(self, state: str) -> float:
        """Return the power in a state that does not depend on event counts: leakage, and the rest of clock power."""
        if state in IDLE or state == OFF:
            remains = states.load().core.of(state)
            clock, leakage = remains.clock, remains.leakage
        else:
            clock, leakage = 0.0, self._leaks(state)
        return clock * float(self.core.idle_clock_w.sum()) + leakage * float(self.core.leakage_w.sum())


def transition_costs(platform: Platform) -> list[transitions.Costs]:
    """Return the modelled costs of transitions, for each cluster."""
    line_j = line_joules(platform.memory, memory_controller.load(platform))
    clusters = platform.resolved_clusters()
    areas = [_areas_mm2(tables.load(platform, cluster)) for cluster in clusters]
    return [transitions.costs(cluster, *own, line_j, given=False) for cluster, own in zip(clusters, areas, strict=True)]


@dataclass(frozen=True)
class WakeUpCost:
    """The energy of one sleep besides the sleep itself, with full caches, at the fastest operating point."""

    waits_j: float
    """Energy of the waits for power switches and rails, in entry and exit."""
    flush_clocked_j: float
    """Energy during the flush, at the power of a clocked core that does nothing."""
    refill_clocked_j: float
    """Energy during the refill, at the same power."""
    rails_j: float
    l1_j: float
    """Energy of lines between the L1s and the L2."""
    l2_j: float
    """Energy of lines between the L2 and memory, including memory's."""
    full_w: float
    """Published power of a busy core of the cluster."""

    @property
    def us_of_full_power(self) -> float:
        """Return the energy without the lines to and from memory, as µs at full power. The cluster's supply has it."""
        return self.us_without_refill + (self.refill_clocked_j + self.l1_j) / self.full_w * 1e6

    @property
    def us_without_refill(self) -> float:
        """Return the same if no line is fetched again."""
        return self.us_of_waits + self.flush_clocked_j / self.full_w * 1e6

    @property
    def us_of_waits(self) -> float:
        """Return the same for empty caches: only power switches and rails."""
        return (self.waits_j + self.rails_j) / self.full_w * 1e6


def wake_up(platform: Platform, cluster: Cluster, state: CState) -> WakeUpCost:
    """Return the calibrated cost of a wake-up. Instructions of firmware and Linux are not included: they are work."""
    opp, table = cluster.opps.table[-1], tables.load(platform, cluster)
    core, factors = _Core.of(table.at(opp.mhz), technology.leakage_share(platform)), calibration.factors(cluster.core)
    leakage_w = factors.static * float(core.leakage_w.sum())
    clocked_w = factors.dynamic * float(core.idle_clock_w.sum()) + leakage_w
    actual, whole = state.actual, state.kind == "cluster-off"
    line_j = line_joules(platform.memory, memory_controller.load(platform))
    costs = transitions.costs(cluster, *_areas_mm2(table), line_j, given=False)
    caches = Caches(l1_flushes=1.0, l1_refills=1.0, core_wakes=1.0, cluster_wakes=float(whole))
    lumps = costs.joules(caches, opp.mv / 1000)
    memory = costs.joules(Caches(l2_flushes=float(whole), l2_refills=float(whole)), opp.mv / 1000)
    return WakeUpCost(
        waits_j=(actual.entry_us + actual.exit_us) * 1e-6 * leakage_w * states.load().transition.switch_leakage.value,
        flush_clocked_j=actual.flush_us * 1e-6 * clocked_w,
        refill_clocked_j=actual.refill_us * 1e-6 * clocked_w,
        rails_j=lumps[transitions.RAIL],
        l1_j=lumps[transitions.FLUSH] + lumps[transitions.REFILL],
        l2_j=memory[transitions.FLUSH] + memory[transitions.REFILL],
        full_w=em.power_w(cluster, opp),
    )


class McPat:
    name = "mcpat"

    def __init__(
        self,
        clusters: Sequence[Cluster],
        made: Sequence[ClusterTable],
        calibrations: Sequence[Factors],
        memory: MemoryTable,
        line_j: float,
        gem5: str,
        given_transitions: bool = False,
        leakage: float = 1.0,
    ) -> None:
        """`line_j` is the energy of a line between an L2 and memory. `gem5` is the version that wrote the statistics.

        `leakage` is the leakage at the run's temperature, as a share of the tables'.
        """
        self._leakage = leakage
        self._clusters, self._tables, self._factors = clusters, made, calibrations
        self._memory, self._gem5 = memory, gem5
        self._costs = [
            transitions.costs(cluster, *_areas_mm2(table), line_j, given_transitions)
            for cluster, table in zip(clusters, made, strict=True)
        ]
        self._points: dict[tuple[int, float], tuple[OppTable, _Core]] = {}

    @classmethod
    def of(
        cls, platform: Platform, gem5: str, given_transitions: bool = False, temperature_k: float | None = None
    ) -> "McPat":
        """Return the model with the project's tables and factors. The default temperature is the platform's."""
        clusters = platform.resolved_clusters()
        made = [tables.load(platform, cluster) for cluster in clusters]
        factors = [calibration.factors(cluster.core) for cluster in clusters]
        memory = memory_controller.load(platform)
        line_j = line_joules(platform.memory, memory)
        leakage = technology.leakage_share(platform, temperature_k)
        return cls(clusters, made, factors, memory, line_j, gem5, given_transitions, leakage)

    def core(self, own: OfCpu) -> Account:
        table, core = self._at(own.cluster, own.opp)
        costs = self._costs[own.cluster]
        hz, stays, factors = own.hz, own.stays, self._factors[own.cluster]
        dynamic = self._dynamic(own, table, core)
        power = _Power.of(core, dynamic, stays, hz, free_moves=costs.is_given)
        labels: list[Label] = []
        rows: list[Joules] = []
        whole = power.dynamic_j
        for stay in stays:
            seconds, state = stay.ticks / hz, stay.who.state
            spent_w = power.of_state(state)
            lump = np.zeros(len(transitions.PARTS))
            if stay.caches != NOTHING:
                for part, joules in costs.joules(stay.caches, own.opp.mv / 1000).items():
                    lump[transitions.PARTS.index(part)] = joules
            whole += seconds * power.static_w(state) + float(lump.sum())
            labels.append(Label(state, stay.who.cause, seconds))
            rows.append(np.concatenate([spent_w * seconds, lump]))
            if stay.who.blamed:
                lost_w = core.idle_w(stay.who.chosen) - core.idle_w(stay.who.deserved)
                blamed = np.minimum(np.maximum(lost_w, 0.0) * seconds, spent_w * seconds)
                rows[-1][: blamed.size] -= blamed
                labels.append(Label(state, stay.who.blamed, 0.0))
                rows.append(np.concatenate([blamed, np.zeros_like(lump)]))
        return closed(
            own.place,
            labels,
            [
                *(Part(name, "dynamic") for name in core.components),
                *(Part(name, "static") for name in core.components),
                *transitions.PARTS,
            ],
            np.array(rows),
            _factors(factors, len(core.components), len(core.components), len(transitions.PARTS)),
            whole,
        )

    def _dynamic(self, own: OfCpu, table: OppTable, core: _Core) -> Joules:
        """Return the joules of events by component. The number of cycles is from gem5's power state ON.

        Minor's own count of cycles is not used: it is updated only when the core next does something, which may be in a
        later window after a long wait.
        """
        spent = activity.core_joules(table, own.window, own.path, self._gem5)
        if missing := spent.keys() - set(core.components):
            raise UserError(f"{own.place}: the table has no component {min(missing)}; run `lull energy tables` again")
        lag = own.residency.on / own.period - own.window[f"{own.path}.{residency.CYCLES}"]
        dynamic: Joules = np.array([spent.get(name, 0.0) for name in core.components]) + core.cycle_j * lag
        return dynamic

    def l2(self, own: OfL2) -> Account:
        """Return the L2's account. Leakage is charged to the users of the cluster's CPUs by time, otherwise to `idle`.

        If several CPUs are used, each user pays for the whole time of use, up to the length of the window: CPUs are
        assumed to work by turns.
        """
        table, _ = self._at(own.cluster, own.opp)
        dynamic = sum(activity.l2_joules(table, own.window, own.path, self._gem5).values())
        off_s, on_s = own.off_s, own.seconds - own.off_s
        leakage_w = _leakage_w(table, L2) * self._leakage
        kept = states.load().l2.when_off(self._clusters[own.cluster].core)
        shares = shared(own.users, "idle")
        used_s = min(on_s, sum(own.users.values()))
        on_j, off_j = leakage_w * on_s, leakage_w * kept * off_s
        labels = [Label("on", cause, used_s * share) for cause, share in shares.items()]
        rows = [[dynamic * share, leakage_w * used_s * share] for share in shares.values()]
        labels += [Label("on", "idle", on_s - used_s), Label(OFF, "idle", off_s)]
        rows += [[0.0, leakage_w * (on_s - used_s)], [0.0, off_j]]
        parts = [Part(L2, "dynamic"), Part(L2, "static")]
        factors = _factors(self._factors[own.cluster], 1, 1, 0)
        return closed(own.place, labels, parts, np.array(rows), factors, dynamic + on_j + off_j)

    def memory(self, own: OfMemory) -> Account:
        """Return the controllers' account. Lines are charged to the users of CPUs by time, the rest to the platform.

        A controller's clock is gated while the DRAM is in self-refresh. All ranks are assumed to be so simultaneously.
        """
        controllers = [name.removesuffix(READ) for name in own.window.matching(_CONTROLLER)]
        if not controllers:
            raise UserError(f"{own.place}: no statistic system.mem_ctrls*{READ}; gem5 24 and 25 have it")
        table = self._memory
        counts = [memory_controller.counts(own.window, name, self._gem5) for name in controllers]
        lines = sum(table.joules(count, 0.0) for count in counts)
        asleep = dram_shares(own.window)[SELF_REFRESH]
        always_w = np.array([table.watts * (1.0 - asleep), table.leakage.watts * self._leakage])
        always = always_w * own.seconds * len(controllers)
        shares = shared(own.users, PLATFORM)
        labels = [
            *(Label("on", cause, own.seconds * share) for cause, share in shares.items()),
            Label("on", PLATFORM, 0),
        ]
        rows = [*([lines * share, 0.0] for share in shares.values()), always]
        parts = [Part(MEMORY, "dynamic"), Part(MEMORY, "static")]
        # No calibration: there are factors only for types of cores.
        return closed(own.place, labels, parts, np.array(rows), np.ones(2), lines + float(always.sum()))

    def _at(self, cluster: int, opp: Opp) -> tuple[OppTable, _Core]:
        key = (cluster, opp.mhz)
        if key not in self._points:
            table = self._tables[cluster].at(opp.mhz)
            self._points[key] = table, _Core.of(table, self._leakage)
        return self._points[key]


def _leakage_w(opp: OppTable, component: str) -> float:
    leakage = opp.leakage.get(component)
    return leakage.watts if leakage else 0.0


def _areas_mm2(table: ClusterTable) -> tuple[float, float]:
    """Return the areas of a core and of the cluster's L2."""
    l2 = table.area_mm2.get(L2, 0.0)
    return sum(table.area_mm2.values()) - l2, l2


def _factors(factors: Factors, dynamic: int, static: int, transition: int) -> Joules:
    """Return the factor of each part. Transitions have 1: rails and lines of caches are not McPAT's estimates."""
    return np.repeat([factors.dynamic, factors.static, 1.0], [dynamic, static, transition])
