# SPDX-License-Identifier: BSD-3-Clause
"""What a sleep costs beyond the power of its time: lines written back and fetched again, and charged rails.

As the ledger has it (`lull.energy.transitions`): full caches' worth, by how long CPUs worked since the caches were lost
last. A run that never left a state says nothing of these joules, so they are the model's, and not the recorded run's.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lull.energy import mcpat, states, transitions
from lull.energy.occupancy import Caches
from lull.platform.cstates import KEEPING_CACHES, StateKind
from lull.platform.schema import Platform

DIRTY, RAIL = "transition.dirty_share", "transition.rail_nf_per_mm2"
Joules = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Charge:
    """Of the CPUs of one cluster: joules of one sleep, with full caches."""

    l1_flush: float
    l1_refill: float
    l2_flush: float
    l2_refill: float
    core_rail: float
    cluster_rail: float
    l1_fill_ns: float
    l2_fill_ns: float

    def of_core(self, worked_ns: float) -> float:
        """Of a sleep in which a CPU loses its caches, after so much work."""
        return (self.l1_flush + self.l1_refill) * min(1.0, worked_ns / (self.l1_fill_ns or 1.0)) + self.core_rail

    def of_cluster(self, worked_ns: float) -> float:
        """What it is more if the cluster loses its cache, too."""
        return (self.l2_flush + self.l2_refill) * min(1.0, worked_ns / (self.l2_fill_ns or 1.0)) + self.cluster_rail

    def most(self, kind: StateKind) -> float:
        """Of one sleep in a state of this kind, after work that filled all caches."""
        if kind in KEEPING_CACHES:
            return 0.0
        return self.of_core(math.inf) + (self.of_cluster(math.inf) if kind == "cluster-off" else 0.0)

    def of(self, wakes: npt.NDArray[np.void]) -> tuple[Joules, Joules]:
        """Joules of each wake-up's way in, and of its way out."""
        lost, lost_l2 = wakes["refilled"] >= 0, wakes["refilled_l2"] >= 0
        l1 = np.where(lost, _full(wakes["refilled"], self.l1_fill_ns), 0.0)
        l2 = np.where(lost_l2, _full(wakes["refilled_l2"], self.l2_fill_ns), 0.0)
        out = self.l1_refill * l1 + self.l2_refill * l2 + self.core_rail * lost + self.cluster_rail * lost_l2
        return self.l1_flush * l1 + self.l2_flush * l2, out


def _full(worked: npt.NDArray[np.int64], fill_ns: float) -> Joules:
    return np.minimum(1.0, worked / fill_ns) if fill_ns else np.zeros(worked.size)


def of_platform(platform: Platform) -> list[Charge]:
    """Of each cluster, at its fastest operating point."""
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


def with_model(charges: Sequence[Charge], numbers: Mapping[str, float]) -> Sequence[Charge]:
    """With other numbers of power-models/states.yaml, which the joules are in proportion to."""
    model = states.load().transition
    dirty = numbers.get(DIRTY, model.dirty_share.value) / model.dirty_share.value
    rail = numbers.get(RAIL, model.rail_nf_per_mm2.value) / model.rail_nf_per_mm2.value
    return [
        replace(
            one, l1_flush=dirty * one.l1_flush, l2_flush=dirty * one.l2_flush, core_rail=rail * one.core_rail,
            cluster_rail=rail * one.cluster_rail,
        )
        for one in charges
    ]  # fmt: skip
