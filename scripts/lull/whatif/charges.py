# SPDX-License-Identifier: BSD-3-Clause
"""The charges of a sleep, besides power times time: lines written back and fetched again, and charged rails.

Charges are computed as in the ledger (`lull.energy.transitions`): caches fill with the CPUs' work since they were lost.
The joules are the model's, not the recorded run's, because a run has none for a state that it never left.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lull.energy import mcpat, transitions
from lull.energy.occupancy import Caches
from lull.platform.cstates import KEEPING_CACHES, CState
from lull.platform.schema import Platform
from lull.whatif import trips

Values = npt.NDArray[np.float64]


class Back(NamedTuple):
    """Counts for a state: sleeps that were not given up, those that lost the core's or the cluster's caches, and the
    lost content in full caches."""

    trips: float
    cores: float
    clusters: float
    l1: float
    l2: float


@dataclass(frozen=True)
class Charge:
    """Joules of one sleep with full caches, for the CPUs of one cluster."""

    l1_flush: float
    l1_refill: float
    l2_flush: float
    l2_refill: float
    core_rail: float
    cluster_rail: float
    l1_fill_ns: float
    l2_fill_ns: float
    trip: float = 0.0
    """Additional joules of one trip into the state and back."""

    def of_core(self, worked_ns: float) -> float:
        """Return the joules of a sleep after some work, while the cluster stays on."""
        lost = min(1.0, worked_ns / (self.l1_fill_ns or 1.0))
        return (self.l1_flush + self.l1_refill) * lost + self.core_rail + self.trip

    def of_cluster(self, worked_ns: float) -> float:
        """Return the additional joules if the cluster loses its cache, too."""
        return (self.l2_flush + self.l2_refill) * min(1.0, worked_ns / (self.l2_fill_ns or 1.0)) + self.cluster_rail

    @property
    def most(self) -> float:
        """Return the joules of one sleep after work that filled all caches."""
        return self.of_core(math.inf) + self.of_cluster(math.inf)

    def going(self, back: Back) -> float:
        """Return the joules of the entries."""
        return self.l1_flush * back.l1 + self.l2_flush * back.l2

    def coming(self, back: Back) -> float:
        """Return the joules of the exits."""
        refills = self.l1_refill * back.l1 + self.l2_refill * back.l2
        return refills + self.core_rail * back.cores + self.cluster_rail * back.clusters + self.trip * back.trips


def back(woken: npt.NDArray[np.void], l1_fill_ns: Values, l2_fill_ns: Values) -> tuple[Values, ...]:
    """Return what each wake-up adds to the numbers of `Back`. `…_fill_ns` are those of each wake-up's CPU."""
    lost, lost_l2 = woken["refilled"] >= 0, woken["refilled_l2"] >= 0
    return (
        (woken["given_up"] == 0).astype(np.float64), lost.astype(np.float64), lost_l2.astype(np.float64),
        np.where(lost, np.minimum(1.0, woken["refilled"] / l1_fill_ns), 0.0),
        np.where(lost_l2, np.minimum(1.0, woken["refilled_l2"] / l2_fill_ns), 0.0),
    )  # fmt: skip


def of_platform(platform: Platform) -> list[Charge]:
    """Return the charge of each cluster at its fastest operating point, for a sleep in which all caches are lost."""
    found = []
    for cluster, costs in zip(platform.resolved_clusters(), mcpat.transition_costs(platform), strict=True):
        volts = cluster.opps.table[-1].mv / 1000
        l1, l2, core, whole = (
            costs.joules(caches, volts)
            for caches in (
                Caches(l1_flushes=1.0, l1_refills=1.0), Caches(l2_flushes=1.0, l2_refills=1.0), Caches(core_wakes=1.0),
                Caches(cluster_wakes=1.0),
            )
        )  # fmt: skip
        l1_us, l2_us = transitions.fill_us(cluster)
        found.append(
            Charge(
                l1[transitions.FLUSH], l1[transitions.REFILL], l2[transitions.FLUSH], l2[transitions.REFILL],
                core[transitions.RAIL], whole[transitions.RAIL], 1000 * l1_us, 1000 * l2_us,
            )
        )  # fmt: skip
    return found


def of_states(charges: Sequence[Charge], platform: Platform, numbers: Mapping[str, float]) -> list[list[Charge]]:
    """Return the charge of each state of each cluster. Joules scale with `numbers`, of power-models/states.yaml."""
    found = []
    for charge, cluster in zip(charges, platform.resolved_clusters(), strict=True):
        l1_us, l2_us = transitions.fill_us(cluster)
        filled = replace(charge, l1_fill_ns=1000 * l1_us, l2_fill_ns=1000 * l2_us)
        found.append([_of_state(filled, state, numbers) for state in cluster.cstates])
    return found


def _of_state(charge: Charge, state: CState, numbers: Mapping[str, float]) -> Charge:
    core, whole = state.kind not in KEEPING_CACHES, state.kind == "cluster-off"
    dirty, rail = trips.factor(trips.DIRTY, state, numbers), trips.factor(trips.RAIL, state, numbers)
    return replace(
        charge,
        l1_flush=core * dirty * charge.l1_flush,
        l1_refill=core * charge.l1_refill,
        l2_flush=whole * dirty * charge.l2_flush,
        l2_refill=whole * charge.l2_refill,
        core_rail=core * rail * charge.core_rail,
        cluster_rail=whole * rail * charge.cluster_rail,
        trip=1e-6 * trips.number(trips.ENERGY, state, numbers),
    )
