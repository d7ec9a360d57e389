# SPDX-License-Identifier: BSD-3-Clause
"""The part of gem5-configs that is plain Python: what it accepts, what it refuses, and in which words."""

from __future__ import annotations

import ast
import copy
import dataclasses
import gzip
import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from lull.engines import gem5_network, latency_devices
from lull.files.paths import ROOT
from lull.platform import memory_map, schema
from lull.platform.cores import OPERATIONS, load_core
from lull.platform.cstates import StateKind
from lull.platform.dram import load_device
from lull.platform.load import list_platforms, load_peer, load_platform
from lull.platform.machine import describe
from lull.platform.network import MAC, Network
from lull.platform.schema import MemoryKind
from tests import nested

CONFIGS = ROOT / "gem5-configs"
FILES = sorted(CONFIGS.glob("*.py"))

sys.path.insert(0, str(CONFIGS))
checkpoint = importlib.import_module("checkpoint")
failure = importlib.import_module("failure")
images = importlib.import_module("images")
opclasses = importlib.import_module("opclasses")
outcome = importlib.import_module("outcome")
requires = importlib.import_module("requires")
spec = importlib.import_module("spec")
sys.path.remove(str(CONFIGS))

OP_CLASSES = re.findall(
    r"\w+",
    """
IntAlu IntMult IntDiv FloatAdd FloatCmp FloatCvt FloatMult FloatMultAcc FloatDiv FloatMisc FloatSqrt SimdAdd SimdAddAcc
SimdAlu SimdCmp SimdCvt SimdMisc SimdMult SimdMultAcc SimdMatMultAcc SimdShift SimdShiftAcc SimdDiv SimdSqrt
SimdFloatAdd SimdFloatAlu SimdFloatCmp SimdFloatCvt SimdFloatDiv SimdFloatMisc SimdFloatMult SimdFloatMultAcc
SimdFloatMatMultAcc SimdFloatSqrt SimdReduceAdd SimdReduceAlu SimdReduceCmp SimdFloatReduceAdd SimdFloatReduceCmp
SimdAes SimdAesMix SimdSha1Hash SimdSha1Hash2 SimdSha256Hash SimdSha256Hash2 SimdShaSigma2 SimdShaSigma3 SimdPredAlu
Matrix MatrixMov MatrixOP MemRead MemWrite FloatMemRead FloatMemWrite IprAccess InstPrefetch SimdUnitStrideLoad
SimdUnitStrideStore SimdUnitStrideMaskLoad SimdUnitStrideMaskStore SimdStridedLoad SimdStridedStore SimdIndexedLoad
SimdIndexedStore SimdWholeRegisterLoad SimdWholeRegisterStore SimdUnitStrideFaultOnlyFirstLoad
SimdUnitStrideSegmentedLoad SimdUnitStrideSegmentedStore SimdExt SimdFloatExt SimdConfig
""",
)
"""Every class of gem5 24.0 but the one that needs no unit."""


def failing(message: str) -> Any:
    return pytest.raises(failure.Failure, match=message)


# The files themselves.


def test_only_the_standard_library_m5_and_each_other_are_imported() -> None:
    allowed = {"m5", "_m5"} | {file.stem for file in FILES} | set(sys.stdlib_module_names)
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            assert {name.partition(".")[0] for name in names} <= allowed, file


def test_an_older_python_inside_gem5_can_read_them() -> None:
    for file in FILES:
        tree = ast.parse(file.read_text(), feature_version=(3, 9))
        annotated = any(isinstance(node, ast.FunctionDef | ast.AnnAssign) for node in ast.walk(tree))
        postponed = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
        assert postponed or not annotated, f"{file} has annotations that Python 3.9 would evaluate"


# Operation classes.


def test_every_operation_class_is_in_one_group() -> None:
    placed = [name for names in opclasses.GROUPS.values() for name in names]
    assert sorted(placed) == sorted(OP_CLASSES)
    assert set(opclasses.GROUPS) == set(OPERATIONS)


