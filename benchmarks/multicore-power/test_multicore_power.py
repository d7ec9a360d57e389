# SPDX-License-Identifier: BSD-3-Clause
"""Watts over active CPUs: known steps come out, and a step that is not there fails."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
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
    assert [(check.name, check.passed) for check in found.checks[1:]] == [
        ("exynos5422 jumps at the first CPU of big, beside all slower ones", True),
        ("the first CPU of big costs far more than a further one on exynos5422", False),
    ]
    assert found.tables["shape"].column("others").to_pylist() == [4, 3]
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


FIRST = "the first CPU of socket0 costs far more than a further one on server"
AGAIN = "server does not jump again at the first CPU of socket1"
JUMP = "exynos5422 jumps at the first CPU of big, beside all slower ones"
BIG_FIRST = "the first CPU of big costs far more than a further one on exynos5422"
FURTHER = (8.0, 7.9, 8.1, 8.0, 8.0)
"""Watts of a socket's further CPUs: 8 W in the mean."""


def _judged(platform: str, clusters: dict[tuple[str, str], tuple[float, ...]]) -> dict[str, bool]:
    """What is said of a machine whose CPUs add these watts, by the name and core of their cluster."""
    rows = [
        {"platform": platform, "newest": name, "core": core, "calibrated_step_w": step}
        for (name, core), steps in clusters.items()
        for step in steps
    ]
    table = pa.Table.from_pylist([{**rows[0], "newest": None, "core": None, "calibrated_step_w": None}, *rows])
    return {ratio.name: ratio.check().passed for ratio in multicore_power.ratios(table)}


def _server(first: float, second: float, further: tuple[float, ...] = FURTHER) -> dict[str, bool]:
    return _judged("server", {("socket0", "a72"): (first, *further), ("socket1", "a72"): (second, *further)})


def _phone(first: float, big: float = 1.0) -> dict[str, bool]:
    littles = (0.2, 0.2, 0.21, 0.2)
    return _judged("exynos5422", {("little", "a7"): littles, ("big", "a15"): (first, big, 1.01 * big, 0.99 * big)})


@pytest.mark.parametrize(
    ("first", "second", "costs_more", "no_second_jump"),
    [
        pytest.param(37.0, 8.0, True, True, id="the paper's server"),
        pytest.param(8.0, 8.0, False, True, id="all CPUs cost the same"),
        pytest.param(1.04 * 8, 8.0, False, True, id="a few percent more"),
        pytest.param(37.0, 37.0, True, False, id="each socket by itself"),
    ],
)
def test_the_shape_of_a_server(first: float, second: float, costs_more: bool, no_second_jump: bool) -> None:
    assert _server(first, second) == {FIRST: costs_more, AGAIN: no_second_jump}


@pytest.mark.parametrize(
    ("first", "big", "jumps", "costs_more"),
    [
        pytest.param(3.0, 1.0, True, True, id="a cluster that costs as much as two CPUs"),
        pytest.param(1.0, 1.0, True, False, id="larger CPUs that share nothing"),
        pytest.param(0.2, 0.2, False, False, id="a fifth CPU like the fourth"),
    ],
)
def test_the_shape_of_a_phone(first: float, big: float, jumps: bool, costs_more: bool) -> None:
    assert _phone(first, big) == {JUMP: jumps, BIG_FIRST: costs_more}


@pytest.mark.parametrize(("spread", "holds"), [(0.01, True), (0.5, False)])
def test_above_the_threshold_the_interval_decides(spread: float, holds: bool) -> None:
    first = 1.02 * multicore_power.THRESHOLD * 8
    further = (8.0, 8 + spread, 8 - spread, 8 + spread, 8 - spread)
    assert _server(first, 8.0, further)[FIRST] is holds


def test_below_the_threshold_a_second_jump_is_not_ruled_out_by_its_point_alone() -> None:
    second = 0.98 * multicore_power.THRESHOLD * 8
    assert _server(37.0, second, (8.0, 8.01, 7.99, 8.0, 8.0))[AGAIN]
    assert not _server(37.0, second, (8.0, 8.2, 7.8, 8.2, 7.8))[AGAIN]


def test_the_threshold_is_the_papers_and_lies_between_no_effect_and_the_paper() -> None:
    assert multicore_power.PAPER_RATIO == 37 / 8
    assert pytest.approx(37 / 8) == multicore_power.THRESHOLD**2


def test_too_few_further_cpus_fail() -> None:
    assert _judged("server", {("socket0", "a72"): (37.0, 8.0)}) == {FIRST: False}


def test_a_machine_that_the_paper_does_not_have_is_not_judged() -> None:
    assert _judged("tiny", {("little", "a53"): (1.0,), ("big", "a72"): (1.0, 1.0)}) == {}


def test_a_check_says_ours_the_papers_and_the_threshold() -> None:
    table = pa.table(
        {
            "platform": ["server"] * 4, "newest": ["socket0"] * 4, "core": ["a72"] * 4,
            "calibrated_step_w": [1.0, 0.99, 1.0, 1.01],
        }
    )  # fmt: skip
    (ratio,) = multicore_power.ratios(table)
    assert ratio.check().says == (
        "1 W is 1 times (95 %: 0.951 to 1.05) the 1 W of 3 others; paper: at least 4.62; the whole interval has to be "
        "from 2.15 on"
    )


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
