# SPDX-License-Identifier: BSD-3-Clause
"""The device tree of a platform, on gem5 or QEMU.

Both trees have the same text for all that Linux schedules by: topology, capacity, OPPs, advertised latencies. They
differ in MPIDR numbering, conduit of PSCI, implementation of idle states, and devices. Actual latencies are only in
QEMU's tree: there, our idle driver reads them and waits. On gem5 they are in the hardware.
"""

import hashlib
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import jinja2

from lull.errors import UserError
from lull.platform import memory_map
from lull.platform.accelerator import load_kernel
from lull.platform.cores import load_core
from lull.platform.cstates import CState, StateKind
from lull.platform.schema import ACCEL, LINE_BYTES, SSD, Cluster, Platform
from lull.platform.storage import load_storage

Engine = Literal["gem5", "qemu"]
Part = Literal["machine", "peer"]
"""An end of the network, as `/lull` names it."""
ENGINES: tuple[Engine, ...] = get_args(Engine)

QEMU_CPUS_PER_AFF1 = 16
"""QEMU's `virt` has no clusters: it fills Aff0 with as many CPUs as a GICv3 target list can address."""

SUSPEND_PARAMS: dict[StateKind, int] = {"retention": 0x000_0000, "core-off": 0x001_0000, "cluster-off": 0x101_0000}
"""PSCI power states for gem5, in TF-A's original format: bit 16 powers down, bits from 24 on are the level, and the
state id must be 0. QEMU has none of them: it treats every suspend as WFI."""

DTC_OPTIONAL_CHECKS = ("node_name_chars_strict", "property_name_chars_strict")
"""Checks that are off in dtc by default. Our trees pass them, too."""

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class _Cpu:
    number: int
    reg: int


@dataclass(frozen=True)
class _State:
    spec: CState
    label: str
    node: str
    suspend_param: int


@dataclass(frozen=True)
class _L1:
    bytes: int
    sets: int


@dataclass(frozen=True)
class _Cluster:
    index: int
    spec: Cluster
    compatible: str
    shadow: bool
    cpus: list[_Cpu]
    states: list[_State]
    l1: dict[str, _L1]


class TreeRejected(UserError):
    """dtc rejects a tree of ours, because of a bug in a template, or of a value that no schema rule has caught."""


def render(
    platform: Platform,
    engine: Engine,
    bootargs: str,
    initrd: tuple[int, int] | None = None,
    network: Part | None = None,
) -> str:
    """Return the DTS text. `initrd` is the image's first address and the address after its end. `network` is None for a
    machine without a network."""
    clusters = _clusters(platform, engine)
    return _template(engine).render(
        platform=platform,
        storage={SSD: [load_storage(name) for name in platform.devices.storage]},
        kernels={ACCEL: [load_kernel(name) for name in platform.devices.accelerator]},
        engine=engine,
        source=f"platforms/{platform.name}.yaml",
        bootargs=bootargs,
        initrd=initrd,
        network=network,
        rng_seed=_rng_seed(platform.boot_seed),
        clusters=clusters,
        sockets=[
            [cluster for cluster in clusters if cluster.spec.socket == socket]
            for socket in range(platform.socket_count)
        ],
        redistributors=_redistributors(platform, engine),
        transition_ns=_transition_ns(platform),
        line_bytes=LINE_BYTES,
        map=memory_map,
    )


@cache
def _template(engine: Engine) -> jinja2.Template:
    """Return the compiled template, cached because compiling takes ten times as long as rendering."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters.update(hex=hex, cells=_cells, ns=_ns, quoted=_quoted)
    return environment.get_template(f"{engine}.dts.j2")


def _rng_seed(boot_seed: int) -> str:
    """Return the bytes that seed Linux's random numbers; empty for the seed 0."""
    if not boot_seed:
        return ""
    return " ".join(f"0x{byte:02x}" for byte in hashlib.sha256(f"lull boot {boot_seed}".encode()).digest())


def compile(dts: str, out: Path) -> None:  # noqa: A001
    """Write the DTB. A warning of dtc is an error, and then nothing is written."""
    options = [word for check in DTC_OPTIONAL_CHECKS for word in ("-W", check)]
    try:
        done = subprocess.run(
            ["dtc", *options, "-I", "dts", "-O", "dtb", "-o", "-", "-"],
            input=dts.encode(),
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise UserError("dtc: not found; install the package device-tree-compiler") from None
    if done.returncode != 0 or done.stderr:
        first = (done.stderr.decode(errors="replace").splitlines() or [f"status {done.returncode}"])[0]
        raise TreeRejected(f"{out.name}: dtc rejects the device tree: {first}")
    out.write_bytes(done.stdout)


def compatible_of(core: str) -> str:
    """Return the `compatible` string of a core. A shadow variant of a core has the core's name. Cortex-A7 and A15 are
    32-bit cores that are simulated with AArch64. They keep their names, because the pipelines are theirs."""
    return f"arm,cortex-{core.removesuffix('-shadow')}"


def mpidr(engine: Engine, cluster: int, cpu: int, number: int) -> int:
    """Return the affinity bits of CPU `number`, which is CPU `cpu` of its cluster."""
    if engine == "gem5":
        return cluster << 8 | cpu
    return number // QEMU_CPUS_PER_AFF1 << 8 | number % QEMU_CPUS_PER_AFF1


def _clusters(platform: Platform, engine: Engine) -> list[_Cluster]:
    return [
        _Cluster(
            index=index,
            spec=spec,
            compatible=compatible_of(spec.core),
            shadow=platform.role(spec) == "shadow",
            cpus=[_Cpu(number, mpidr(engine, index, cpu, number)) for cpu, number in enumerate(cpus)],
            states=[_state(spec, state) for state in spec.deep_states],
            l1=_l1(spec.core),
        )
        for index, (cpus, spec) in enumerate(platform.cpu_ranges())
    ]


def _state(cluster: Cluster, state: CState) -> _State:
    scope = "cluster" if state.kind == "cluster-off" else "cpu"
    return _State(
        spec=state,
        label=f"{state.name.lower()}_{cluster.name.replace('-', '_')}",
        node=f"{scope}-{state.name.lower()}-{cluster.name}",
        suspend_param=SUSPEND_PARAMS[state.kind],
    )


def _l1(core: str) -> dict[str, _L1]:
    description = load_core(core)
    return {
        side: _L1(cache.size_kib * 1024, cache.size_kib * 1024 // (cache.ways * LINE_BYTES))
        for side, cache in (("i", description.l1i), ("d", description.l1d))
    }


def _transition_ns(platform: Platform) -> int:
    """Return the transition latency for all clusters, the longest one: gem5 has one handler for all."""
    return max(round(cluster.transition_latency_us.value * 1_000) for cluster in platform.resolved_clusters())


def _redistributors(platform: Platform, engine: Engine) -> memory_map.Region:
    if engine == "qemu":
        return memory_map.VIRT_GIC_REDIST
    size = platform.cpu_count * memory_map.GIC_REDIST_STRIDE
    return memory_map.Region("GIC redistributors", memory_map.FOUNDATION_GIC_REDIST, size)


def _cells(number: int) -> str:
    """Return the two cells of a 64-bit number."""
    return f"{number >> 32:#x} {number & 0xFFFF_FFFF:#x}"


def _ns(microseconds: float) -> int:
    return round(microseconds * 1_000)


def _quoted(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise UserError(f"{text!r}: not plain printable text; leave such characters out")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