@pytest.mark.parametrize("name", ["a7", "a15", "a53", "a57", "a72"])
def test_every_core_has_a_unit_for_every_operation_class(name: str) -> None:
    groups = {group for unit in load_core(name).units.table for group in unit.latency}
    served = {item for group in groups for item in opclasses.members(group, ["No_OpClass", *OP_CLASSES])}
    assert served == set(OP_CLASSES)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("SimdBf16MultAcc", "fp-multiply-add"),
        ("SimdBf16DotProd", "fp-multiply-add"),
        ("SimdBf16Cvt", "fp-convert"),
        ("SimdFloatNewDiv", "fp-divide"),
        ("SimdDotProd", "simd-multiply"),
        ("SimdCrc", "simd-alu"),
        ("SimdNewStridedLoad", "load"),
        ("SimdNewStridedStore", "store"),
        ("System", "system"),
    ],
)
def test_classes_of_later_releases_get_a_unit_too(name: str, group: str) -> None:
    assert opclasses.group_of(name) == group


# Settings.


ACTUAL = {"entry_ns": 0, "exit_ns": 10, "flush_ns": 30, "refill_ns": 40, "fill_ns": 500}


CURRENTS = {name: 1000 * number for number, name in enumerate(spec.CURRENTS, start=1)}
"""In µA; each another."""
PARTS = {
    "ranks": 2,
    "devices": 1,
    "bits": 32,
    "bytes": 512 << 20,
    "row_bytes": 4096,
    "refresh_ps": 130_000,
    "powerdown_exit_ps": 7500,
    "self_refresh_exit_ps": 140_000,
    "rails": [{"uv": 1_800_000, "ua": CURRENTS}, {"uv": 1_200_000, "ua": dict.fromkeys(CURRENTS, 0)}],
}


def settings() -> dict[str, Any]:
    cluster = {
        "name": "little",
        "core": load_core("a53").model_dump(mode="json"),
        "cpus": 2,
        "l2": {"size_kib": 512, "ways": 16, "latency_cycles": 9, "mshrs": 16},
        "opps": [{"hz": 200_000_000, "uv": 900_000}, {"hz": 400_000_000, "uv": 900_000}],
        "transition_latency_ns": 100_000,
        "cstates": [{"name": "C1", "kind": "wfi", "actual": dict(ACTUAL)}],
    }
    addresses = {"firmware": 0x0400_1000, "kernel": 0x8020_0000, "dtb": 0x8F00_0000, "initrd": 0x8800_0000}
    return {
        "schema": 6,
        "stage": "run",
        "cpu": "detailed",
        "checkpoint": "/checkpoints/one",
        "readfile": "/run/script",
        "limit_s": 10.0,
        "stats_period_s": 0.001,
        "seed": 1,
        "load": {name: {"path": f"/images/{name}", "addr": address} for name, address in addresses.items()},
        "soc": {
            "name": "tiny",
            "memory": {
                "kind": "lpddr3-1600",
                "channels": 2,
                "size_bytes": 512 << 20,
                "parts": copy.deepcopy(PARTS),
                "powerdown": True,
            },
            "clusters": [cluster, {**copy.deepcopy(cluster), "name": "shadow", "cpus": 1}],
            "event_timers": [{"name": "event", "base": 0x1C12_0000, "spi": 3, "clock_hz": 1_000_000}],
            "system": {"clock_hz": 500_000_000, "voltage_uv": 1_000_000},
        },
        "network": None,
    }


def networked() -> dict[str, Any]:
    plain = settings()
    peer = {"readfile": "/run/peer-script", "load": plain["load"], "soc": copy.deepcopy(plain["soc"])}
    return {**plain, "network": {"delay_ns": 10_000, "mbit_s": 1000, "peer": peer}}


def test_settings_are_read() -> None:
    read = spec.parse(settings())
    assert (read.stage, read.cpu, read.limit_s) == ("run", "detailed", 10.0)
    assert [(cluster.name, cluster.cpus) for cluster in read.soc.clusters] == [("little", 2), ("shadow", 1)]
    assert read.soc.clusters[0].opps[-1] == spec.Opp(400_000_000, 900_000)
    assert read.soc.clusters[0].cstates == (
        spec.CState("C1", "wfi", entry_ns=0, exit_ns=10, flush_ns=30, refill_ns=40, fill_ns=500),
    )
    assert [image.name for image in read.load] == list(images.NAMES)
    for nothing in (None, ""):
        assert spec.parse({**settings(), "readfile": nothing}).readfile is None
    assert (read.stats_period_s, spec.parse({**settings(), "stats_period_s": None}).stats_period_s) == (0.001, None)


