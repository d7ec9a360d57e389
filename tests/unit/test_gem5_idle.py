# SPDX-License-Identifier: BSD-3-Clause
"""The latency devices that gem5 gets, seen by a stand-in for gem5's Python that records what is made."""

import importlib
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from lull.files import paths

COUNTER_HZ = 100_000_000


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> Any:
    m5 = ModuleType("m5")
    objects = ModuleType("m5.objects")
    objects.IsaFake = lambda **given: SimpleNamespace(**given)  # type: ignore[attr-defined]
    m5.objects = objects  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "m5", m5)
    monkeypatch.setitem(sys.modules, "m5.objects", objects)
    monkeypatch.syspath_prepend(str(paths.ROOT / "gem5-configs"))
    for name in ("idle", "spec"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module("idle")
    for name in ("idle", "spec"):
        sys.modules.pop(name, None)


def test_each_cost_is_at_the_page_that_the_firmware_reads(idle: Any) -> None:
    """In FVP_LATENCY_BASE's order of the firmware: entry, flush, exit, refill, fill; each cost in eighths."""
    state = SimpleNamespace(
        kind="core-off", entry_ns=8_000, flush_ns=16_000, exit_ns=24_000, refill_ns=32_000, fill_ns=50_000
    )
    realview, bus = SimpleNamespace(), SimpleNamespace(mem_side_ports="bus")
    idle.add_latency_devices(realview, (SimpleNamespace(cstates=[]), SimpleNamespace(cstates=[state])), bus, COUNTER_HZ)
    by_address = {device.pio_addr: device for device in vars(realview).values()}
    assert len(by_address) == 2 * 3 * 5
    first = 0x1D00_0000 + (1 * 4 + 2) * 8 * 0x1000
    pages = [by_address[first + page * 0x1000] for page in range(5)]
    assert [page.pio_latency for page in pages] == ["1000000ps", "2000000ps", "3000000ps", "4000000ps", "0ps"]
    assert [page.ret_data32 for page in pages] == [0, 0, 0, 0, 5_000]
    assert {page.pio for page in by_address.values()} == {"bus"}
    names = {device.pio_addr: name for name, device in vars(realview).items()}
    told = [names[first + page * 0x1000].rpartition("_")[2] for page in range(5)]
    assert told == ["entry", "flush", "exit", "refill", "fill"]
    absent = [device for address, device in by_address.items() if not first <= address < first + 5 * 0x1000]
    assert {device.pio_latency for device in absent} == {"0ps"}
