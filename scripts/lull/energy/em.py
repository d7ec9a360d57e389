# SPDX-License-Identifier: BSD-3-Clause
"""The backend `em`: utilisation times the power of the operating point, as in AppScope and in Linux's energy model.

P = dynamic-power-coefficient x f x V^2 while a CPU is busy. There is no idle power, leakage, transition or L2: the
comparison with the backend `mcpat` shows what this leaves out. Busy is meant as in Linux, where entry into and exit
from an idle state are idle.
"""

import numpy as np

from lull.energy.account import Account, Label, Part, Place, closed
from lull.energy.backend import OfCpu, OfL2, OfMemory
from lull.energy.states import ACTIVE
from lull.platform.schema import Cluster, Opp, Platform

BUSY = Part("core", "dynamic")


class EnergyModel:
    name = "em"

    def __init__(self, platform: Platform) -> None:
        self._clusters = platform.resolved_clusters()

    def core(self, own: OfCpu) -> Account:
        busy = [stay for stay in own.stays if stay.who.state == ACTIVE]
        watts = power_w(self._clusters[own.cluster], own.opp)
        joules = np.array([[watts * stay.ticks / own.hz] for stay in busy]).reshape(-1, 1)
        labels = [Label(ACTIVE, stay.who.cause, stay.ticks / own.hz) for stay in busy]
        whole = watts * (sum(stay.ticks for stay in busy) / own.hz)
        return closed(own.place, labels, [BUSY], joules, np.ones(1), whole)

    def l2(self, own: OfL2) -> Account:
        return _nothing(own.place)

    def memory(self, own: OfMemory) -> Account:
        return _nothing(own.place)


def _nothing(place: Place) -> Account:
    return closed(place, [], [BUSY], np.empty((0, 1)), np.ones(1), 0.0)


def power_w(cluster: Cluster, opp: Opp) -> float:
    """Return the power of one busy core. The coefficient, in uW/MHz/V^2, is measured, so it is not calibrated."""
    return cluster.dynamic_power_coefficient.value * 1e-6 * opp.mhz * (opp.mv / 1000) ** 2