def test_the_parts_of_memory_are_read() -> None:
    memory = spec.parse(settings()).soc.memory
    assert memory.powerdown
    assert memory.parts is not None
    assert (memory.parts.ranks, memory.parts.devices, memory.parts.bits, memory.parts.bytes) == (2, 1, 32, 512 << 20)
    assert (memory.parts.row_bytes, memory.parts.refresh_ps) == (4096, 130_000)
    assert (memory.parts.powerdown_exit_ps, memory.parts.self_refresh_exit_ps) == (7500, 140_000)
    assert [rail.volts for rail in memory.parts.rails] == [1.8, 1.2]
    assert memory.parts.rails[0].amperes == {name: ua / 1e6 for name, ua in CURRENTS.items()}
    changed = settings()
    changed["soc"]["memory"]["parts"] = None
    assert spec.parse(changed).soc.memory.parts is None


def test_what_a_platform_says_of_its_memory_is_what_gem5_is_told() -> None:
    for name in list_platforms():
        platform = load_platform(name)
        described = {**settings(), "soc": describe(platform)}
        memory = spec.parse(json.loads(json.dumps(described))).soc.memory
        assert memory.powerdown == platform.memory.powerdown
        if platform.memory.parts is None:
            assert memory.parts is None
            continue
        device = load_device(platform.memory.parts.device)
        assert memory.parts is not None
        assert memory.parts.devices * memory.parts.bits == {"lpddr3-1600": 32}.get(memory.kind, 64)
        standby_w = sum(rail.volts * rail.amperes["idd2n"] for rail in memory.parts.rails)
        assert standby_w == pytest.approx(device.standby_w)


def test_only_a_run_may_leave_out_what_is_loaded() -> None:
    assert spec.parse({**settings(), "load": {}}).load == ()
    with failing(r"^load\.firmware: missing"):
        spec.parse({**settings(), "stage": "checkpoint", "cpu": "atomic", "load": {}})


def test_settings_and_platforms_have_the_same_words() -> None:
    assert set(get_args(MemoryKind)) == set(spec.MEMORY_KINDS)
    assert set(get_args(StateKind)) == set(spec.STATE_KINDS)


def test_a_network_is_read_with_the_machine_at_its_other_end() -> None:
    assert spec.parse(settings()).network is None
    network = spec.parse(networked()).network
    assert (network.delay_ns, network.mbit_s, str(network.peer.readfile)) == (10_000, 1000, "/run/peer-script")
    assert network.peer.soc == spec.parse(settings()).soc
    described = gem5_network.describe(Network(delay_us=2.5, mbit_s=100), "", {})
    network = spec.parse(json.loads(json.dumps({**settings(), "network": described}))).network
    assert (network.delay_ns, network.mbit_s, network.peer.readfile, network.peer.load) == (2500, 100, None, ())
    assert sum(cluster.cpus for cluster in network.peer.soc.clusters) == load_peer().cpu_count == 1


def test_all_agree_on_the_addresses_of_the_two_cards() -> None:
    ours = _constants("network")
    assert {"machine": ours["MACHINE_MAC"], "peer": ours["PEER_MAC"]} == MAC
    init = (ROOT / "benchmarks" / "guest" / "network.c").read_text()
    found = re.findall(r"\[PART_(\w+)\] = {\"[\d.]+\", {([\d, ]+)}}", init)
    guests = {part.lower(): ":".join(f"{int(byte):02x}" for byte in text.split(", ")) for part, text in found}
    assert guests == MAC


