# SPDX-License-Identifier: BSD-3-Clause
"""The measurement of what a system costs: which kernels are booted, and how what they left is counted."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.artifacts import kernel, store
from lull.artifacts.cache import Entry
from lull.bench import cost
from lull.cli import app
from lull.engines.base import Artifacts, Engine, Outcome, Sink
from lull.engines.qemu import Qemu
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.rundir.folder import STATS_TABLE, STDOUT, RunDir
from lull.runspec.spec import RunSpec
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


ALL_PARTS_OFF = (
    "waeas.tracking=pelt",
    *(f"waeas.{part}=0" for part in ("placement", "frequency", "select", "pack", "associate", "balance")),
)


def test_a_system_that_is_on_with_all_parts_off_is_a_column_of_its_own() -> None:
    """The command for this column is in the README of WAEAS."""
    *others, on = cost.variants(what("waeas", *ALL_PARTS_OFF)).values()
    assert (others, on) == ([[], []], [*ALL_PARTS_OFF, "waeas.enabled=1"])
    readme = (ROOT / "kernel-patches" / "waeas" / "README.md").read_text()
    words = ["--same-kernel", *(f"--set {setting}" for setting in ALL_PARTS_OFF)]
    assert [word for word in words if word not in readme] == []


def test_in_the_same_kernel_a_system_is_only_off_and_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Entry("kernel", "whole", tmp_path)
    ran: list[tuple[str, str]] = []

    def execute(spec: RunSpec, _engine: Engine, out: Path, _sink: Sink, by: Artifacts) -> tuple[RunDir, Outcome]:
        ran.append((out.name, by.kernel.key))
        made = RunDir.create(out, spec)
        (made / STDOUT).write_text('{"path": "wake", "events": 1, "took_ns": [5]}\n')
        return made, Outcome(0, 0.0, 0.0, None, {})

    monkeypatch.setattr(Qemu, "artifacts", lambda *_: Artifacts(whole, whole, None))
    monkeypatch.setattr(cost, "execute", execute)
    monkeypatch.setattr(store, "build_kernel", lambda *_: pytest.fail("a kernel is built"))
    found = cost.measure(replace(what("waeas"), same_kernel=True), Qemu(), tmp_path / "out")
    assert found == {"off": {"wake": 5}, "on": {"wake": 5}}
    assert ran == [("off", "whole"), ("on", "whole")]


@pytest.mark.parametrize("setting", ["waeas.tracking=none", "waeas.trackin=pelt", "waeas.pack=2", "idle.deepest=C9"])
def test_a_wrong_setting_is_one_sentence_before_anything_is_built(
    setting: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Qemu, "artifacts", lambda *_: pytest.fail("something is built"))
    monkeypatch.setattr(sys, "argv", ["lull", "bench", "cost", "waeas", "-e", "qemu", "--set", setting])
    with pytest.raises(SystemExit) as ended:
        app.main()
    said = capsys.readouterr().err
    assert (ended.value.code, said.count("\n")) == (2, 1)
    assert said.startswith("lull: ")
    assert setting.partition("=")[0].partition(".")[2] in said


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
