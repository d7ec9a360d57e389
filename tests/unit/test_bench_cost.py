# SPDX-License-Identifier: BSD-3-Clause
"""The measurement of what a system costs: which kernels are booted, and how what they left is counted."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.artifacts import kernel
from lull.bench import cost
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.rundir.folder import STATS_TABLE, STDOUT, RunDir
from lull.systems import folder
from tests.specs import spec


def what(system: str, *settings: str) -> cost.CostPlan:
    return cost.CostPlan(system, "tiny", None, settings, 10, 2)


def test_three_kernels_or_two_where_all_others_stand_on_it() -> None:
    assert cost.variants(what("esm", "esm.fifo=8")) == {
        "not compiled in": [],
        "off": [],
        "on": ["esm.fifo=8", "esm.enabled=1"],
    }
    assert list(cost.variants(what("waeas"))) == ["not compiled in", "off", "on"]
    assert cost.variants(what("waeas", "cpufreq=schedutil", "waeas.pack=0")) == {
        "not compiled in": ["cpufreq=schedutil"],
        "off": ["cpufreq=schedutil"],
        "on": ["cpufreq=schedutil", "waeas.pack=0", "waeas.enabled=1"],
    }, "the machine is the same in all runs"
    assert cost.variants(what("platform", "platform.routing.enabled=1")) == {
        "off": [],
        "on": ["platform.routing.enabled=1"],
    }


def test_the_kernels_differ_by_the_system_alone() -> None:
    """Quiescence stands on WAEAS, so no kernel of the comparison has quiescence."""
    assert [cost.left_out("waeas", variant) for variant in (cost.NOT_THERE, cost.OFF, cost.ON)] == [
        ["waeas", "quiescence"],
        ["quiescence"],
        ["quiescence"],
    ]
    assert cost.left_out("hotplug", cost.NOT_THERE) == ["hotplug", "bursts", "waeas", "quiescence"]
    assert (cost.left_out("esm", cost.NOT_THERE), cost.left_out("esm", cost.OFF)) == (["esm"], [])
    assert cost.left_out("platform", cost.OFF) == []


def test_a_kernel_without_a_system_lacks_nothing_else() -> None:
    """RPS is there for eanem alone, and takes part in each packet."""
    whole = kernel.wanted(ROOT, "default")
    for system in folder.known():
        names = cost.left_out(system.name, cost.NOT_THERE)
        wanted = kernel.wanted(ROOT, "default", names)
        differs = {symbol for symbol in whole | wanted if whole.get(symbol) != wanted.get(symbol)}
        assert differs == {folder.find(name).manifest.option for name in names}


def test_what_cannot_be_turned_on_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"^platform: it has no setting `enabled`; say by --set what turns it on$"):
        cost.variants(what("platform"))
    with pytest.raises(UserError, match=r"^unknown system `esn`; use one of `platform`, .*`esm`"):
        cost.variants(what("esn"))


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    made = RunDir.create(tmp_path / "run", spec())
    lines = [
        {"path": "wake", "events": 4, "took_ns": [500, 400]},
        {"path": "fork", "events": 2, "took_ns": [300, 310]},
    ]
    (made / STDOUT).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return made


def test_on_qemu_a_nanosecond_is_an_instruction_and_a_quarter_of_the_runs_is_cheaper(run: RunDir) -> None:
    with (run / STDOUT).open("a") as lines:
        lines.write('{"path": "timer", "events": 1, "took_ns": [70, 95, 70, 72, 20]}\n')
    assert cost.counted(run, spec().platform) == {"wake": 100, "fork": 150, "timer": 70}


def test_on_gem5_the_windows_of_the_runs_count_on_all_cpus(run: RunDir) -> None:
    """Windows 0 and 3 lie before the first run of a path; the last one is what came after all."""
    counts = {0: 9000, 1: 40, 2: 80, 3: 7000, 4: 60, 5: 50, 6: 1}
    names = [f"system.cluster{number}.cpu0.commitStats0.numInsts" for number in (0, 1)]
    rows = [
        {"statistic": name, "window": window, "value": value / 2} for window, value in counts.items() for name in names
    ]
    rows += [{"statistic": "system.cluster0.cpu0.numCycles", "window": 1, "value": 1.0}]
    pq.write_table(pa.Table.from_pylist(rows), run / STATS_TABLE)
    assert cost.counted(run, spec().platform) == {"wake": 10, "fork": 25}
