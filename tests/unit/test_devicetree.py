# SPDX-License-Identifier: BSD-3-Clause
"""The compiled device trees say what the platform file says, and nothing that the machines lack."""

import re
import struct
from itertools import pairwise
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.platform import devicetree, memory_map
from lull.platform.cores import load_core
from lull.platform.devicetree import ENGINES, Engine
from lull.platform.load import list_platforms, load_platform
from lull.platform.schema import Platform

BOOTARGS = 'console=ttyAMA0 name="a b" back\\slash'
INITRD = (0x8800_0000, 0x8912_3456)


class Tree:
    """A DTB, read back by the letter of the Devicetree Specification, chapter 5."""

    def __init__(self, dtb: Path) -> None:
        blob = dtb.read_bytes()
        self._blob = blob
        _, _, structure, self._strings = struct.unpack_from(">4I", blob)
        self.properties: dict[str, dict[str, bytes]] = {}
        self._read(structure)

    def numbers(self, node: str, key: str) -> list[int]:
        value = self.properties[node][key]
        return list(struct.unpack(f">{len(value) // 4}I", value))

    def texts(self, node: str, key: str) -> list[str]:
        return self.properties[node][key].decode().removesuffix("\0").split("\0")

    def text(self, node: str, key: str) -> str:
        (only,) = self.texts(node, key)
        return only

    def nodes(self, parent: str) -> list[str]:
        start = parent.rstrip("/") + "/"
        return [
            path.removeprefix(start)
            for path in self.properties
            if path.startswith(start) and path != "/" and "/" not in path.removeprefix(start)
        ]

    def keys(self, node: str) -> list[str]:
        return list(self.properties[node])

    def by_phandle(self, handle: int) -> str:
        (path,) = (p for p, found in self.properties.items() if found.get("phandle") == struct.pack(">I", handle))
        return path

    def _read(self, at: int) -> None:
        path: list[str] = []
        while True:
            (token,) = struct.unpack_from(">I", self._blob, at)
            at += 4
            if token == 1:
                name = self._name(at)
                path.append(name)
                at += len(name) + 4 & ~3
                self.properties["/" + "/".join(path[1:])] = {}
            elif token == 2:
                path.pop()
            elif token == 3:
                length, name_at = struct.unpack_from(">2I", self._blob, at)
                here = self.properties["/" + "/".join(path[1:])]
                here[self._name(self._strings + name_at)] = self._blob[at + 8 : at + 8 + length]
                at += 8 + (length + 3 & ~3)
            elif token == 9:
                return

    def _name(self, at: int) -> str:
        return self._blob[at : self._blob.index(0, at)].decode()


def made(platform: Platform, engine: Engine, folder: Path) -> Tree:
    dtb = folder / f"{platform.name}-{engine}.dtb"
    devicetree.compile(devicetree.render(platform, engine, BOOTARGS, INITRD), dtb)
    return Tree(dtb)


def cpu_nodes(tree: Tree) -> list[str]:
    return [f"/cpus/{node}" for node in tree.nodes("/cpus") if node.startswith("cpu@")]


CONTROLLER = {"gem5": "/soc/energy-controller@10000000", "qemu": "/energy-controller"}

