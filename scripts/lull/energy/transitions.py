# SPDX-License-Identifier: BSD-3-Clause
"""The cost of a transition, in addition to the power during its time.

Modelled: entry and exit have the power of an active core that does nothing (in the ledger, the time is `entry` and
`exit`). Added are the lines that are written back and fetched again, and the charge of rails that were off. gem5's
event counts do not have these lines, because gem5 keeps caches warm through a power-off.

Given: if a wake-up energy is published for the core, it replaces all of this except the lines to and from memory,
because it was measured on the cluster's rail.
"""

from dataclasses import dataclass
from functools import cache

from lull.energy import em, states
from lull.energy.account import Part
from lull.energy.occupancy import Caches
from lull.platform.cores import load_core
from lull.platform.schema import LINE_BYTES, Cluster, Opp

FLUSH = Part("flush", "transition")
REFILL = Part("refill", "transition")
RAIL = Part("rail", "transition")
GIVEN = Part("wake-given", "transition")
PARTS = (FLUSH, REFILL, RAIL, GIVEN)
REGULATOR = Part("regulator", "transition")


@dataclass(frozen=True)
class Costs:
    """The costs of one cluster's transitions."""

    l1_line_count: float
    l2_line_count: float
    dirty: float
    l1_line_j: float
    l2_line_j: float
    core_farad: float
    l2_farad: float
    given_core_j: float | None
    """The given joules of a core's transition; None if the model is used."""
    given_cluster_j: float

    def joules(self, caches: Caches, volts: float) -> dict[Part, float]:
        """Return the joules of one or more transitions at a voltage."""
        l1, l2 = self.l1_line_count * self.l1_line_j, self.l2_line_count * self.l2_line_j
        if self.given_core_j is not None:
            return {
                GIVEN: caches.core_wakes * self.given_core_j + caches.cluster_wakes * self.given_cluster_j,
                FLUSH: self.dirty * caches.l2_flushes * l2,
                REFILL: caches.l2_refills * l2,
            }
        farad = caches.core_wakes * self.core_farad + caches.cluster_wakes * self.l2_farad
        return {
            FLUSH: self.dirty * (caches.l1_flushes * l1 + caches.l2_flushes * l2),
            REFILL: caches.l1_refills * l1 + caches.l2_refills * l2,
            # To charge a rail from 0 V takes C x V^2, twice the energy that it then holds: the switch burns the rest.
            RAIL: farad * volts**2,
        }

    @property
    def is_given(self) -> bool:
        return self.given_core_j is not None


def costs(cluster: Cluster, core_mm2: float, l2_mm2: float, memory_line_j: float, given: bool) -> Costs:
    model = states.load().transition
    core = load_core(cluster.core)
    farad_per_mm2 = model.rail_nf_per_mm2.value * 1e-9
    published = model.given_us_of_full_power.of(cluster.core) if given else None
    full_w = em.power_w(cluster, cluster.opps.table[-1])
    return Costs(
        l1_line_count=core.l1d.size_kib * 1024 / LINE_BYTES,
        l2_line_count=cluster.l2.size_kib * 1024 / LINE_BYTES,
        dirty=model.dirty_share.value,
        l1_line_j=model.line_nj.l1_to_l2 * 1e-9,
        l2_line_j=memory_line_j,
        core_farad=core_mm2 * farad_per_mm2,
        l2_farad=l2_mm2 * farad_per_mm2,
        given_core_j=published.core_off * 1e-6 * full_w if published else None,
        given_cluster_j=published.cluster_off * 1e-6 * full_w if published else 0.0,
    )


def fill_us(cluster: Cluster) -> tuple[float, float]:
    """Return the microseconds of activity until a core's L1s are full, and until the cluster's L2 is full."""
    fill = {state.name: state.actual.fill_us for state in cluster.cstates}
    l2_us = float(fill.get("C4", 0.0))
    # If the platform gives no number for C3, lines are assumed to come at the same rate as for C4.
    return float(fill.get("C3", l2_us * _l1_kib(cluster.core) / cluster.l2.size_kib)), l2_us


@cache
def _l1_kib(name: str) -> int:
    """Return the size of both L1s. The answer is cached, because a what-if asks for each of its points."""
    core = load_core(name)
    return core.l1i.size_kib + core.l1d.size_kib


def regulator_joules(before: Opp, after: Opp) -> float:
    """Return the energy of a change of operating point. A step up charges the regulator's output. A step down costs
    nothing, because the charge is used, not lost."""
    rise = (after.mv - before.mv) / 1000
    return states.load().transition.regulator_uf.value * 1e-6 * (after.mv / 1000) * rise if rise > 0 else 0.0
