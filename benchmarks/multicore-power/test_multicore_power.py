# SPDX-License-Identifier: BSD-3-Clause
"""Watts over active CPUs: known steps come out, and a step that is not there fails."""

from dataclasses import replace
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.platform.load import load_platform
from lull.results.result import Result
from lull_experiments.multicore_power import analysis as multicore_power
from tests import drawn, energy_runs, steady_runs, wakes
from tests.steady_runs import LENGTH, Made

POINT = "steps/exynos5422"
LITTLE, BIG = 1e4, 1e5
"""Operations of a busy CPU in a window."""


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    steady_runs.pretend(monkeypatch)


def _steps(ops: tuple[float, ...]) -> list[Made]:
    cpus = range(len(ops))
    none = Made("C4", ops=[0.0] * len(ops))
    return [
        none,
        *(
            Made("C4", tuple(cpus[: count + 1]), 1400.0, "primes", [*ops[: count + 1], *[0.0] * (len(ops) - count - 1)])
            for count in cpus
        ),
    ]


def _analysed(out: Path, monkeypatch: pytest.MonkeyPatch, made: list[Made]) -> Result:
    return multicore_power.analyse(steady_runs.runs(out, "multicore-power", {POINT: made}, monkeypatch))


def test_each_cpu_adds_what_it_burns_and_the_first_turns_its_cluster_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _analysed(tmp_path, monkeypatch, _steps((LITTLE,) * 4 + (BIG,) * 4))
    rows = found.tables["steps"].to_pylist()
    assert [row["active"] for row in rows] == list(range(9))
    assert [row["newest"] for row in rows] == [None, *["little"] * 4, *["big"] * 4]
    assert all(check.passed for check in found.checks), [check.says for check in found.checks]
    assert [check.name for check in found.checks[1:]] == [
        "the first CPU of exynos5422 costs most of its cluster",
        "exynos5422 jumps at the first CPU of big",
    ]
    steps = [row["raw_step_w"] for row in rows[1:]]
    for further in (steps[1:4], steps[5:]):
        assert further == pytest.approx([further[0]] * 3)
    big = load_platform("exynos5422").clusters[1]
    kept = 0.36
    assert steps[4] - steps[5] == pytest.approx((1 - kept) * energy_runs.L2_LEAKAGE_W, rel=1e-3)
    seconds = LENGTH / energy_runs.HZ
    cycles = big.opps.table[-1].mhz * 1e6 * seconds
    dynamic = (cycles * energy_runs.J_PER_CYCLE + 1.5 * BIG * energy_runs.J_PER_OP) / seconds
    assert steps[5] == pytest.approx(dynamic + 0.97 * energy_runs.CORE_LEAKAGE_W, rel=1e-3)
    assert list(drawn.figures("multicore-power", found)) == ["power"]
    assert "37 W" not in found.summary, "the server's figure stands by the server only"


def test_a_first_cpu_that_costs_no_more_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _analysed(tmp_path, monkeypatch, _steps((LITTLE, *(BIG,) * 3, *(LITTLE,) * 4)))
    assert [check.name for check in found.checks if not check.passed] == [
        "the first CPU of exynos5422 costs most of its cluster",
        "exynos5422 jumps at the first CPU of big",
    ]


def test_cpus_that_do_otherwise_than_asked_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _steps((LITTLE,) * 4 + (BIG,) * 4)
    runs = steady_runs.runs(tmp_path, "multicore-power", {POINT: made}, monkeypatch)
    lines = runs.runs[0].lines("windows.jsonl")
    lines[3]["busy"] = [0, 1]
    wakes.dump(runs.runs[0].file("windows.jsonl"), lines)
    found = multicore_power.analyse(runs)
    assert next(check.name for check in found.checks if not check.passed) == "CPUs do what was asked"


@pytest.mark.parametrize(("interrupted", "holds"), [(5 * energy_runs.US, True), (40 * energy_runs.US, False)])
def test_a_busy_cpu_that_is_at_work_for_an_interrupt_does_not_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interrupted: int, holds: bool
) -> None:
    made = _steps((LITTLE,) * 4 + (BIG,) * 4)
    made[5] = replace(made[5], interrupted=interrupted)
    found = _analysed(tmp_path, monkeypatch, made)
    assert (found.checks[0].name, found.checks[0].passed) == ("CPUs do what was asked", holds)


def test_a_window_that_somebody_else_cut_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        UserError, match=r"no window of statistics is the one that the guest opened at tick \d+"
    ) as said:
        _analysed(tmp_path, monkeypatch, [Made("C4", late=5 * LENGTH)])
    assert "\n" not in str(said.value)


def test_lines_of_another_program_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = steady_runs.runs(tmp_path, "multicore-power", {POINT: [Made("C4")]}, monkeypatch)
    wakes.dump(runs.runs[0].file("windows.jsonl"), [{"state": "C4"}])
    with pytest.raises(UserError, match="not the lines of steady-power"):
        multicore_power.analyse(runs)


def test_qemu_has_no_joules_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = steady_runs.runs(tmp_path, "multicore-power", {POINT: [Made("C4")]}, monkeypatch, engine="qemu")
    found = multicore_power.analyse(runs)
    assert "no joules" in found.summary
    assert not found.tables