VARIANTS = [(name, shadow) for name in list_platforms() for shadow in ("true", "false")]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "shadow"), VARIANTS)
def test_the_tree_says_what_the_file_says(name: str, shadow: str, engine: Engine, tmp_path: Path) -> None:
    platform = load_platform(name, [f"shadow.enabled={shadow}"])
    tree = made(platform, engine, tmp_path)
    cpus = cpu_nodes(tree)
    assert len(cpus) == platform.cpu_count
    assert tree.text("/lull", "engine") == engine
    assert tree.text("/lull", "platform") == name
    assert tree.text("/", "model") == platform.title
    slowest_change = max(round(c.transition_latency_us.value * 1000) for c in platform.resolved_clusters())
    number = 0
    for index, cluster in enumerate(platform.resolved_clusters()):
        for within in range(cluster.cpus):
            node = cpus[number]
            assert tree.text(node, "compatible") == f"arm,cortex-{cluster.core.removesuffix('-shadow')}"
            assert tree.text(node, "enable-method") == "psci"
            assert tree.numbers(node, "reg") == [0, index << 8 | within if engine == "gem5" else number]
            assert tree.numbers(node, "capacity-dmips-mhz") == [cluster.capacity_dmips_mhz.value]
            assert tree.numbers(node, "dynamic-power-coefficient") == [cluster.dynamic_power_coefficient.value]
            assert ("lull,shadow" in tree.keys(node)) == (platform.role(cluster) == "shadow")
            number += 1
        node = cpus[number - 1]
        table = tree.by_phandle(tree.numbers(node, "operating-points-v2")[0])
        assert "opp-shared" in tree.keys(table)
        opps = [
            (*tree.numbers(f"{table}/{opp}", "opp-hz"), *tree.numbers(f"{table}/{opp}", "opp-microvolt"))
            for opp in tree.nodes(table)
        ]
        assert opps == [(0, opp.hz, opp.uv) for opp in cluster.opps.table]
        latencies = {tree.numbers(f"{table}/{opp}", "clock-latency-ns")[0] for opp in tree.nodes(table)}
        assert latencies == {slowest_change}
        handle, domain = tree.numbers(node, "performance-domains")
        assert (tree.by_phandle(handle), domain) == (CONTROLLER[engine], index)
        clock = tree.by_phandle(tree.numbers(node, "clocks")[0])
        assert tree.numbers(clock, "clock-frequency") == [cluster.opps.table[-1].hz]
        cache = tree.by_phandle(tree.numbers(node, "next-level-cache")[0])
        assert tree.numbers(cache, "cache-size") == [cluster.l2.size_kib * 1024]
        assert tree.numbers(cache, "cache-sets") == [cluster.l2.sets]
        core = load_core(cluster.core)
        assert tree.numbers(node, "i-cache-size") == [core.l1i.size_kib * 1024]
        assert tree.numbers(node, "d-cache-size") == [core.l1d.size_kib * 1024]
        states = [tree.by_phandle(handle) for handle in tree.numbers(node, "cpu-idle-states")]
        assert [
            (
                tree.text(state, "idle-state-name"),
                *tree.numbers(state, "entry-latency-us"),
                *tree.numbers(state, "exit-latency-us"),
                *tree.numbers(state, "min-residency-us"),
            )
            for state in states
        ] == [
            (s.name, s.advertised.entry_us, s.advertised.exit_us, s.advertised.residency_us)
            for s in cluster.cstates[1:]
        ]


def test_idle_states_of_gem5_are_firmwares(tmp_path: Path) -> None:
    tree = made(load_platform("tiny"), "gem5", tmp_path)
    states = [f"/cpus/idle-states/{node}" for node in tree.nodes("/cpus/idle-states")]
    assert tree.text("/cpus/idle-states", "entry-method") == "psci"
    assert {tree.text(state, "compatible") for state in states} == {"arm,idle-state"}
    assert [tree.numbers(state, "arm,psci-suspend-param")[0] for state in states] == [0, 0x001_0000, 0x101_0000] * 3


def test_idle_states_of_qemu_are_our_drivers(tmp_path: Path) -> None:
    """With their actual latencies, and with nothing that the PSCI driver would take."""
    platform = load_platform("tiny", ["clusters.big.cstates.C3.actual.exit_us=12.5"])
    tree = made(platform, "qemu", tmp_path)
    assert "idle-states" not in tree.nodes("/cpus")
    states = [f"/cpus/lull-idle-states/{node}" for node in tree.nodes("/cpus/lull-idle-states")]
    assert {tree.text(state, "compatible") for state in states} == {"lull,idle-state"}
    assert not [state for state in states if "arm,psci-suspend-param" in tree.keys(state)]
    costs = ("entry", "flush", "exit", "refill", "fill")
    assert [
        (
            tree.text(state, "idle-state-name"),
            tree.text(state, "lull,kind"),
            *(tree.numbers(state, f"lull,{cost}-ns")[0] for cost in costs),
        )
        for state in states
    ] == [
        (state.name, state.kind, *(round(1000 * getattr(state.actual, f"{cost}_us")) for cost in costs))
        for cluster in platform.resolved_clusters()
        for state in cluster.cstates[1:]
    ]
    assert tree.numbers("/cpus/lull-idle-states/cpu-c3-big", "lull,exit-ns") == [12500]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_state_claims_to_stop_the_timer(engine: Engine, tmp_path: Path) -> None:
    tree = made(load_platform("tiny"), engine, tmp_path)
    assert "always-on" in tree.keys("/timer")
    assert not [node for node, keys in tree.properties.items() if "local-timer-stop" in keys]