@pytest.mark.parametrize("name", list_platforms())
def test_every_platform_makes_valid_settings(name: str) -> None:
    for overrides in ((), ("shadow.enabled=true",), ("shadow.enabled=false",)):
        platform = load_platform(name, overrides)
        read = spec.parse(json.loads(json.dumps({**settings(), "soc": describe(platform)})))
        assert sum(cluster.cpus for cluster in read.soc.clusters) == platform.cpu_count


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema",), 1, r"^schema: 1 is out of range"),
        (("soc", "memory", "powerdown"), 1, r"^soc\.memory\.powerdown: 1 is not true or false"),
        (("soc", "memory", "parts"), 1, r"^soc\.memory\.parts: 1 is not a block of keys"),
        (("soc", "memory", "parts", "ranks"), 0, r"^soc\.memory\.parts\.ranks: 0 is out of range"),
        (("soc", "memory", "parts", "rails"), [], r"^soc\.memory\.parts\.rails: \[\] is not a list of 1 to 2"),
        (("stage",), "boot", r"^stage: \"boot\" is not known; use checkpoint or run"),
        (("stage",), "checkpoint", r"^cpu: a checkpoint is made with atomic CPUs, not detailed"),
        (("checkpoint",), "here", r"^checkpoint: here is relative"),
        (("limit_s",), 0, r"^limit_s: 0 is not a time"),
        (("limit_s",), float("nan"), r"^limit_s: NaN is not a time"),
        (("stats_period_s",), -1, r"^stats_period_s: -1 is not a time"),
        (("seed",), True, r"^seed: true is not a whole number"),
        (("load", "dtb", "path"), None, r"^load\.dtb\.path: missing"),
        (("load", "logo"), {}, r"^load\.logo: unknown key"),
        (("load", "kernel", "addr"), "0x80200000", r"^load\.kernel\.addr: \"0x80200000\" is not a whole number"),
        (("soc", "colour"), "red", r"^soc\.colour: unknown key"),
        (("soc", "memory", "kind"), "sram", r"^soc\.memory\.kind: \"sram\" is not known"),
        (("soc", "memory", "channels"), 3, r"^soc\.memory\.channels: 3 is not a power of two"),
        (("soc", "clusters"), [], r"^soc\.clusters: \[\] is not a list of 1 to 4"),
        (("soc", "clusters", 1, "cpus"), 9, r"^soc\.clusters\[1\]\.cpus: 9 is out of range; give 1 to 8"),
        (("soc", "clusters", 0, "core"), {}, r"^soc\.clusters\[0\]\.core: not a core description"),
        (("soc", "clusters", 0, "l2", "ways"), None, r"^soc\.clusters\[0\]\.l2\.ways: missing"),
        (("soc", "clusters", 0, "opps", 1, "hz"), 100_000_000, r"^soc\.clusters\[0\]\.opps\[1\]\.hz: slower"),
        (("soc", "clusters", 0, "opps", 1, "uv"), 800_000, r"^soc\.clusters\[0\]\.opps\[1\]\.hz: .* voltage"),
        (("soc", "clusters", 0, "cstates", 0, "kind"), "nap", r"^soc\.clusters\[0\]\.cstates\[0\]\.kind"),
        (("soc", "clusters", 0, "cstates", 0, "actual", "fill_ns"), None, r"actual\.fill_ns: missing"),
        (("soc", "clusters", 0, "cstates", 0, "actual", "refill_ns"), -1, r"actual\.refill_ns: -1 is out of range"),
        (("soc", "event_timers", 0, "spi"), 988, r"^soc\.event_timers\[0\]\.spi: 988 is out of range"),
        (("network",), 1, r"^network: 1 is not a block of keys"),
        (("network", "mbit_s"), 0, r"^network\.mbit_s: 0 is out of range; give 1 to 100000"),
        (("network", "delay_ns"), -1, r"^network\.delay_ns: -1 is out of range"),
        (("network", "jitter"), 1, r"^network\.jitter: unknown key"),
        (("network", "peer", "cpu"), "timing", r"^network\.peer\.cpu: unknown key"),
        (("network", "peer", "soc", "clusters"), [], r"^network\.peer\.soc\.clusters: \[\] is not a list of 1 to 4"),
    ],
)
def test_wrong_settings_are_refused_with_their_key(path: tuple[str | int, ...], value: object, message: str) -> None:
    data = networked()
    if value is None:
        nested.drop(data, path)
    else:
        nested.put(data, path, value)
    with failing(message):
        spec.parse(data)


def test_settings_that_are_no_settings(tmp_path: Path) -> None:
    with failing("gem5.json cannot be read"):
        spec.read(tmp_path / "gem5.json")
    (tmp_path / "gem5.json").write_text("{")
    with failing("gem5.json is not JSON"):
        spec.read(tmp_path / "gem5.json")
    (tmp_path / "gem5.json").write_text("[]")
    with failing(r"gem5.json: : \[\] is not a block of keys"):
        spec.read(tmp_path / "gem5.json")
    (tmp_path / "gem5.json").write_text(json.dumps(settings()))
    assert spec.read(tmp_path / "gem5.json") == spec.parse(settings())


# Images.


def image_files(folder: Path) -> list[Any]:
    found = []
    for name, block in settings()["load"].items():
        (folder / name).write_bytes(name.encode() * 100)
        found.append(images.Image(name, folder / name, block["addr"]))
    return found


