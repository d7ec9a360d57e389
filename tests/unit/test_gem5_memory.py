# SPDX-License-Identifier: BSD-3-Clause
"""The DRAM that gem5 gets, seen by a stand-in for gem5's Python that records what is made."""

import importlib
import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from lull.files import paths
from lull.platform import machine
from lull.platform.load import load_platform

NAMES = ("memory", "spec")


@pytest.fixture
def configs(monkeypatch: pytest.MonkeyPatch) -> Any:
    m5 = ModuleType("m5")
    objects = ModuleType("m5.objects")
    for name in ("DDR3_1600_8x8", "DDR4_2400_8x8", "LPDDR3_1600_1x32", "MemCtrl", "AddrRange"):
        setattr(objects, name, lambda _made=name, **given: SimpleNamespace(made=_made, **given))
    m5.objects = objects  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "m5", m5)
    monkeypatch.setitem(sys.modules, "m5.objects", objects)
    monkeypatch.syspath_prepend(str(paths.ROOT / "gem5-configs"))
    for name in NAMES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield SimpleNamespace(**{name: importlib.import_module(name) for name in NAMES})
    for name in NAMES:
        sys.modules.pop(name, None)


def drams(configs: Any, platform: str, *settings: str) -> list[Any]:
    told = json.loads(json.dumps(machine.describe(load_platform(platform, settings))["memory"]))
    parts = configs.spec._parts(configs.spec.Keys(told, ""))
    memory = configs.spec.Memory(told["kind"], told["channels"], told["size_bytes"], parts, told["powerdown"])
    found = configs.memory.controllers(0x8000_0000, memory, SimpleNamespace(mem_side_ports="bus"))
    assert {controller.port for controller in found} == {"bus"}
    return [controller.dram for controller in found]


def test_a_boards_devices_replace_those_of_the_class(configs: Any) -> None:
    (dram,) = drams(configs, "tegra-k1")
    assert dram.made == "DDR3_1600_8x8"
    assert (dram.ranks_per_channel, dram.devices_per_rank, dram.device_bus_width) == (1, 4, 16)
    assert (dram.devices_per_rank, dram.device_size) == (4, f"{512 << 20}B"), "the board's, whatever Linux is given"
    assert dram.device_rowbuffer_size == "2048B"
    assert (dram.VDD, dram.IDD2N, dram.IDD2P1, dram.IDD6) == ("1.35V", "0.032A", "0.018A", "0.02A")
    assert (dram.IDD0, dram.IDD3N, dram.IDD3P1, dram.IDD5) == ("0.066A", "0.047A", "0.038A", "0.235A")
    assert (dram.IDD4R, dram.IDD4W) == ("0.235A", "0.171A")
    assert (dram.tRFC, dram.tXP, dram.tXS) == ("260000ps", "24000ps", "270000ps")
    assert not hasattr(dram, "VDD2")
    assert dram.enable_dram_powerdown is True


def test_a_second_supply_has_currents_of_its_own(configs: Any) -> None:
    first, second = drams(configs, "rk3399")
    assert vars(first).keys() == vars(second).keys()
    assert (first.VDD, first.VDD2, first.IDD2N, first.IDD2N2) == ("1.8V", "1.2V", "0.0008A", "0.026A")
    assert (first.IDD4R2, first.IDD4W2, first.IDD62) == ("0.23A", "0.19A", "0.0018A")
    assert first.ranks_per_channel == 2


def test_power_down_is_a_setting_of_a_run(configs: Any) -> None:
    assert [dram.enable_dram_powerdown for dram in drams(configs, "tiny", "memory.powerdown=false")] == [False]


def test_without_parts_the_class_stays_as_it_is(configs: Any) -> None:
    memory = configs.spec.Memory("lpddr3-1600", 2, 512 << 20, None, False)
    for controller in configs.memory.controllers(0, memory, SimpleNamespace(mem_side_ports="bus")):
        assert set(vars(controller.dram)) == {"made", "range", "enable_dram_powerdown"}