def test_clusters_of_one_socket_are_the_top_of_the_map(tmp_path: Path) -> None:
    tree = made(load_platform("tegra-k1"), "gem5", tmp_path)
    assert tree.nodes("/cpus/cpu-map") == ["cluster0", "cluster1"]
    assert tree.nodes("/cpus/cpu-map/cluster0") == ["core0", "core1", "core2", "core3"]


def test_two_sockets_have_their_own_level(tmp_path: Path) -> None:
    tree = made(load_platform("server", ["shadow.enabled=true"]), "qemu", tmp_path)
    assert tree.nodes("/cpus/cpu-map") == ["socket0", "socket1"]
    assert tree.nodes("/cpus/cpu-map/socket0") == ["cluster0", "cluster1"]
    assert tree.nodes("/cpus/cpu-map/socket1") == ["cluster0"]
    handle = tree.numbers("/cpus/cpu-map/socket1/cluster0/core0", "cpu")[0]
    assert tree.by_phandle(handle) == "/cpus/cpu@6"


def test_qemu_numbers_cpus_in_sixteens() -> None:
    assert [devicetree.mpidr("qemu", 0, 0, number) for number in (0, 15, 16, 31)] == [0x000, 0x00F, 0x100, 0x10F]
    assert devicetree.mpidr("gem5", 2, 3, 11) == 0x203


def test_devices_of_gem5(tmp_path: Path) -> None:
    platform = load_platform("exynos5422")
    tree = made(platform, "gem5", tmp_path)
    assert sorted(tree.nodes("/soc")) == [
        "energy-controller@10000000",
        "interrupt-controller@2f000000",
        "rtc@1c170000",
        "serial@1c090000",
        "timer@1c110000",
        "timer@1c120000",
        "timer@1c180000",
        "timer@1c190000",
    ]
    assert tree.numbers("/soc/serial@1c090000", "interrupts") == [0, 5, 4]
    assert tree.numbers("/soc/interrupt-controller@2f000000", "reg") == [
        *(0, 0x2F00_0000, 0, 0x1_0000),
        *(0, 0x2F10_0000, 0, 8 * 0x2_0000),
    ]
    assert tree.numbers("/memory@80000000", "reg") == [0, 0x8000_0000, 0, 512 << 20]
    assert tree.text("/psci", "method") == "smc"
    controller = tree.numbers("/soc/energy-controller@10000000", "phandle")[0]
    assert [tree.numbers(node, "performance-domains") for node in cpu_nodes(tree)] == (
        [[controller, 0]] * 4 + [[controller, 1]] * 4
    )
    timer = "/soc/timer@1c120000"
    assert (tree.text(timer, "label"), tree.numbers(timer, "interrupts")) == ("event", [0, 3, 4])
    assert tree.texts(timer, "compatible") == ["lull,event-timer"], "no fallback that a kernel's driver would take"
    assert "lull,event-interrupt" in tree.keys(timer)
    assert "lull,event-interrupt" not in tree.keys("/soc/timer@1c110000")


def test_devices_of_qemu(tmp_path: Path) -> None:
    tree = made(load_platform("exynos5422"), "qemu", tmp_path)
    devices = tree.nodes("/soc")
    assert sorted(node for node in devices if not node.startswith("virtio@")) == [
        "fw-cfg@9020000",
        "interrupt-controller@8000000",
        "rtc@9010000",
        "serial@9000000",
    ]
    slots = [node for node in devices if node.startswith("virtio@")]
    assert slots == [f"virtio@{0x0A00_0000 + 0x200 * number:x}" for number in range(32)]
    assert tree.numbers(f"/soc/{slots[31]}", "interrupts") == [0, 16 + 31, 1]
    assert tree.text("/psci", "method") == "hvc"
    assert tree.text("/", "compatible") == "linux,dummy-virt"
    assert tree.text("/energy-controller", "compatible") == "lull,virtual-energy-ctrl"
    assert tree.keys("/energy-controller") == ["compatible", "#performance-domain-cells", "phandle"]
    assert tree.text("/timer-event", "compatible") == "lull,virtual-event-timer"
    assert tree.numbers("/timer-event", "interrupts") == [0, 193, 1]
    assert "lull,event-interrupt" in tree.keys("/timer-event")
    assert tree.text("/timer-wall-clock", "label") == "wall-clock"
    assert "lull,event-interrupt" not in tree.keys("/timer-wall-clock")


