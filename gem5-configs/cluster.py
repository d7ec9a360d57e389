# SPDX-License-Identifier: BSD-3-Clause
"""A cluster: CPUs of one kind in one clock and voltage domain, behind one second-level cache.

CPUs are called `cpu0`, `cpu1`, … in every mode, because a checkpoint finds its objects by their names.
"""

from __future__ import annotations

from typing import Any

import caches
import cores
import dvfs
import idle
from m5 import objects
from spec import Cluster


def build(number: int, description: Cluster, mode: str) -> tuple[Any, list[Any]]:
    """The cluster's object and its CPUs, which come without caches and unconnected."""
    # gem5's CpuCluster would name a cluster's only CPU differently from the first of several.
    cluster = objects.SubSystem(clk_domain=dvfs.domain(number, description.opps))
    cpus = []
    for index in range(description.cpus):
        cpu = cores.build(description.core, mode, cpu_id=index, socket_id=number)
        idle.configure(cpu)
        setattr(cluster, f"cpu{index}", cpu)
        cpus.append(cpu)
    return cluster, cpus


def connect(cpus: list[Any], bus: Any) -> None:
    """CPUs straight on the interconnect."""
    for cpu in cpus:
        cpu.connectBus(bus)


def connect_through_caches(cluster: Any, cpus: list[Any], description: Cluster, bus: Any) -> None:
    """Two levels of cache; table walks go to the second."""
    cluster.l2_bus = objects.L2XBar()
    cluster.l2 = caches.level2(description)
    for cpu in cpus:
        cpu.addPrivateSplitL1Caches(*caches.level1(description.core))
        cpu.connectCachedPorts(cluster.l2_bus.cpu_side_ports)
    cluster.l2_bus.mem_side_ports = cluster.l2.cpu_side
    cluster.l2.mem_side = bus.cpu_side_ports
