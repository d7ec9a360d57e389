# SPDX-License-Identifier: BSD-3-Clause
"""The settings of one simulation: one JSON file, read whole and checked before gem5 builds anything.

What a platform or a core may say is checked where it is written. Here the concern is a file of another version, or one
edited by hand: no key missing, none too many, each of its type.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import images
from failure import Failure
from keys import Keys

SCHEMA = 6
STAGES = ("checkpoint", "run")
CPU_MODES = ("atomic", "timing", "detailed")
PIPELINES = ("in-order", "out-of-order")
STATE_KINDS = ("wfi", "retention", "core-off", "cluster-off")
MEMORY_KINDS = ("ddr3-1600", "ddr4-2400", "lpddr3-1600")
CURRENTS = ("idd0", "idd2n", "idd2p", "idd3n", "idd3p", "idd4r", "idd4w", "idd5", "idd6")

MAX_CLUSTERS = 4
MAX_CPUS = 8
"""CPUs in a cluster: gem5 orders objects by name, and `cpu10` would come before `cpu2`."""


@dataclass(frozen=True)
class Opp:
    hz: int
    uv: int


@dataclass(frozen=True)
class CState:
    name: str
    kind: str
    entry_ns: int
    exit_ns: int
    flush_ns: int
    """To write back a full cache, and `refill_ns` to bring its content back: the share that is charged grows with the
    time that the core has run, and is all of it after `fill_ns`."""
    refill_ns: int
    fill_ns: int


@dataclass(frozen=True)
class L2:
    size_kib: int
    ways: int
    latency_cycles: int
    mshrs: int


@dataclass(frozen=True)
class Cluster:
    name: str
    core: dict[str, Any]
    cpus: int
    l2: L2
    opps: tuple[Opp, ...]
    transition_latency_ns: int
    cstates: tuple[CState, ...]


@dataclass(frozen=True)
class EventTimer:
    name: str
    base: int
    spi: int
    clock_hz: int


@dataclass(frozen=True)
class Rail:
    """A supply of a DRAM device: volts, and amperes by JEDEC's names."""

    volts: float
    amperes: dict[str, float]


@dataclass(frozen=True)
class DramParts:
    ranks: int
    devices: int
    """In a rank."""
    bits: int
    bytes: int
    row_bytes: int
    refresh_ps: int
    powerdown_exit_ps: int
    self_refresh_exit_ps: int
    rails: tuple[Rail, ...]


@dataclass(frozen=True)
class Memory:
    kind: str
    channels: int
    size_bytes: int
    parts: DramParts | None
    """None: gem5's own devices of the kind."""
    powerdown: bool


@dataclass(frozen=True)
class Soc:
    name: str
    memory: Memory
    clusters: tuple[Cluster, ...]
    event_timers: tuple[EventTimer, ...]
    system: Opp


@dataclass(frozen=True)
class Peer:
    """The machine at the other end of the network: always on atomic CPUs."""

    readfile: Path | None
    load: tuple[images.Image, ...]
    soc: Soc


@dataclass(frozen=True)
class Network:
    delay_ns: int
    mbit_s: int
    peer: Peer


@dataclass(frozen=True)
class Spec:
    stage: str
    cpu: str
    checkpoint: Path
    readfile: Path | None
    limit_s: float
    stats_period_s: float | None
    seed: int
    load: tuple[images.Image, ...]
    soc: Soc
    network: Network | None
    """None: the machine has no network card, and nothing is beside it."""


