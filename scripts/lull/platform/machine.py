# SPDX-License-Identifier: BSD-3-Clause
"""Describes the machine for gem5's configuration: plain JSON, base units, no sources."""

from lull.platform.cores import load_core
from lull.platform.cstates import CState
from lull.platform.dram import load_device
from lull.platform.schema import BUS_BITS, Cluster, EventTimer, MemoryParts, Platform
from lull.platform.values import without_sources


def describe(platform: Platform) -> dict[str, object]:
    """Return the `soc` part of the gem5 settings. A cluster's index is also its MPIDR Aff1 and DVFS domain."""
    return {
        "name": platform.name,
        "memory": {
            "kind": platform.memory.kind,
            "channels": platform.memory.channels,
            "size_bytes": platform.memory.size_bytes,
            "parts": _parts(platform.memory.parts) if platform.memory.parts else None,
            "powerdown": platform.memory.powerdown,
        },
        "clusters": [_cluster(cluster) for cluster in platform.resolved_clusters()],
        "event_timers": [_event_timer(timer) for timer in platform.devices.event_timers],
        "system": {
            "clock_hz": platform.system.clock_mhz * 1_000_000,
            "voltage_uv": round(platform.system.mv * 1_000),
        },
    }


def _cluster(cluster: Cluster) -> dict[str, object]:
    return {
        "name": cluster.name,
        "core": without_sources(load_core(cluster.core).model_dump(mode="json")),
        "cpus": cluster.cpus,
        "l2": cluster.l2.model_dump(mode="json", exclude={"source"}),
        "opps": [{"hz": opp.hz, "uv": opp.uv} for opp in cluster.opps.table],
        "transition_latency_ns": round(cluster.transition_latency_us.value * 1_000),
        "cstates": [_cstate(state) for state in cluster.cstates],
    }


def _parts(parts: MemoryParts) -> dict[str, object]:
    device = load_device(parts.device)
    return {
        "ranks": parts.ranks,
        "devices": BUS_BITS[device.kind] // device.bits,
        "bits": device.bits,
        "bytes": device.mib << 20,
        "row_bytes": device.row_bytes,
        "refresh_ps": round(device.refresh_ns * 1000),
        "powerdown_exit_ps": round(device.powerdown_exit_ns * 1000),
        "self_refresh_exit_ps": round(device.self_refresh_exit_ns * 1000),
        "rails": [
            {
                "uv": round(rail.volts * 1_000_000),
                "ua": {name: round(ma * 1000) for name, ma in rail.ma.model_dump().items()},
            }
            for rail in device.rails
        ],
    }


def _cstate(state: CState) -> dict[str, object]:
    return {
        "name": state.name,
        "kind": state.kind,
        "actual": {
            "entry_ns": round(state.actual.entry_us * 1_000),
            "exit_ns": round(state.actual.exit_us * 1_000),
            "flush_ns": round(state.actual.flush_us * 1_000),
            "refill_ns": round(state.actual.refill_us * 1_000),
            "fill_ns": round(state.actual.fill_us * 1_000),
        },
    }


def _event_timer(timer: EventTimer) -> dict[str, object]:
    return {"name": timer.name, "base": timer.base, "spi": timer.spi, "clock_hz": timer.clock_khz * 1_000}
