# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of wake-latency, on wake-ups whose every phase is known."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest

from lull.cli import figures
from lull.compare import samples
from lull.errors import UserError
from lull.figures import wake
from lull.files import paths
from lull.platform.load import load_platform
from lull.results import drawing, reasons, result
from lull.scenario.experiments import BENCHMARKS, FILE
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import load_scenario
from lull.scenario.points import Point
from lull.scenario.runs import Runs, read
from lull.statistics import bootstrap
from lull_experiments.wake_latency import analysis as wake_latency
from lull_experiments.wake_latency import linearity
from tests import drawn, wakes

Rows = npt.NDArray[Any]
FIRMWARE = {"entry": 20.0, "firmware": 14.0, "kernel": 6.0, "task": 10.0}
C3 = {**FIRMWARE, "entry": 170.0, "hardware": 600.0}
"""The phases of C3 on every cluster of `tiny`, with the latencies of its file: 150 us in, 600 us out."""
WFI_US = 2.0
"""The time of leaving WFI when the hardware is told to take nothing."""


def _ideal(point: Point, cpu: int, slope: float = 1.0, gap_us: float = 0.0) -> Rows:
    """Make wake-ups whose latencies come out as they went in, with noise of the generator's; `gap_us` is missing at
    0."""
    count, state = int(point.values["count"]), str(point.values["state"])
    noise = np.random.default_rng([cpu, *point.name.encode()]).exponential(0.5, count)
    if state == "C1":
        return wakes.good(cpu, state, {"interrupt": 5 + noise, "task": 10.0}, count, stamped=False)
    cluster = point.spec.platform.resolved_clusters()[cpu]
    actual = next(found.actual for found in cluster.cstates if found.name == state)
    at_exit, at_entry = (slope * us + (gap_us if us else 0) for us in (actual.exit_us, actual.entry_us))
    phases = {**FIRMWARE, "hardware": WFI_US + noise + at_exit, "entry": FIRMWARE["entry"] + noise + at_entry}
    return wakes.good(cpu, state, phases, count)


def _swept(tmp_path: Path, *patterns: str, **wrong: float) -> Runs:
    return wakes.runs(tmp_path, lambda point, cpu: _ideal(point, cpu, **wrong), ["count=60"], patterns)


def test_phases_are_the_differences_of_their_stamps(tmp_path: Path) -> None:
    runs = wakes.runs(
        tmp_path,
        lambda point, cpu: wakes.good(cpu, "C3", C3, 1),
        patterns=["states/C3"],
    )
    table = wake.df_wakes(wake.read(runs))
    assert table["cluster"].to_pylist() == ["little", "big", "shadow"]
    row = table.to_pylist()[0]
    assert {phase: row[f"{phase}_ns"] for phase in wake.PHASES} == {
        "entry": 170_000,
        "hardware": 600_000,
        "firmware": 14_000,
        "kernel": 6_000,
        "exit": 614_000,
        "interrupt": 620_000,
        "task": 10_000,
        "total": 630_000,
    }
    assert (row["actual_entry_us"], row["actual_exit_us"]) == (150, 600)


def test_wfi_has_no_phases_of_the_firmware(tmp_path: Path) -> None:
    table = wake.df_wakes(wake.read(_swept(tmp_path, "states/C1")))
    assert table["firmware_ns"].null_count == table.num_rows == 180
    assert table["interrupt_ns"].null_count == 0
    assert set(wake_latency.df_summary(table)["phase"].to_pylist()) == {"interrupt", "task", "total"}


def _spoiled(name: str, rows: Rows) -> Rows:
    late = rows["event"] + 1000
    changes: dict[str, dict[str, object]] = {
        "other-cpu": {"cpu": 7},
        "awake": {"flags": wake.FIRMWARE},
        "other-state": {"state": 1},
        "no-stamps": {"flags": wake.SLEPT},
        "aborted": {"hw_enter": 0, "hw_exit": 0},
        "entering": {"hw_enter": late, "hw_exit": late + 1, "fw_exit": late + 2, "irq": late + 3, "task": late + 4},
        "woken-before": {"hw_exit": rows["event"] - 1},
        "disorder": {"task": rows["irq"] - 1},
    }
    for field, value in changes[name].items():
        rows[field] = value
    return rows