@pytest.mark.parametrize("engine", ENGINES)
def test_boot_parameters(engine: Engine, tmp_path: Path) -> None:
    tree = made(load_platform("tiny"), engine, tmp_path)
    assert tree.text("/chosen", "bootargs") == BOOTARGS
    assert tree.numbers("/chosen", "linux,initrd-start") == [INITRD[0]]
    assert tree.numbers("/chosen", "linux,initrd-end") == [INITRD[1]]
    assert tree.text("/chosen", "stdout-path") == "serial0:115200n8"
    assert tree.text("/aliases", "serial0").startswith("/soc/serial@")


@pytest.mark.parametrize("engine", ENGINES)
def test_without_an_initrd_none_is_named(engine: Engine) -> None:
    assert "initrd" not in devicetree.render(load_platform("tiny"), engine, "")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", list_platforms())
def test_nothing_random_in_the_tree(name: str, engine: Engine) -> None:
    platform = load_platform(name)
    text = devicetree.render(platform, engine, BOOTARGS)
    assert "seed" not in text
    assert devicetree.render(load_platform(name), engine, BOOTARGS) == text


@pytest.mark.parametrize("engine", ENGINES)
def test_another_boot_seeds_linuxs_random_numbers_otherwise(engine: Engine, tmp_path: Path) -> None:
    first, second = (
        made(load_platform("tiny", [f"boot_seed={seed}"]), engine, tmp_path).properties["/chosen"]["rng-seed"]
        for seed in (1, 2)
    )
    assert len(first) == len(second) == 32
    assert first != second


def test_the_foundation_has_no_memory_mapped_timer_for_linux() -> None:
    """Its frame is not open to the non-secure world, and the kernel would fall back to a jiffies clock."""
    assert "armv7-timer-mem" not in devicetree.render(load_platform("tiny"), "gem5", "")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_cluster_with_wfi_only_lists_no_states(engine: Engine, tmp_path: Path) -> None:
    data = load_platform("tiny", ["shadow.enabled=false"]).model_dump()
    for cluster in data["clusters"]:
        cluster["cstates"] = cluster["cstates"][:1]
    tree = made(Platform.model_validate(data), engine, tmp_path)
    assert not {"idle-states", "lull-idle-states"} & set(tree.nodes("/cpus"))
    assert "cpu-idle-states" not in tree.keys("/cpus/cpu@0")


def test_overrides_reach_the_tree(tmp_path: Path) -> None:
    platform = load_platform("tiny", ["cstates.C4.advertised.exit_us=1300", "memory.size_mib=256"])
    tree = made(platform, "gem5", tmp_path)
    assert tree.numbers("/cpus/idle-states/cluster-c4-big", "exit-latency-us") == [1300]
    assert tree.numbers("/memory@80000000", "reg")[3] == 256 << 20


def test_actual_latencies_stay_out_of_gem5s_tree() -> None:
    """It is part of the checkpoint, from which runs with other latencies start."""
    plain = devicetree.render(load_platform("tiny"), "gem5", "")
    assert devicetree.render(load_platform("tiny", ["cstates.C4.exit_us=7777"]), "gem5", "") == plain


def test_a_warning_of_dtc_is_an_error_and_writes_nothing(tmp_path: Path) -> None:
    text = devicetree.render(load_platform("tiny"), "gem5", "").replace("serial@1c090000", "serial@1c090001")
    with pytest.raises(UserError) as caught:
        devicetree.compile(text, tmp_path / "bad.dtb")
    assert re.fullmatch(r"bad\.dtb: dtc rejects the device tree: .*simple_bus_reg.*", str(caught.value))
    assert not (tmp_path / "bad.dtb").exists()


def test_a_syntax_error_of_dtc_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^bad\.dtb: dtc rejects the device tree: .*syntax error$"):
        devicetree.compile("/dts-v1/; / { a };", tmp_path / "bad.dtb")


def test_no_dtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"^dtc: not found; install the package device-tree-compiler$"):
        devicetree.compile("/dts-v1/; / { };", tmp_path / "x.dtb")


def test_unprintable_boot_parameters() -> None:
    with pytest.raises(UserError, match=r"not plain printable text; leave such characters out$"):
        devicetree.render(load_platform("tiny"), "qemu", "a\nb")


def test_the_map_does_not_overlap_itself() -> None:
    regions = sorted(memory_map.FOUNDATION, key=lambda region: region.base)
    for low, high in pairwise(regions):
        assert not low.overlaps(high), (low, high)
