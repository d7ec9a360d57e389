# SPDX-License-Identifier: BSD-3-Clause
"""A sleeping CPU of this machine, and the costs of its sleep.

CLK_GATED is a CPU in WFI, whichever C-state Linux and the firmware have put it in. OFF is a CPU that was turned off by
CPU hotplug: it loses its state and starts again at the reset address. gem5 can also call a CPU OFF that merely waits
long enough, which changes the statistics and nothing else. That stays disabled, so that OFF means one thing.

What a C-state takes beyond the instructions of firmware and kernel, firmware spends in loads from latency devices: a
page for each cluster, state and cost, which answers after one eighth of that cost. They have no place in a checkpoint,
so that every run may have its own. Atomic CPUs do not wait for an answer: with them, the costs are nothing.
"""

from __future__ import annotations

from typing import Any

from m5 import objects
from spec import Cluster, CState

LATENCY_BASE = 0x1D00_0000
"""The firmware's FVP_LATENCY_BASE."""

PAGE = 0x1000
STATES_PER_CLUSTER = 4
COSTS_PER_STATE = 8
SLICES = 8
"""Firmware looks for a pending interrupt between the eighths of an entry, and charges lost caches in eighths."""

STATES = {"retention": 1, "core-off": 2, "cluster-off": 3}
COSTS = ("entry", "flush", "exit", "refill")
FILL = len(COSTS)
"""The page after the costs holds the time in which a cache fills, in ticks of the system counter."""


def configure(cpu: Any) -> None:
    """Residency statistics of a CPU that mean what the C-states mean."""
    cpu.power_gating_on_idle = False
    cpu.power_state.possible_states = ["ON", "CLK_GATED", "OFF"]


def add_latency_devices(realview: Any, clusters: tuple[Cluster, ...], bus: Any, counter_hz: int) -> None:
    """All pages that firmware may read. A state that a cluster lacks costs nothing."""
    for number, cluster in enumerate(clusters):
        by_kind = {state.kind: state for state in cluster.cstates}
        for kind, index in STATES.items():
            state = by_kind.get(kind)
            name = f"latency_cluster{number}_{kind.replace('-', '_')}"
            for page, nanoseconds in enumerate(_costs(state)):
                device = _page(number, index, page, picoseconds=nanoseconds * 1000 // SLICES, value=0)
                setattr(realview, f"{name}_{COSTS[page]}", device)
                device.pio = bus.mem_side_ports
            fill_ticks = state.fill_ns * counter_hz // 10**9 if state else 0
            device = _page(number, index, FILL, picoseconds=0, value=max(fill_ticks, 1))
            setattr(realview, f"{name}_fill", device)
            device.pio = bus.mem_side_ports


def _costs(state: CState | None) -> tuple[int, int, int, int]:
    """In the order of COSTS."""
    if state is None:
        return (0, 0, 0, 0)
    return (state.entry_ns, state.flush_ns, state.exit_ns, state.refill_ns)


def _page(cluster: int, state: int, cost: int, picoseconds: int, value: int) -> Any:
    index = (cluster * STATES_PER_CLUSTER + state) * COSTS_PER_STATE + cost
    return objects.IsaFake(
        pio_addr=LATENCY_BASE + index * PAGE,
        pio_size=PAGE,
        pio_latency=f"{picoseconds}ps",
        ret_data32=value,
    )