@pytest.mark.parametrize("reason", [name for name in wake.REASONS if name != "kept"])
def test_what_was_not_asked_for_is_dropped_and_counted(tmp_path: Path, reason: str) -> None:
    def make(point: Point, cpu: int) -> Rows:
        rows = wakes.good(cpu, "C3", C3, 10)
        if cpu == 1:
            rows[:4] = _spoiled(reason, rows[:4].copy())
        return rows

    runs = wakes.runs(tmp_path, make, patterns=["states/C3"])
    dropped = {(row["cluster"], row["reason"]): row["count"] for row in wake.df_dropped(wake.read(runs)).to_pylist()}
    assert dropped == {("little", "kept"): 10, ("big", "kept"): 6, ("big", reason): 4, ("shadow", "kept"): 10}
    assert wake.df_wakes(wake.read(runs)).num_rows == 26
    check = wake_latency.analyse(runs).checks[0]
    assert not check.passed
    assert check.says == "least in states/C3 on big: 6 of 10; at least 67% have to"


@pytest.mark.parametrize(
    ("phase", "taken_us", "reason"),
    [
        ("entry", 7 / 8 * 150, "aborted"),
        ("entry", 14.3, "aborted"),
        ("entry", 149, "kept"),
        ("hardware", 432, "woken-before"),
        ("hardware", 599, "kept"),
    ],
)
def test_a_way_that_was_cut_short_is_none(tmp_path: Path, phase: str, taken_us: float, reason: str) -> None:
    runs = wakes.runs(
        tmp_path, lambda _, cpu: wakes.good(cpu, "C3", {**C3, phase: taken_us}, 10), patterns=["states/C3"]
    )
    assert {row["reason"] for row in wake.df_dropped(wake.read(runs)).to_pylist() if row["count"]} == {reason}


def test_in_c4_a_core_takes_the_ways_of_c3_while_others_keep_their_cluster_on() -> None:
    little = load_platform("exynos5422").clusters[0]
    actual = {state.name: state.actual for state in little.cstates}
    both = (min(actual[name].entry_us for name in ("C3", "C4")), min(actual[name].exit_us for name in ("C3", "C4")))
    assert wake._least_us(little, "C4") == both != (actual["C4"].entry_us, actual["C4"].exit_us)
    alone = little.model_copy(update={"cpus": 1})
    assert wake._least_us(alone, "C4") == (actual["C4"].entry_us, actual["C4"].exit_us)


def test_reasons_are_given_in_the_order_of_the_list() -> None:
    rows = wakes.good(0, "C3", C3, 8)
    for number, name in enumerate(list(wake.REASONS)[1:]):
        rows[number : number + 1] = _spoiled(name, rows[number : number + 1].copy())
    assert wake.reasons(rows, expects_firmware=True).tolist() == list(range(1, 9))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"short", "5 bytes are no file of wake-latency"),
        (b"x" * 200, "not a file of this wake-latency"),
        (None, "cut off, it announces 10 wake-ups"),
    ],
)
def test_a_file_that_is_not_whole_is_refused(tmp_path: Path, data: bytes | None, sentence: str) -> None:
    path = tmp_path / "wake.bin"
    if data is None:
        wakes.write(path, wakes.good(0, "C1", {"interrupt": 1.0, "task": 1.0}, 10, stamped=False))
        data = path.read_bytes()[:-1]
    path.write_bytes(data)
    with pytest.raises(UserError, match=sentence):
        wake.read_records(path)