def read(path: Path) -> Spec:
    """The settings in a file; every complaint starts with the file's name."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"{path} cannot be read ({error.strerror}); give the path of gem5.json") from None
    except ValueError as error:
        raise Failure(f"{path} is not JSON ({error}); write the settings again") from None
    try:
        return parse(data)
    except Failure as failure:
        raise Failure(f"{path}: {failure}") from None


def parse(data: object) -> Spec:
    top = Keys(data, "")
    top.integer("schema", SCHEMA, SCHEMA)
    stage = top.choice("stage", STAGES)
    cpu = top.choice("cpu", CPU_MODES)
    if stage == "checkpoint" and cpu != "atomic":
        raise Failure(f"cpu: a checkpoint is made with atomic CPUs, not {cpu} ones; use atomic")
    checkpoint = top.path("checkpoint")
    readfile = top.optional_path("readfile")
    limit_s = top.seconds("limit_s")
    stats_period_s = top.optional_seconds("stats_period_s")
    seed = top.integer("seed", 0, 2**63)
    load = _images(top.block("load"), stage)
    soc = _soc(top.block("soc"))
    network = _network(top, stage)
    top.done()
    return Spec(stage, cpu, checkpoint, readfile, limit_s, stats_period_s, seed, load, soc, network)


def _network(top: Keys, stage: str) -> Network | None:
    block = top.optional_block("network")
    if block is None:
        return None
    delay_ns = block.integer("delay_ns", 0, 10**9)
    mbit_s = block.integer("mbit_s", 1, 10**5)
    other = block.block("peer")
    peer = Peer(other.optional_path("readfile"), _images(other.block("load"), stage), _soc(other.block("soc")))
    other.done()
    block.done()
    return Network(delay_ns, mbit_s, peer)


def _images(load: Keys, stage: str) -> tuple[images.Image, ...]:
    """All of them to boot; a run has its memory from the checkpoint and may leave them out."""
    found = []
    for name in images.NAMES:
        if stage == "run" and not load.has(name):
            continue
        block = load.block(name)
        found.append(images.Image(name, block.path("path"), block.integer("addr", 0, 2**40)))
        block.done()
    load.done()
    return tuple(found)


def _soc(block: Keys) -> Soc:
    name = block.text("name")
    memory_block = block.block("memory")
    memory = Memory(
        kind=memory_block.choice("kind", MEMORY_KINDS),
        channels=memory_block.integer("channels", 1, 8),
        size_bytes=memory_block.integer("size_bytes", 2**26, 2**39),
        parts=_parts(memory_block),
        powerdown=memory_block.boolean("powerdown"),
    )
    memory_block.done()
    if memory.channels & (memory.channels - 1):
        raise Failure(f"{memory_block.at('channels')}: {memory.channels} is not a power of two; give 1, 2, 4 or 8")
    clusters = tuple(_cluster(item) for item in block.blocks("clusters", 1, MAX_CLUSTERS))
    timers = tuple(_event_timer(item) for item in block.blocks("event_timers", 0, 8))
    system_block = block.block("system")
    system = Opp(system_block.integer("clock_hz", 10**6, 10**10), system_block.integer("voltage_uv", 10**5, 5 * 10**6))
    system_block.done()
    block.done()
    return Soc(name, memory, clusters, timers, system)


def _parts(memory: Keys) -> DramParts | None:
    block = memory.optional_block("parts")
    if block is None:
        return None
    parts = DramParts(
        ranks=block.integer("ranks", 1, 4),
        devices=block.integer("devices", 1, 16),
        bits=block.integer("bits", 4, 64),
        bytes=block.integer("bytes", 2**26, 2**34),
        row_bytes=block.integer("row_bytes", 256, 2**14),
        refresh_ps=block.integer("refresh_ps", 1, 10**7),
        powerdown_exit_ps=block.integer("powerdown_exit_ps", 1, 10**7),
        self_refresh_exit_ps=block.integer("self_refresh_exit_ps", 1, 10**7),
        rails=tuple(_rail(item) for item in block.blocks("rails", 1, 2)),
    )
    block.done()
    return parts


def _rail(block: Keys) -> Rail:
    volts, own = block.integer("uv", 1, 5 * 10**6) / 1e6, block.block("ua")
    rail = Rail(volts, {name: own.integer(name, 0, 10**6) / 1e6 for name in CURRENTS})
    own.done()
    block.done()
    return rail


def _cluster(block: Keys) -> Cluster:
    core = block.take("core")
    if not isinstance(core, dict) or core.get("pipeline") not in PIPELINES:
        raise Failure(f"{block.at('core')}: not a core description; its `pipeline` is {' or '.join(PIPELINES)}")
    l2 = block.block("l2")
    cluster = Cluster(
        name=block.text("name"),
        core=core,
        cpus=block.integer("cpus", 1, MAX_CPUS),
        l2=L2(
            l2.integer("size_kib", 4, 65536),
            l2.integer("ways", 1, 64),
            l2.integer("latency_cycles", 1, 1000),
            l2.integer("mshrs", 1, 1024),
        ),
        opps=_opps(block),
        transition_latency_ns=block.integer("transition_latency_ns", 0, 10**9),
        cstates=tuple(_cstate(item) for item in block.blocks("cstates", 0, 8)),
    )
    l2.done()
    block.done()
    return cluster


def _opps(block: Keys) -> tuple[Opp, ...]:
    found: list[Opp] = []
    for item in block.blocks("opps", 1, 32):
        opp = Opp(item.integer("hz", 10**6, 10**10), item.integer("uv", 10**5, 5 * 10**6))
        item.done()
        if found and (opp.hz <= found[-1].hz or opp.uv < found[-1].uv):
            raise Failure(f"{item.at('hz')}: slower or lower in voltage than the one before; list OPPs ascending")
        found.append(opp)
    return tuple(found)


def _cstate(block: Keys) -> CState:
    actual = block.block("actual")
    keys = ("entry_ns", "exit_ns", "flush_ns", "refill_ns", "fill_ns")
    nanoseconds = [actual.integer(key, 0, 10**10) for key in keys]
    actual.done()
    state = CState(block.text("name"), block.choice("kind", STATE_KINDS), *nanoseconds)
    block.done()
    return state


def _event_timer(block: Keys) -> EventTimer:
    timer = EventTimer(
        name=block.text("name"),
        base=block.integer("base", 0, 2**40),
        spi=block.integer("spi", 0, 987),
        clock_hz=block.integer("clock_hz", 1, 10**9),
    )
    block.done()
    return timer