def test_images_that_fit(tmp_path: Path) -> None:
    images.check(image_files(tmp_path), 512 << 20)


@pytest.mark.parametrize(
    ("number", "address", "message"),
    [
        (0, 0x0404_0000 - 4, "the firmware .* is outside 0x4000000..0x4040000"),
        (1, 0x7FFF_FFF0, "the kernel .* is outside 0x80000000..0xa0000000"),
        (3, 0xA000_0000 - 4, "the initrd .* is outside"),
        (3, 0x8F00_0010, "the initrd at 0x8f000010 overlaps the dtb"),
        (3, 0x8F00_0000 - 4, "overlaps the dtb"),
    ],
)
def test_images_that_do_not_fit(tmp_path: Path, number: int, address: int, message: str) -> None:
    files = image_files(tmp_path)
    files[number] = images.Image(files[number].name, files[number].path, address)
    with failing(message):
        images.check(files, 512 << 20)


def test_images_that_gem5_would_change_or_miss(tmp_path: Path) -> None:
    files = image_files(tmp_path)
    files[3].path.write_bytes(gzip.compress(b"070701"))
    with failing("the initrd .* is gzip-compressed"):
        images.check(files, 512 << 20)
    files[3].path.write_bytes(b"")
    with failing("the initrd .* is empty"):
        images.check(files, 512 << 20)
    files[3].path.unlink()
    with failing("the initrd .* cannot be read"):
        images.check(files, 512 << 20)


# The binary.


@pytest.mark.parametrize(
    ("text", "version"), [("24.0.0.1", (24, 0)), ("25.1.0.0", (25, 1)), ("[DEVELOP-FOR-25.0]", (25, 0))]
)
def test_version(text: str, version: tuple[int, int]) -> None:
    assert requires.version_of(text) == version


def test_binaries_that_will_not_do() -> None:
    everything = set(requires.CLASSES)
    requires.check("24.0.0.1", True, everything)
    with failing("this gem5 is 23.1.0.0; use gem5 24.0"):
        requires.check("23.1.0.0", True, everything)
    with failing("without the Arm ISA"):
        requires.check("24.0.0.1", False, everything)
    with failing("lacks Gicv3, Sp804"):
        requires.check("24.0.0.1", True, everything - {"Gicv3", "Sp804"})
    with failing("names no release"):
        requires.check("unknown", True, everything)


# Checkpoints. The text has the sections and entries that gem5 24.0 writes, cut down to those that matter.

CPUS = ("system.cluster0.cpu0", "system.cluster0.cpu1", "system.cluster1.cpu0")
GIC = "system.realview.gic"
TIMER = "system.realview.generic_timer"
MEMORY_BYTES = 4 << 20

EXPECTED = checkpoint.Expected(
    cpus=CPUS,
    gic=GIC,
    timer=TIMER,
    counter="system.realview.sys_counter",
    energy="system.realview.energy_ctrl",
    dvfs="system.dvfs_handler",
    domains=(("system.cluster0.clk_domain", 2), ("system.cluster1.clk_domain", 1)),
    event_timers=("system.realview.event_timer0",),
    physmem="system.physmem",
    memory_bytes=MEMORY_BYTES,
)


def sections() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {"system": {}, "Globals": {"curTick": "79000000000", "version_tags": "a b"}}
    for number, path in enumerate(CPUS):
        found[path] = {"instCnt": "7", "_pid": "4294967295"}
        found[f"{path}.xc.0"] = {"interrupts": "0 0 0", "_status": "2"}
        found[f"{path}.isa"] = {"miscRegs": "0 1 2"}
        found[f"{path}.power_state"] = {"currState": str(1 + number % 2), "prvEvalTick": "5"}
        found[f"{GIC}.redistributors.{number}"] = {"irqGroup": "1"}
        found[f"{GIC}.cpuInterface.{number}"] = {"hppi.intid": "1023"}
        found[f"{TIMER}.pe_implementation{number}"] = {"cntfrq": "25165824"}
        found[f"{TIMER}.pe_implementation{number}.virt_el1_timer"] = {"control_serial": "1"}
    found |= {
        GIC: {},
        f"{GIC}.distributor": {"irqEnabled": "0 1"},
        TIMER: {"cpu_count": str(len(CPUS))},
        "system.realview.sys_counter": {"_value": "3", "_updateTick": "119208", "_freq": "25165824", "_increment": "1"},
        "system.realview.energy_ctrl": {"domainID": "0", "next_event": "0"},
        "system.dvfs_handler": {"enableHandler": "true", "domain_ids": "0 1", "perf_levels": "0 0", "whens": "0 0"},
        "system.cluster0.clk_domain": {"_perfLevel": "1"},
        "system.cluster1.clk_domain": {"_perfLevel": "0"},
        "system.realview.event_timer0.timer0": {"control": "32"},
        "system.realview.event_timer0.timer1": {"control": "32"},
        "system.physmem": {"lal_addr": "", "nbr_of_stores": "2"},
    }
    for store, size in enumerate((1 << 16, MEMORY_BYTES)):
        found[f"system.physmem.store{store}"] = {
            "store_id": str(store),
            "filename": f"system.physmem.store{store}.pmem",
            "range_size": str(size),
        }
    return found


