# SPDX-License-Identifier: BSD-3-Clause
"""The memory controller's table and events."""

from typing import get_args

import pytest

from lull.energy import memory_controller, states, uncore
from lull.energy.mcpat_xml import CHANNELS
from lull.errors import UserError
from lull.platform.dram import list_devices
from lull.platform.load import list_platforms, load_platform
from lull.platform.schema import MemoryKind


@pytest.mark.parametrize("name", list_platforms())
def test_every_platform_has_its_table(name: str) -> None:
    table = memory_controller.load(load_platform(name))
    assert table.linearity_error <= 1e-5
    stats = {"system.mem_ctrls.dram.dramBytesRead": 64e6, "system.mem_ctrls.dram.dramBytesWritten": 128e6}
    counts = memory_controller.counts(stats, "system.mem_ctrls", "24.0.0.1")
    idle, busy = table.joules(dict.fromkeys(counts, 0.0), 1.0), table.joules(counts, 1.0)
    assert idle == table.watts > 0
    assert 1e-9 < (busy - idle) / 3e6 < 2e-8, "joules for a line of 64 bytes"


@pytest.mark.parametrize("name", list_platforms())
def test_a_line_that_gem5_did_not_move_costs_what_one_costs_that_it_did(name: str) -> None:
    platform = load_platform(name)
    table = memory_controller.load(platform)
    moved = table.joules({"memory_reads": 1.0, "memory_writes": 0.0}, 0.0) + 64 * 4.8e-12
    assert 2e-9 < uncore.line_joules(platform.memory, table) - moved < 9e-9, "what is left is DRAM's"


def test_every_memory_has_its_energy_for_a_line() -> None:
    assert set(CHANNELS) == set(get_args(MemoryKind))
    assert set(states.load().transition.line_nj.dram) == {*get_args(MemoryKind), *list_devices()}


def test_memory_whose_lines_nobody_measured_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    platform = load_platform("tiny")
    model = states.load()
    lines = model.transition.line_nj.model_copy(update={"dram": {}})
    transition = model.transition.model_copy(update={"line_nj": lines})
    monkeypatch.setattr(states, "load", lambda: model.model_copy(update={"transition": transition}))
    with pytest.raises(UserError, match=r"states\.yaml: transition\.line_nj\.dram\.ddr3l-4gb-x16: missing; add it"):
        uncore.line_joules(platform.memory, memory_controller.load(platform))


def test_a_controller_of_other_memory_is_refused() -> None:
    other: MemoryKind = "ddr4-2400"
    platform = load_platform("tiny", [f"memory.kind={other}", "memory.parts.device=ddr4-8gb-x8"])
    with pytest.raises(UserError, match=r"memory-controller\.json: made_from: made for another memory"):
        memory_controller.load(platform)


def test_a_line_is_64_bytes_however_many_bursts_it_takes() -> None:
    """A burst of LPDDR3-1600 is 32 bytes: eight beats of 32 bits. McPAT's reads and writes are lines."""
    stats = {f"system.mem_ctrls0.{name}": 2e6 for name in ("readBursts", "writeBursts", "dram.readBursts")}
    stats |= {"system.mem_ctrls0.dram.dramBytesRead": 64e6, "system.mem_ctrls0.dram.dramBytesWritten": 32e6}
    counts = memory_controller.counts(stats, "system.mem_ctrls0", "24.0")
    assert counts == {"memory_reads": 1e6, "memory_writes": 5e5}


def test_a_missing_count_is_named() -> None:
    unknown = r"system\.mem_ctrls\.dram\.dramBytesWritten: not among the statistics of gem5 24\.0"
    with pytest.raises(UserError, match=unknown):
        memory_controller.counts({"system.mem_ctrls.dram.dramBytesRead": 1.0}, "system.mem_ctrls", "24.0")
