# SPDX-License-Identifier: BSD-3-Clause
"""The whole machine: clusters, interconnect, memory and the Foundation platform, with firmware at EL3; and its peer.

The names of objects are the same in every stage and mode. Caches exist only where CPUs have a notion of time; they
have no place in a checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import caches
import checkpoint
import cluster as clusters_
import devices
import dvfs
import idle
import images
import interrupts
import memory
import network
from m5 import objects
from spec import Soc, Spec

EXTENSIONS = ["LPAE", "SECURITY", "FEAT_AES", "FEAT_PMULL", "FEAT_SHA1", "FEAT_SHA256", "FEAT_CRC32", "FEAT_PAuth"]
"""Armv8.0 with EL3 and without EL2: Linux enters at EL1, and firmware has no later extension to open.

Pointer authentication is there to be left off by the kernel, which makes its instructions do nothing. Debian's programs
contain them as hints, and on a machine without the extension gem5's O3 gives such a hint a destination register that
it then never writes: `paciasp` loses the return address (seen in 24.0.0.1)."""

BRIDGE_DELAY = "50ns"

SNOOP_FILTER_SIZE = "64MiB"
"""More than all caches of the largest platform hold."""


@dataclass(frozen=True)
class Machine:
    root: Any
    cpus: list[Any]
    """Of the machine under test."""
    peer_cpus: list[Any]
    expected: tuple[checkpoint.Expected, ...]
    """Of the machine under test, and of its peer if there is one."""


@dataclass(frozen=True)
class _System:
    soc: Soc
    system: Any
    clusters: list[Any]
    cpus: list[Any]
    timers: list[Any]


def build(spec: Spec) -> Machine:
    """The machine for one stage, and its peer. Nothing exists on gem5's side before `m5.instantiate`."""
    reset = reset_address(spec)
    tested = _build(spec.soc, spec.cpu, reset, _workload(spec.stage, spec.load), spec.readfile)
    if spec.network is None:
        root = objects.Root(full_system=True, system=tested.system)
        return Machine(root, tested.cpus, [], (_expected(tested),))
    other = spec.network.peer
    peer = _build(other.soc, "atomic", reset, _workload(spec.stage, other.load), other.readfile)
    network.add_card(tested.system, network.MACHINE_MAC)
    network.add_card(peer.system, network.PEER_MAC)
    root = objects.Root(full_system=True, system=tested.system, peer=peer.system)
    root.link = network.link(tested.system, peer.system, spec.network)
    return Machine(root, tested.cpus, peer.cpus, (_expected(tested), _expected(peer)))


def _build(soc: Soc, mode: str, reset: int, workload: Any, readfile: Path | None) -> _System:
    timed = mode != "atomic"
    system = objects.ArmSystem(
        mem_mode="timing" if timed else "atomic",
        release=objects.ArmRelease(extensions=EXTENSIONS),
        auto_reset_addr=False,
        reset_addr=reset,
        workload=workload,
        readfile=str(readfile or ""),
        m5ops_base=devices.M5OPS_BASE,
        cache_line_size=64,
        realview=devices.platform(),
        terminal=devices.console(),
    )
    dvfs.place_fixed(system, soc.system)
    system.mem_ranges = [memory.whole(images.DRAM_BASE, soc.memory)]
    _interconnect(system, timed)
    system.mem_ctrls = memory.controllers(images.DRAM_BASE, soc.memory, system.membus)
    timers = devices.add_event_timers(system.realview, soc.event_timers, system.iobus)
    idle.add_latency_devices(system.realview, soc.clusters, system.iobus, devices.COUNTER_HZ)

    built, cpus = [], []
    for number, description in enumerate(soc.clusters):
        cluster, its_cpus = clusters_.build(number, description, mode)
        setattr(system, f"cluster{number}", cluster)
        if timed:
            clusters_.connect_through_caches(cluster, its_cpus, description, system.membus)
        else:
            clusters_.connect(its_cpus, system.membus)
        built.append(cluster)
        cpus += its_cpus
    interrupts.check_room(system.realview, len(cpus))
    dvfs.control(system, soc, built)
    return _System(soc, system, built, cpus, timers)


def reset_address(spec: Spec) -> int:
    """The firmware's address: that of the file to load, or the one that the checkpoint was made with."""
    if spec.stage == "run":
        return checkpoint.reset_address(spec.checkpoint)
    return next(image.address for image in spec.load if image.name == "firmware")


def _workload(stage: str, load: tuple[images.Image, ...]) -> Any:
    """A run has its memory from the checkpoint; only the stage that boots loads anything."""
    if stage == "run":
        return objects.ArmFsWorkload()
    return objects.ArmFsWorkload(
        extras=[str(image.path) for image in load], extras_addrs=[image.address for image in load]
    )


def _interconnect(system: Any, timed: bool) -> None:
    system.membus = objects.SystemXBar()
    system.membus.snoop_filter = objects.SnoopFilter(lookup_latency=1, max_capacity=SNOOP_FILTER_SIZE)
    # An address that nothing answers is named before gem5 gives up.
    system.membus.badaddr_responder = objects.BadAddr(warn_access="warn")
    system.membus.default = system.membus.badaddr_responder.pio
    system.iobus = objects.IOXBar()

    system.iobridge = objects.Bridge(delay=BRIDGE_DELAY)
    system.iobridge.cpu_side_port = system.membus.mem_side_ports
    system.iobridge.mem_side_port = system.iobus.cpu_side_ports
    if timed:
        system.iocache = caches.for_devices(list(system.mem_ranges))
        system.iocache.cpu_side = system.iobus.mem_side_ports
        system.iocache.mem_side = system.membus.cpu_side_ports
    else:
        system.dmabridge = objects.Bridge(delay=BRIDGE_DELAY, ranges=list(system.mem_ranges))
        system.dmabridge.cpu_side_port = system.iobus.mem_side_ports
        system.dmabridge.mem_side_port = system.membus.cpu_side_ports

    system.realview.attachOnChipIO(system.membus, system.iobridge)
    system.realview.attachIO(system.iobus)
    system.system_port = system.membus.cpu_side_ports


def _expected(built: _System) -> checkpoint.Expected:
    """Once the system has its place below the root: paths depend on it."""
    system, clusters = built.system, built.soc.clusters
    realview = system.realview
    return checkpoint.Expected(
        cpus=tuple(cpu.path() for cpu in built.cpus),
        gic=realview.gic.path(),
        timer=realview.generic_timer.path(),
        counter=realview.sys_counter.path(),
        energy=realview.energy_ctrl.path(),
        dvfs=system.dvfs_handler.path(),
        domains=tuple(
            (item.clk_domain.path(), len(clusters[number].opps)) for number, item in enumerate(built.clusters)
        ),
        event_timers=tuple(timer.path() for timer in built.timers),
        physmem=f"{system.path()}.physmem",
        memory_bytes=built.soc.memory.size_bytes,
        card=realview.network_card.path() if hasattr(realview, "network_card") else None,
    )