def write(folder: Path, found: dict[str, dict[str, str]]) -> Path:
    lines = ["## checkpoint generated: Thu Jan  1 00:00:00 2026"]
    for name, entries in found.items():
        lines += ["", f"[{name}]", *(f"{key}={value}" for key, value in entries.items())]
    (folder / "m5.cpt").write_text("\n".join(lines) + "\n")
    for store, size in enumerate((1 << 16, MEMORY_BYTES)):
        (folder / f"system.physmem.store{store}.pmem").write_bytes(gzip.compress(bytes(size), compresslevel=1))
    return folder


def test_a_complete_checkpoint_is_accepted(tmp_path: Path) -> None:
    assert checkpoint.verify(write(tmp_path, sections()), EXPECTED) == {
        "cpus": 3,
        "gic_redistributors": 3,
        "timers": 3,
        "event_timers": 1,
        "dvfs_domains": 2,
        "memory_bytes": MEMORY_BYTES,
        "memory_stores": 2,
    }


NEEDED = [
    *(f"{path}{part}" for path in CPUS for part in ("", ".xc.0", ".isa", ".power_state")),
    GIC,
    f"{GIC}.distributor",
    f"{GIC}.redistributors.2",
    f"{GIC}.cpuInterface.0",
    TIMER,
    f"{TIMER}.pe_implementation1.virt_el1_timer",
    "system.realview.sys_counter",
    "system.realview.energy_ctrl",
    "system.realview.event_timer0.timer1",
    "system.dvfs_handler",
    "system.cluster1.clk_domain",
    "system.physmem",
    "system.physmem.store1",
]


@pytest.mark.parametrize("name", NEEDED)
def test_a_missing_section_is_named(tmp_path: Path, name: str) -> None:
    found = sections()
    del found[name]
    with failing(rf"has no section \[{name}\]; make it again"):
        checkpoint.verify(write(tmp_path, found), EXPECTED)


@pytest.mark.parametrize(
    ("name", "key", "value", "message"),
    [
        ("system.cluster0.cpu1.power_state", "currState", "4", "taken with system.cluster0.cpu1 powered off"),
        ("system.cluster7.cpu0.xc.0", "_status", "2", "has the CPU system.cluster7.cpu0, which this platform lacks"),
        (f"{GIC}.redistributors.3", "irqGroup", "1", "has 4 interrupt redistributors, where this platform has 3"),
        (TIMER, "cpu_count", "2", "has timers for 2 CPUs, where this platform has 3"),
        (TIMER, "cpu_count", "two", "has 'two' for `cpu_count`"),
        ("system.realview.sys_counter", "_value", "2", "has a system counter that did not count from tick 0 on"),
        ("system.realview.sys_counter", "_freq", "0", "has a system counter that did not count from tick 0 on"),
        ("system.realview.energy_ctrl", "next_event", "9", "taken during a change of frequency"),
        ("system.dvfs_handler", "whens", "0 9", "taken during a change of frequency"),
        ("system.dvfs_handler", "domain_ids", "0 1 2", r"has the DVFS domains \[0, 1, 2\], where this platform has 2"),
        ("system.cluster0.clk_domain", "_perfLevel", "2", "at a level that its 2 operating points lack"),
        ("system.physmem.store1", "range_size", str(2 << 20), r"damaged memory contents in system.physmem.store1.pmem"),
        ("system.physmem", "nbr_of_stores", "1", "has 0 MiB of memory, where this platform has 4"),
        ("system.physmem.store0", "filename", "gone.pmem", "lacks the memory contents gone.pmem"),
    ],
)
def test_a_foreign_or_unfit_checkpoint_is_refused(
    tmp_path: Path, name: str, key: str, value: str, message: str
) -> None:
    found = sections()
    found.setdefault(name, {})[key] = value
    with failing(message):
        checkpoint.verify(write(tmp_path, found), EXPECTED)


