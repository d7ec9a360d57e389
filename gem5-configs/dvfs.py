# SPDX-License-Identifier: BSD-3-Clause
"""Clock and voltage of each cluster, and the controller through which the guest changes them.

A cluster is one DVFS domain with the cluster's number; level 0 is the fastest operating point and the one it boots at.
Every change dumps and resets gem5's statistics, so that each window has one voltage and one frequency.
"""

from __future__ import annotations

from typing import Any

from m5 import objects
from spec import Cluster, Opp, Soc


def domain(number: int, opps: tuple[Opp, ...]) -> Any:
    """The clock domain of a cluster; its voltage domain is its child."""
    fastest_first = list(reversed(opps))
    return objects.SrcClockDomain(
        clock=[hertz(opp) for opp in fastest_first],
        voltage_domain=objects.VoltageDomain(voltage=[volts(opp) for opp in fastest_first]),
        domain_id=number,
    )


def place_fixed(system: Any, opp: Opp) -> None:
    """The domains of interconnect and devices, out of the controller's reach."""
    system.voltage_domain = objects.VoltageDomain(voltage=volts(opp))
    system.clk_domain = objects.SrcClockDomain(clock=hertz(opp), voltage_domain=system.voltage_domain)


def control(system: Any, soc: Soc, clusters: list[Any]) -> None:
    """One handler for all clusters, and therefore one transition latency: the longest of theirs."""
    system.dvfs_handler.domains = [cluster.clk_domain for cluster in clusters]
    system.dvfs_handler.sys_clk_domain = system.clk_domain
    system.dvfs_handler.transition_latency = f"{transition_latency_ns(soc.clusters)}ns"
    system.dvfs_handler.enable = True
    system.realview.energy_ctrl.dvfs_handler = system.dvfs_handler


def transition_latency_ns(clusters: tuple[Cluster, ...]) -> int:
    return max(cluster.transition_latency_ns for cluster in clusters)


def hertz(opp: Opp) -> str:
    return f"{opp.hz}Hz"


def volts(opp: Opp) -> str:
    return f"{opp.uv / 1e6}V"