def test_the_guest_writes_what_is_read_here() -> None:
    """`struct header` and `struct sample`, field by field, in their order."""
    assert (wake.HEADER.itemsize, wake.SAMPLE.itemsize) == (32, 96)
    assert wake.SAMPLE.fields is not None
    assert {name: int(field[1]) for name, field in wake.SAMPLE.fields.items()} == {
        "delay_ns": 0, "asked_cpu": 8, "asked_state": 12, "armed": 16, "event": 24, "fw_enter": 32, "hw_enter": 40,
        "hw_exit": 48, "fw_exit": 56, "irq": 64, "task": 72, "cpu": 80, "state": 84, "depth": 88, "flags": 92,
    }  # fmt: skip


def test_quantiles_and_intervals_are_those_of_the_distribution() -> None:
    values = np.random.default_rng(3).exponential(100.0, 5000)
    (median, low, high), (p99, low99, high99) = bootstrap.quantiles(values, [0.5, 0.99])
    assert low < median < high
    assert low99 < p99 < high99
    assert low < 100 * np.log(2) < high
    assert low99 < 100 * np.log(100) < high99
    assert high - low < 12
    assert bootstrap.quantiles(values, [0.5, 0.99])[0] == (median, low, high), "the same again"


def test_a_latency_that_comes_out_as_it_went_in_is_linear(tmp_path: Path) -> None:
    found = wake_latency.analyse(_swept(tmp_path, "exit/*", "entry/*"))
    rows = found.tables["linearity"].to_pylist()
    assert len(rows) == 2 * 3 * 3
    for row in rows:
        expected = WFI_US + FIRMWARE["firmware"] if row["phase"] == "exit" else FIRMWARE["entry"]
        assert row["slope"] == pytest.approx(1, abs=0.001)
        assert row["intercept_us"] == pytest.approx(expected + 0.5 * np.log(2), abs=0.3)
        assert row["at_zero_us"] == pytest.approx(expected + 0.5 * np.log(2), abs=0.3)
        assert row["slope_low"] <= row["slope"] <= row["slope_high"]
    assert all(check.passed for check in found.checks), found.checks
    result.must_hold(found.checks)


@pytest.mark.parametrize(("wrong", "word"), [({"slope": 1.03}, "slope 1.03"), ({"gap_us": 4.0}, "measured at 0")])
def test_a_latency_that_comes_out_otherwise_fails_loudly(tmp_path: Path, wrong: dict[str, float], word: str) -> None:
    found = wake_latency.analyse(_swept(tmp_path, "exit/*", **wrong))
    assert not any(check.passed for check in found.checks[1:])
    with pytest.raises(result.CheckFailed, match=f"check failed: exit of C2 on little is linear: .*{word}") as caught:
        result.must_hold(found.checks)
    assert caught.value.exit_status == 1


def test_the_fit_does_not_see_the_point_at_zero() -> None:
    configured = np.array([0.0, 100, 200, 300])
    measured = [np.full(9, 999.0), *(np.full(9, 7 + us) for us in configured[1:])]
    found = linearity.fit(configured, measured)
    assert found.slope == pytest.approx(1)
    assert found.intercept_us == pytest.approx(7)
    assert found.at_zero_us == 999
    assert not found.holds


def test_the_firmwares_path_stands_beside_junos(tmp_path: Path) -> None:
    table = wake_latency.analyse(_swept(tmp_path, "exit/*-0", "entry/*-0")).tables["firmware-path"]
    rows = {(row["path"], row["cluster"], row["state"]): row for row in table.to_pylist()}
    assert len(rows) == 2 * 3 * 2, "entry and exit, three clusters of Juno's cores, C3 and C4"
    entry, leave = rows["entry", "big", "C4"], rows["exit", "little", "C3"]
    assert entry["ours_us"] == pytest.approx(FIRMWARE["entry"] + 0.35, abs=0.3)
    assert entry["juno_us"] == 15, "195 less 180 of flushing"
    assert (leave["ours_us"], leave["juno_us"]) == (pytest.approx(14, abs=0.05), 14)