# Checkpoints of two machines.

CARDS = ("system.realview.network_card", "peer.realview.network_card")
BOTH = (
    dataclasses.replace(EXPECTED, card=CARDS[0]),
    checkpoint.Expected(
        cpus=("peer.cluster0.cpu0",),
        gic="peer.realview.gic",
        timer="peer.realview.generic_timer",
        counter="peer.realview.sys_counter",
        energy="peer.realview.energy_ctrl",
        dvfs="peer.dvfs_handler",
        domains=(("peer.cluster0.clk_domain", 2),),
        event_timers=(),
        physmem="peer.physmem",
        memory_bytes=MEMORY_BYTES,
        card=CARDS[1],
    ),
)


def both_sections() -> dict[str, dict[str, str]]:
    """The peer has as much as the first CPU of the machine."""
    found = sections()
    for name, entries in sections().items():
        if name.startswith("system.") and not re.search(
            r"cluster1|cpu1|(redistributors|Interface|mentation)\.?[12]", name
        ):
            found[name.replace("system.", "peer.")] = entries
    found["peer.realview.generic_timer"] = {"cpu_count": "1"}
    found["peer.dvfs_handler"] = {**found["peer.dvfs_handler"], "domain_ids": "0", "whens": "0"}
    for card in CARDS:
        found |= {card: dict(IDLE_CARD), f"{card}.TxDescCache": {}, f"{card}.RxDescCache": {}}
    idle = {f"link{number}.{key}": value for number in range(2) for key, value in (IDLE_LINK.items())}
    return {**found, "link": idle}


IDLE_CARD = {"rxfifo.packets": "0", "txfifo.packets": "0", "txPktExists": "true", "txpacket.length": "0"}
IDLE_LINK = {"packet_exists": "false", "tx_queue_size": "0"}


def test_a_checkpoint_of_two_machines_has_both(tmp_path: Path) -> None:
    found = checkpoint.verify(write(tmp_path, both_sections()), *BOTH)
    assert (found["cpus"], found["peer"]["cpus"]) == (3, 1)


@pytest.mark.parametrize(
    ("name", "key", "value", "message"),
    [
        ("peer.cluster0.cpu0.power_state", "currState", "4", "taken with peer.cluster0.cpu0 powered off"),
        ("peer.cluster0.cpu1.xc.0", "_status", "2", "has the CPU peer.cluster0.cpu1, which this platform lacks"),
        ("peer.realview.sys_counter", "_value", "2", "a system counter that did not count from tick 0 on"),
        (CARDS[1], "txpacket.length", "60", f"was taken while {CARDS[1]} had a packet"),
        (CARDS[0], "rxfifo.packets", "1", f"was taken while {CARDS[0]} had a packet"),
        (CARDS[0], "txfifo.packets", "2", f"was taken while {CARDS[0]} had a packet"),
        ("link", "link1.packet_exists", "true", "was taken while a packet was under way"),
        ("link", "link0.tx_queue_size", "1", "was taken while a packet was under way"),
    ],
)
def test_an_unfit_checkpoint_of_two_machines_is_refused(
    tmp_path: Path, name: str, key: str, value: str, message: str
) -> None:
    found = both_sections()
    found.setdefault(name, {})[key] = value
    with failing(message):
        checkpoint.verify(write(tmp_path, found), *BOTH)


@pytest.mark.parametrize("name", ["link", f"{CARDS[0]}.TxDescCache", "peer.realview.gic", "peer.physmem"])
def test_each_of_two_machines_needs_its_sections(tmp_path: Path, name: str) -> None:
    found = both_sections()
    del found[name]
    with failing(rf"has no section \[{name}\]"):
        checkpoint.verify(write(tmp_path, found), *BOTH)


def test_one_machine_cannot_go_on_from_a_checkpoint_of_two(tmp_path: Path) -> None:
    with failing("has the CPU peer.cluster0.cpu0, which this platform lacks"):
        checkpoint.verify(write(tmp_path, both_sections()), EXPECTED)
    with failing("has a network, which this run lacks"):
        checkpoint.verify(write(tmp_path, {**sections(), "link": {}}), EXPECTED)


