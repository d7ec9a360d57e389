# SPDX-License-Identifier: BSD-3-Clause
"""Estimates a CPU's activity without a trace, from gem5's power states and Linux's idle counters.

gem5 says how long a core ran (ON), was in WFI (CLK_GATED) or was turned off (OFF). Linux's cpuidle says how this WFI
time divides among idle states, but only for the whole run. Assumed: every window has the mixture of the whole run.
Linux counts entry and exit as time in the state, gem5 as ON. The length of entry and exit is computed from the states'
latencies on this machine, and subtracted from the window's ON.

A trace has no event when hotplug turns a CPU off: its last task, a stopper, seems to run until the CPU is back. So if
the trace has more activity than gem5's ON, the CPU was turned off for the difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lull.energy import transitions
from lull.energy.occupancy import NOTHING, Caches, Stay, Who
from lull.energy.residency import Residency
from lull.energy.states import ACTIVE, IDLE, OFF, SWITCH, UNTRACED
from lull.platform.schema import Cluster
from lull.rundir.cpuidle import Row


@dataclass(frozen=True)
class Mixture:
    """The division of one CPU's time in WFI among idle states, and the transitions and cache losses per tick of WFI."""

    shares: dict[str, float]
    transition: float
    """Ticks of flush and refill per tick of WFI."""
    switch: float
    """Ticks of entry and exit, which are waits for power, per tick of WFI."""
    caches: Caches

    def split(self, cpu: int, ticks: float, found: Residency, traced: Sequence[Stay]) -> list[Stay]:
        """Return the stays that fill `ticks` untraced ticks of a window, given the trace of the rest of the window."""
        awake = _awake(traced)
        off = min(ticks, found.off)
        on = min(ticks - off, max(0.0, found.on - awake))
        gated = ticks - off - on
        transition = min(on, gated * self.transition)
        switch = min(on - transition, gated * self.switch)
        stays = [
            Stay(Who(cpu, ACTIVE, ACTIVE), on - transition - switch),
            Stay(Who(cpu, "transition", "transition"), transition, self.caches.times(gated)),
            Stay(Who(cpu, SWITCH, "transition"), switch),
            *(Stay(Who(cpu, state, "idle"), gated * share) for state, share in self.shares.items()),
            Stay(Who(cpu, OFF, "idle"), off),
        ]
        return [stay for stay in stays if stay.ticks > 0 or stay.caches != NOTHING]


def _awake(stays: Sequence[Stay]) -> float:
    return sum(stay.ticks for stay in stays if stay.who.state not in (*IDLE, OFF))


def turned_off(traced: Sequence[Stay], found: Residency) -> tuple[list[Stay], list[Stay]]:
    """Return the traced stays without the time in which the CPU was turned off, and this time.

    This time is the traced activity beyond gem5's ON. It is taken first from the longest activity of the window,
    because a CPU that is off for most of a window seems to run one task all the time.
    """
    awake = _awake(traced)
    left = off = max(0.0, min(found.off, awake - found.on))
    if not off:
        return list(traced), []
    kept = []
    for stay in sorted(traced, key=lambda stay: (stay.who.state != ACTIVE, -stay.ticks)):
        moved = min(left, stay.ticks) if stay.who.state == ACTIVE else 0.0
        left -= moved
        kept.append(replace(stay, ticks=stay.ticks - moved))
    kept = [stay for stay in kept if stay.ticks > 0 or stay.caches != NOTHING]
    return kept, [Stay(Who(traced[0].who.cpu, OFF, "idle"), off - left)]


def mixture(
    rows: Sequence[Row], cpu: int, cluster: Cluster, ticks_per_us: float, traced: Mapping[str, tuple[int, int]]
) -> Mixture:
    """Return the mixture by Linux's counters, minus the entries and ticks by state that the trace already has.

    If a CPU never slept by these counters, all of gem5's WFI time counts as C1.
    """
    own = {row["name"]: row for row in rows if row["cpu"] == cpu}
    entries: dict[str, float] = {}
    asleep_us: dict[str, float] = {}
    clocked_us = switch_us = 0.0
    for state in cluster.cstates:
        row = own.get(state.name)
        known, known_ticks = traced.get(state.name, (0, 0))
        actual = state.actual
        parts_us = (actual.flush_us + actual.refill_us, actual.entry_us + actual.exit_us)
        way_us = sum(parts_us)
        count = max(0.0, (row["usage"] if row else 0) - known)
        spent_us = max(0.0, (row["time_us"] if row else 0) - known_ticks / ticks_per_us - known * way_us)
        cost_us = min(count * way_us, spent_us)
        entries[state.name], asleep_us[state.name] = count, spent_us - cost_us
        clocked_us += cost_us * parts_us[0] / (way_us or 1.0)
        switch_us += cost_us * parts_us[1] / (way_us or 1.0)
    total_us = sum(asleep_us.values())
    if not total_us:
        return Mixture({"C1": 1.0}, 0.0, 0.0, NOTHING)
    window_us = max((row["window_us"] for row in own.values()), default=0)
    known_us = sum(ticks for state, (_, ticks) in traced.items() if state != UNTRACED) / ticks_per_us
    active_us = max(0.0, window_us - known_us - total_us - clocked_us - switch_us)
    return Mixture(
        {state: time / total_us for state, time in asleep_us.items() if time},
        clocked_us / total_us,
        switch_us / total_us,
        _caches(entries, active_us, cluster).times(1.0 / (total_us * ticks_per_us)),
    )


def _caches(entries: Mapping[str, float], active_us: float, cluster: Cluster) -> Caches:
    """Return the effect of all entries together. Caches are assumed to fill for the mean active time before an entry.

    A cluster of several CPUs is assumed to be never off, because no counter says whether it was.
    """
    deep = entries.get("C3", 0.0) + entries.get("C4", 0.0)
    of_cluster = entries.get("C4", 0.0) if cluster.cpus == 1 else 0.0
    l1_fill_us, l2_fill_us = transitions.fill_us(cluster)
    l1, l2 = _full(deep, active_us, l1_fill_us), _full(of_cluster, active_us, l2_fill_us)
    return Caches(l1, l2, l1, l2, deep, of_cluster)


def _full(count: float, active_us: float, fill_us: float) -> float:
    """Return the content that `count` losses lose, in full caches."""
    return min(count, active_us / fill_us) if fill_us else 0.0
