# SPDX-License-Identifier: BSD-3-Clause
"""How long the cores of a cluster waited for its latency devices, from gem5's own statistics.

The I/O bus counts packets by device: two per load, request and answer, and a load takes an eighth of the device's cost.
So the time is exact, for a cluster; gem5 does not tell which of its cores waited. Atomic CPUs do not wait.
"""

from collections.abc import Mapping

from lull.platform.schema import Cluster

SLICES = 8
PACKETS_PER_LOAD = 2
COSTS = ("entry", "flush", "exit", "refill")
_PORT = "system.iobus.pktCount_system.iobridge.mem_side_port::system.realview.latency_cluster{}_{}_{}.pio"


def waits_s(statistics: Mapping[str, float], number: int, cluster: Cluster) -> dict[tuple[str, str], float]:
    """Seconds by C-state and cost in one window. gem5 leaves out a device that nobody read."""
    return {
        (state.name, cost): statistics.get(_PORT.format(number, state.kind.replace("-", "_"), cost), 0.0)
        / PACKETS_PER_LOAD
        / SLICES
        * getattr(state.actual, f"{cost}_us")
        / 1e6
        for state in cluster.deep_states
        for cost in COSTS
    }