def test_the_reset_address_is_kept_with_the_checkpoint(tmp_path: Path) -> None:
    checkpoint.write_note(tmp_path, 0x0400_1000)
    assert checkpoint.reset_address(tmp_path) == 0x0400_1000
    for text, message in (("{}", "has no `reset_address`"), ("[]", "has no"), ("{", "machine.json cannot be read")):
        (tmp_path / "machine.json").write_text(text)
        with failing(message):
            checkpoint.reset_address(tmp_path)


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    with failing("is not a checkpoint: m5.cpt cannot be read"):
        checkpoint.verify(tmp_path, EXPECTED)
    file = write(tmp_path, sections()) / "system.physmem.store1.pmem"
    whole = file.read_bytes()
    for damaged in (whole[:-4], b"", b"x" * len(whole)):
        file.write_bytes(damaged)
        with failing("memory contents"):
            checkpoint.verify(tmp_path, EXPECTED)
    (tmp_path / "m5.cpt").write_text("[system]\nnonsense\n")
    with failing(r"m5.cpt:2 is neither a section nor an entry"):
        checkpoint.verify(tmp_path, EXPECTED)
    (tmp_path / "m5.cpt").write_bytes(b"\xff\xfe")
    with failing("m5.cpt cannot be read"):
        checkpoint.verify(tmp_path, EXPECTED)


# Outcomes.


def test_outcome_is_written_whole(tmp_path: Path) -> None:
    outcome.write(tmp_path, {"cause": outcome.cause_name("m5_exit instruction encountered")})
    assert [path.name for path in tmp_path.iterdir()] == ["outcome.json"]
    assert json.loads((tmp_path / "outcome.json").read_text()) == {"schema": 1, "cause": "exit"}


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ("m5_fail instruction encountered", "fail"),
        ("checkpoint", "checkpoint"),
        ("simulate() limit reached", "limit"),
        ("user interrupt received", "user interrupt received"),
    ],
)
def test_cause_names(event: str, name: str) -> None:
    assert outcome.cause_name(event) == name


# Latency devices.


def _constants(module: str) -> dict[str, Any]:
    """Return the constants of a module that needs gem5: its names in capitals and their values."""
    found = {}
    for node in ast.parse((CONFIGS / f"{module}.py").read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def test_firmware_and_gem5_agree_on_the_latency_devices() -> None:
    idle = _constants("idle")
    patch = "\n".join(file.read_text() for file in (CONFIGS.parent / "firmware-patches").glob("*-sleep-in-wfi-*.patch"))
    assert int(re.findall(r"FVP_LATENCY_BASE\s+UL\((\w+)\)", patch)[0], 0) == idle["LATENCY_BASE"]
    assert int(re.findall(r"define LAT_SLICES\s+(\d+)U", patch)[0]) == idle["SLICES"]
    assert re.findall(r"\(cluster\) \* (\d+)U\) \+ \(state\)\) \* (\d+)U", patch) == [
        (str(idle["STATES_PER_CLUSTER"]), str(idle["COSTS_PER_STATE"]))
    ]
    states = re.findall(r"^\+\tLAT_(NONE|RETENTION|CORE_OFF|CLUSTER_OFF),", patch, re.MULTILINE)
    assert {name.lower().replace("_", "-"): number for number, name in enumerate(states) if number} == idle["STATES"]
    costs = re.findall(r"^\+\tLAT_(ENTRY|FLUSH|EXIT|REFILL|FILL),", patch, re.MULTILINE)
    assert tuple(name.lower() for name in costs) == (*idle["COSTS"], "fill")
    assert (idle["SLICES"], tuple(idle["COSTS"])) == (latency_devices.SLICES, latency_devices.COSTS)
    qemu = (CONFIGS.parent / "kernel-patches/platform/idle_qemu.c").read_text()
    assert re.findall(r"define LULL_SLICES (\d+)", qemu) == [str(idle["SLICES"])]


def test_every_latency_page_lies_in_the_region_kept_for_them() -> None:
    idle = _constants("idle")
    region = memory_map.LATENCY_DEVICES
    pages = schema.MAX_CLUSTERS * idle["STATES_PER_CLUSTER"] * idle["COSTS_PER_STATE"]
    assert (region.base, region.size) == (idle["LATENCY_BASE"], pages * idle["PAGE"])
