# SPDX-License-Identifier: BSD-3-Clause
"""The number and length of waits of a cluster's cores for its latency devices, from gem5's own statistics.

The I/O bus counts packets by device: two per load, request and answer, and a load takes an eighth of the device's cost
(`gem5-configs/idle.py`). So both are exact, for a cluster; gem5 does not tell which of its cores waited. Atomic CPUs
load, but do not wait.
"""

from collections.abc import Mapping

from lull.platform.schema import Cluster

SLICES = 8
PACKETS_PER_LOAD = 2
KINDS = ("retention", "core-off", "cluster-off")
"""The idle states that have latency devices, also where a cluster lacks the state."""

COSTS = ("entry", "flush", "exit", "refill")
_PORT = "system.iobus.pktCount_system.iobridge.mem_side_port::system.realview.latency_cluster{}_{}_{}.pio"


def times(statistics: Mapping[str, float], number: int, kind: str, cost: str) -> float:
    """Return the number of times that a cost of a kind of state was paid, whole or in eighths.

    gem5 leaves out devices that nobody read.
    """
    packets = statistics.get(_PORT.format(number, kind.replace("-", "_"), cost), 0.0)
    return packets / PACKETS_PER_LOAD / SLICES


def waits_s(statistics: Mapping[str, float], number: int, cluster: Cluster) -> dict[tuple[str, str], float]:
    """Return the seconds of waits in one window, by C-state and cost."""
    return {
        (state.name, cost): times(statistics, number, state.kind, cost) * getattr(state.actual, f"{cost}_us") / 1e6
        for state in cluster.deep_states
        for cost in COSTS
    }