def test_a_result_is_files_that_repeat_and_say_what_made_them(tmp_path: Path) -> None:
    runs = _swept(tmp_path / "runs", "states/*", "exit/C3-*")
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        result.write(wake_latency.analyse(runs), runs, folder)
    names = sorted(path.name for path in folders[0].iterdir())
    figures = [f"{name}.{kind}" for name in ("distribution", "linearity", "phases") for kind in ("pdf", "png")]
    assert set(figures) < set(names)
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
    assert pq.read_table(folders[0] / "wakes.parquet").num_rows == 3 * (4 + 5) * 60
    page = (folders[0] / "summary.md").read_text()
    assert "gem5 24.0, detailed CPUs, tiny. Made by `./lull run wake-latency`." in page
    assert page.count(reasons.REASONS) == 1
    assert page.index("Juno") < page.index(reasons.REASONS) < page.index("## Checks")
    manifest = json.loads((folders[0] / "manifest.json").read_text())
    assert (manifest["scenario"], manifest["analysis"]) == ("wake-latency", "wake-latency")
    (piece,) = manifest["pieces"]
    assert piece["engine"] == {"name": "gem5", "version": "24.0", "sha256": "0"}, "no places of one machine"
    assert piece["artifacts"] == {"kernel": "k", "rootfs": "r", "firmware": "f"}
    assert piece["points"] == list(runs.names)


def test_a_scenario_of_a_users_own_file_has_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever `lull figures` is called from. What is published is the project's."""
    text = (BENCHMARKS / "wake-latency" / FILE).read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("name: wake-latency\n", "name: mine\nanalysis: wake_latency\n"))
    monkeypatch.chdir(tmp_path)
    runs = wakes.runs(tmp_path / "runs", _ideal, ["count=60"], ["states/*"], scenario="mine.yaml")
    monkeypatch.chdir("/")
    with pytest.raises(UserError, match="`mine` is no scenario of the project; put its file into benchmarks/"):
        figures.figures(tmp_path / "runs", publish=True)
    made = tmp_path / "runs" / "figures"
    manifest = json.loads((made / "manifest.json").read_text())
    assert (manifest["scenario"], manifest["analysis"]) == ("mine", "wake-latency")
    assert drawing.draw(made)
    assert samples.read(runs.path).title.startswith("mine: ")


def test_qemu_has_no_timing_and_no_place_in_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result, "RESULTS", tmp_path / "results")

    def make(point: Point, cpu: int) -> Rows:
        phases = {"interrupt": 5.0, "task": 3.0}
        return wakes.good(cpu, str(point.values["state"]), phases, 20, stamped=False)

    runs = wakes.runs(tmp_path / "runs", make, patterns=["states/*", "exit/C3-*"], engine="qemu")
    found = wake_latency.analyse(runs)
    assert "linearity" not in found.tables
    for name, figure in drawn.figures("wake-latency", found, runs.origin).items():
        title = figure.get_suptitle()
        assert "QEMU" in title, name
        assert "functional, no timing" in title, name
    result.write(found, runs, tmp_path / "made")
    with pytest.raises(UserError, match="made by QEMU, which has no timing; only gem5's results enter results/"):
        result.publish(runs, tmp_path / "made")
    assert not (tmp_path / "results").exists()


def test_only_a_complete_sweep_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (paths.ROOT / "README.md").stat().st_mtime_ns
    monkeypatch.setattr(result, "RESULTS", tmp_path / "results")
    runs = _swept(tmp_path / "runs", "states/*")
    result.write(wake_latency.analyse(runs), runs, tmp_path / "made")
    assert result.publish(runs, tmp_path / "made") == tmp_path / "results" / "wake-latency"
    assert (tmp_path / "results" / "wake-latency" / "wakes.parquet").is_file()
    assert (paths.ROOT / "README.md").stat().st_mtime_ns == before, "another checkout's pages stay"
    (tmp_path / "runs" / "states" / "C2" / "manifest.json").unlink()
    torn = read(ScenarioFolder.open(tmp_path / "runs"), load_scenario("wake-latency"))
    with pytest.raises(UserError, match="1 points are missing, such as states/C2; run them first"):
        result.publish(torn, tmp_path / "made")
