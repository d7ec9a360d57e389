# SPDX-License-Identifier: BSD-3-Clause
"""Counts a cluster's waits for its latency devices, and their length, from gem5's statistics.

The I/O bus counts packets by device. A load has two packets, request and answer, and takes an eighth of the device's
cost (`gem5-configs/idle.py`). So number and length are exact for a cluster, but gem5 does not tell which of its cores
waited. Atomic CPUs load, but do not wait.
"""

from collections.abc import Mapping

from lull.platform.schema import Cluster

SLICES = 8
PACKETS_PER_LOAD = 2
KINDS = ("retention", "core-off", "cluster-off")
"""The kinds of idle states that have latency devices. A cluster has the devices even if it lacks the state."""

COSTS = ("entry", "flush", "exit", "refill")
_PORT = "system.iobus.pktCount_system.iobridge.mem_side_port::system.realview.latency_cluster{}_{}_{}.pio"


def times(statistics: Mapping[str, float], number: int, kind: str, cost: str) -> float:
    """Return how often a cost of a kind of state was paid, as a number that may have eighths, such as 3.125.

    gem5 leaves out devices that nobody read: they count 0.
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
