# SPDX-License-Identifier: BSD-3-Clause
"""The analysis on two runs on gem5 that are in results/recordings: one is predicted from the other."""

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.energy import run_ledger
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.results import tree
from lull.results.result import Result
from lull.rundir.folder import RunDir
from lull.rundir.run import Run
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes, resolve
from lull.scenario.runs import Runs
from lull.whatif import bars, version
from lull.whatif.prediction import ALL
from lull_experiments.what_if_validation import analysis, held_out, judging, means
from lull_experiments.what_if_validation.errors import NAMES
from tests import drawn

pytestmark = pytest.mark.usefixtures("governors")

RECORDINGS = ROOT / "results" / "recordings"
GROUP = "governors"
MENU = {
    "load": "polls", "governor": "menu", "state": "C3", "from_state": "C3", "exit_us": 300.0, "residency_us": 2000,
    "from_ms": 40, "for_ms": 5000,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _ledgers_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_ledger, "make_ledger", lambda *_: None)


def _run(recording: str, **values: object) -> Run:
    rundir = RunDir.open(RECORDINGS / recording)
    asked = {**MENU, "cpufreq": "schedutil", **values}
    return Run(f"{GROUP}/{recording}", GROUP, asked, rundir.path, rundir.spec(), rundir.manifest())  # type: ignore[arg-type]


def _runs(*runs: Run, missing: Sequence[str] = (), engine: str = "gem5") -> Runs:
    return Runs(
        path=Path("runs"), scenario="what-if-validation", experiment=Path(__file__).parent, title="", command="",
        engine=engine, cpu="detailed", platform="tegra-k1", runs=runs, missing=tuple(missing), hung=(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_ledger, "make_ledger", lambda *_: None)
        return analysis.analyse(_runs(_run("drags"), _run("drags-deeper", state="C4"), missing=["exits/tiny-300"]))


def test_the_held_out_run_is_predicted_from_the_recorded_one(found: Result) -> None:
    point, other = found.tables["points"].to_pylist()
    assert (point["point"], point["recorded"]) == ("governors/drags-deeper", "governors/drags")
    assert (other["point"], other["recorded"]) == ("governors/drags", "governors/drags-deeper")
    assert (point["of_first"], other["of_first"]) == (True, False)
    assert point["true_cores_j"] == pytest.approx(point["said_cores_j"], rel=0.1)
    assert point["true_cores_j"] > 1.3 * point["before_cores_j"], "a prediction of no change would be far off"
    assert point["true_p99_us"] > 5 * point["before_p99_us"], "a prediction of no change would be far off"
    assert point["said_p99_us"] == pytest.approx(point["true_p99_us"], rel=0.1)
    assert 0 < point["rests_pp"] < point["worst_rest_pp"] < 100
    assert point["what_if_s"] < point["gem5_s"] / analysis.FASTER
    assert "2 of 3 points have run so far. Each of the 2 runs is asked of each other run" in found.summary


def test_the_truth_knows_of_the_devices_interrupts(tmp_path: Path) -> None:
    run = _run("drags")
    plain = held_out.loaded(run)
    (unknown,) = np.flatnonzero(~plain.chains.told[0] & (plain.chains.sleeps[0]["refused"] == 0))[:1].tolist()
    sleep = plain.chains.sleeps[0][unknown]
    shutil.copytree(run.path, tmp_path / "run")
    files = tmp_path / "run" / "files"
    files.mkdir()
    (files / "run.jsonl").write_text('{"cpu": 0}\n')
    (files / "events.jsonl").write_text(f'{{"hardware_ns": {int(sleep["end"]) - 200_000}}}\n')
    informed = held_out.informed(dataclasses.replace(run, path=tmp_path / "run"), plain)
    assert informed.chains.told[0][unknown]
    assert informed.chains.told[0].sum() == plain.chains.told[0].sum() + 1
    late = informed.chains.sleeps[0][unknown]
    assert late["end"] - late["woken"] == 200_000
    (files / "events.jsonl").write_text("{}\n")
    with pytest.raises(UserError, match=r"events\.jsonl: not what this scenario writes"):
        held_out.informed(dataclasses.replace(run, path=tmp_path / "run"), plain)


def test_every_number_has_its_truth_and_its_bar(found: Result) -> None:
    rows = found.tables["numbers"].to_pylist()
    assert {row["what"] for row in rows} == {"energy", "cause", "residency", "entries", "latency", "wake-ups"}
    assert all(row["recorded"] or row["predicted"] or row["true"] for row in rows)
    row, other = [row for row in rows if (row["what"], row["cpu"], row["of"]) == ("residency", 0, "C4")]
    assert other["true"] == 0
    assert row["recorded"] == 0
    assert row["true"] > 90
    assert (
        abs(row["predicted"] - row["true"])
        <= bars.factor("residency", bars.Circumstances(free_clocks=True)) * row["base"]
    )


def test_a_result_that_comes_in_pieces_is_concluded_from_its_tables_alone(found: Result) -> None:
    again = analysis.conclude(found.tables, ["governors/drags", "governors/drags-deeper", "exits/tiny-300"])
    assert (again.summary, again.checks) == (found.summary, found.checks)


def test_a_renewed_replay_makes_published_answers_older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its manifest names the replay beside what made the runs."""
    (piece,) = tree.with_code(_runs(_run("drags")).pieces, analysis)
    assert piece["code"].items() >= analysis.code().items()
    copy = tmp_path / "whatif"
    shutil.copytree(version._FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(version, "_FOLDER", copy)
    assert piece["code"]["replay"] == analysis.code()["replay"], "wherever it is"
    with (copy / "chain.py").open("a") as source:
        source.write("# a remark\n")
    assert piece["code"]["replay"] == analysis.code()["replay"], "a comment answers nothing"
    with (copy / "shim" / "chain.c").open("a") as source:
        source.write("/* another replay */\n")
    assert piece["code"]["replay"] != analysis.code()["replay"]


def _made(**changes: object) -> pa.Table:
    row: dict[str, object] = {
        "point": "first/a", "recorded": "first/b", "platform": "tiny", "load": "events", "cpufreq": "performance",
        "governor": "teo", "state": "C3", "factor": 5.0, "other_governor": True, "other_state": False,
        "other_residency": False, "of_first": True, "from_ms": 120.0, "strangers": 0, "choices": 1.0,
        "before_cores_j": 1.0, "said_cores_j": 2.0, "true_cores_j": 2.0,
        "before_p99_us": 10.0, "said_p99_us": 20.0, "true_p99_us": 20.0, "rests_pp": 0.5, "gem5_s": 20.0,
        "what_if_s": 0.002, **changes,
    }  # fmt: skip
    return pa.Table.from_pylist([row])


def _numbers(off: Sequence[float], point: str = "first/a", kind: str = "sums") -> pa.Table:
    """Numbers of a point, and in another group 20 that need the factor 1."""
    place = {"what": "energy", "cpu": -1, "of": "cores", "recorded": 1.3}
    one = {**place, "recorded_run": "first/b", "kind": kind, "predicted": 1.0, "base": 0.1}
    other = {**one, "point": "exits/a", "group": "exits", "recorded_run": "exits/b", "true": 1.1}
    own = [{**one, "point": point, "group": point.partition("/")[0], "true": 1.0 + by} for by in off]
    return pa.Table.from_pylist([*own, *[other] * 20])


@pytest.mark.parametrize(
    ("changes", "off", "failing"),
    [
        ({}, [0.09] * 19 + [0.2], ""),
        ({"said_cores_j": 2.08}, [0.1], "mean error of joules of the cores"),
        ({"said_p99_us": 21.2}, [0.1], "mean error of p99"),
        ({"rests_pp": 1.1}, [0.1], "mean error of residencies"),
        ({}, [0.09] * 15 + [0.2, -0.2] * 3, "the error bar holds 95%"),
        ({"what_if_s": 0.03}, [0.1], "a further answer takes a thousandth"),
        ({"choices": 0.998}, [0.1], "a replay without a change makes 99.9%"),
    ],
)
def test_each_goal_is_a_check_that_can_fail(changes: dict[str, object], off: list[float], failing: str) -> None:
    result = analysis.conclude({"points": _made(**changes), "numbers": _numbers(off)}, ["first/a", "first/b"])
    failed = [check.name for check in result.checks if not check.passed]
    assert len(failed) == (1 if failing else 0)
    assert all(name.startswith(failing) for name in failed)


def test_what_makes_it_worse_is_told_condition_by_condition() -> None:
    both = pa.concat_tables([_made(), _made(point="first/c", factor=0.2, said_p99_us=22.0)])
    numbers = pa.concat_tables([_numbers([0.1]), _numbers([0.2], "first/c")])
    text = analysis.conclude({"points": both, "numbers": numbers}, ["first/a"] * 3).summary
    (longer,) = [line for line in text.splitlines() if line.startswith("| exit | longer")]
    (shorter,) = [line for line in text.splitlines() if line.startswith("| exit | shorter")]
    assert [cell.strip() for cell in longer.split("|")[4:7]] == ["0", "50", "0"]
    assert [cell.strip() for cell in shorter.split("|")[4:7]] == ["0", "50", "10"]
    assert [line.split("|")[-2].strip() for line in (longer, shorter)] == ["100.0%", "0.0%"]
    assert "| platform |" not in text, "what all points have in common tells nothing apart"


def test_a_what_if_is_compared_with_the_recorded_run_in_its_place() -> None:
    """One question is worse than no change, and the bar of another is smaller than its change."""
    rows = pa.concat_tables([_made(), _made(point="first/c", said_cores_j=4.0)])
    numbers = pa.concat_tables([_numbers([0.1]).slice(0, 1), _numbers([0.2], "first/c").slice(0, 1)])
    own = numbers.set_column(numbers.column_names.index("recorded"), "recorded", pa.array([1.1, 2.0]))
    tables = analysis.conclude({"points": rows, "numbers": own}, ["first/a"] * 3).tables
    cores, p99, _ = tables["errors"].to_pylist()
    assert (cores["worse"], cores["clear"]) == (1, 1)
    assert (p99["worse"], p99["clear"]) == (0, 0)
    assert {row["condition"] for row in tables["by_condition"].to_pylist()} == set(), "all have everything in common"


def _published() -> tuple[pa.Table, list[str]]:
    folder = ROOT / "results" / "what-if-validation"
    rows, numbers = (pq.read_table(folder / f"{name}.parquet") for name in ("points", "numbers"))
    return numbers, judging.circumstances(rows.to_pylist(), numbers)


@pytest.mark.parametrize("case", list(judging.CIRCUMSTANCES))
def test_of_the_published_numbers_95_of_100_lie_inside_their_bars(case: str) -> None:
    numbers, of = _published()
    held = judging.off_by(numbers) <= judging.own_bars(numbers, of)
    kinds, mine = np.array(numbers["kind"].to_pylist()), np.array(of) == case
    assert mine.any()
    for kind in bars.FACTORS:
        own = held[mine & (kinds == kind)]
        assert not own.size or own.mean() >= judging.COVERED, kind


def test_cpus_wake_each_other_in_the_published_loads_with_tasks_that_do() -> None:
    """And in no other. The share is far from the limit, so that one more wake-up changes nothing."""
    numbers, of = _published()
    groups = zip(numbers["group"].to_pylist(), of, strict=True)
    assert {group for group, case in groups if case == judging.TURNS} == {"pairs", "pairs-fixed", "page", "watch"}


def test_errors_and_bars_are_drawn(found: Result) -> None:
    figure = drawn.figures("what-if-validation", found)["errors"]
    assert len(figure.axes) == 2
    assert len(figure.axes[0].lines) == len(NAMES)


def test_runs_of_qemu_are_refused() -> None:
    with pytest.raises(UserError, match=r"^runs: made by QEMU, which has no timing to predict; run `\./lull run"):
        analysis.analyse(_runs(_run("drags"), _run("drags-deeper", state="C4"), engine="qemu"))


def test_a_group_does_not_judge_its_own_bars() -> None:
    """Its numbers are twice as far off as those of the other group, whose factor they get."""
    numbers = _numbers([0.2] * 20)
    fixed = [judging.FIXED] * 40
    assert judging.factors(numbers, fixed)["sums", judging.FIXED] == pytest.approx(2)
    assert judging.factors(numbers, fixed, "first")["sums", judging.FIXED] == pytest.approx(1)
    assert judging.judge(numbers, fixed).within.tolist() == [False] * 20 + [True] * 20
    alone = numbers.slice(0, 20)
    assert not judging.judge(alone, fixed[:20]).within.any()
    checks = analysis.conclude({"points": _made(), "numbers": alone}, ["first/a", "first/b"]).checks
    assert not any(check.name.startswith("the error bar") for check in checks)


def test_runs_whose_cpus_wake_each_other_do_not_widen_the_bars_of_others() -> None:
    """Where no other group is like its own, a group gets the factors of a worse one."""
    numbers = _numbers([0.3] * 20)
    apart = [judging.TURNS] * 20 + [judging.FREE] * 20
    known = judging.factors(numbers, apart)
    assert known["sums", judging.TURNS] == pytest.approx(3)
    assert known["sums", judging.FREE] == pytest.approx(1)
    assert known["sums", judging.FIXED] == pytest.approx(1), "no group has fixed clocks"
    assert judging.factors(numbers, apart, "exits")["sums", judging.FREE] == pytest.approx(3)


@pytest.mark.parametrize(("by_cpus", "case"), [(24.0, judging.FREE), (25.0, judging.TURNS)])
def test_a_quarter_of_the_wake_ups_by_other_cpus_makes_turns(by_cpus: float, case: str) -> None:
    asked = [{"recorded": "first/b", "cpufreq": "schedutil"}]
    assert judging.circumstances(asked, pa.Table.from_pylist(_wake_ups("first/a", by_cpus))) == [case] * 2


def _wake_ups(point: str, by_cpus: float) -> list[dict[str, object]]:
    row = {"point": point, "recorded_run": "first/b", "kind": "wake-ups", "cpu": 0, "of": "ipi", "recorded": by_cpus}
    return [row, {**row, "of": "timer", "recorded": 100.0 - by_cpus}]


@pytest.mark.parametrize("swapped", [False, True])
def test_two_runs_with_one_name_are_told_apart(swapped: bool) -> None:
    """Of a run that was made again, older answers may still be in the table: none takes its numbers from the other."""
    questions = [("first/a", 24.0, 1.0), ("first/c", 25.0, 0.5)]
    order = list(reversed(questions)) if swapped else questions
    numbers = pa.Table.from_pylist([row for point, by_cpus, _ in order for row in _wake_ups(point, by_cpus)])
    asked = [
        {"recorded": "first/b", "point": point, "cpufreq": "schedutil", "choices": share} for point, _, share in order
    ]
    cases = judging.circumstances(asked, numbers)
    assert dict(zip(numbers["point"].to_pylist(), cases, strict=True)) == {
        "first/a": judging.FREE, "first/c": judging.TURNS,
    }  # fmt: skip
    assert analysis.df_choices(asked).to_pylist()[0]["least"] == 0.5


def test_a_cpu_that_wakes_up_in_one_of_two_runs_only_is_a_stranger() -> None:
    woken = {0: (5.0, 4.0), 1: (0.0, 1.0), 2: (1.0, 0.0), 3: (0.0, 0.0), ALL: (6.0, 5.0)}
    rows = [
        {"what": "wake-ups", "cpu": cpu, "of": of, "recorded": before if of == "ipi" else 0.0, "true": true}
        for cpu, (before, true) in woken.items()
        for of in ("timer", "ipi")
    ]
    assert held_out.strangers(rows) == 2
    assert held_out.strangers([{**row, "what": "entries"} for row in rows]) == 0


def test_a_group_waits_for_its_second_run() -> None:
    with pytest.raises(UserError, match="no group has two runs on a platform"):
        analysis.analyse(_runs(_run("drags-deeper", state="C4")))


def test_each_group_and_platform_has_one_first_run() -> None:
    points = resolve(load_scenario("what-if-validation"), Wishes("gem5"))
    found: dict[tuple[str, str], list[str]] = {}
    for point in points:
        if point.group == means.GROUP:
            continue
        first = [point.name] if held_out.is_first(point.values) else []
        found.setdefault((point.group, point.spec.platform.name), []).extend(first)
    assert all(len(own) == 1 for own in found.values()), found
    assert len(points) - len(found) >= 60, "held out"
    assert len([point for point in points if point.group == "first"]) == 8
    assert {platform for _, platform in found} == {"tiny", "rk3399", "tegra-k1", "exynos5422"}


def _boot(recording: str, boot: int, state: str) -> Run:
    run = _run(recording, cpufreq="performance", boot=boot, state=state, from_ms=500, for_ms=4500)
    return dataclasses.replace(run, name=f"{means.GROUP}/{recording}-{boot}", group=means.GROUP)


@pytest.fixture(scope="module")
def of_boots() -> pa.Table:
    """Two settings in two boots each. The boots of these recordings are alike."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_ledger, "make_ledger", lambda *_: None)
        kinds = (("drags", "C3"), ("drags-deeper", "C4"))
        return means.table([_boot(name, boot, state) for name, state in kinds for boot in (1, 2)])


def test_the_mean_of_boots_is_asked_of_other_boots(of_boots: pa.Table) -> None:
    rows = of_boots.to_pylist()
    assert {row["from_ms"] for row in rows if row["early"]} == {means.EARLY_MS}
    assert {row["from_ms"] for row in rows if not row["early"]} == {500.0}
    assert {(row["recorded"], row["point"], row["changed"]) for row in rows} == {
        ("boots/drags-1", "boots/drags-2", False),
        ("boots/drags-1", "boots/drags-deeper-2", True),
        ("boots/drags-deeper-1", "boots/drags-2", True),
        ("boots/drags-deeper-1", "boots/drags-deeper-2", False),
    }
    of_cores = [row for row in rows if not row["early"] and (row["what"], row["cpu"], row["of"]) == held_out.CORES_J]
    (cores,) = [row for row in of_cores if row["point"] == "boots/drags-deeper-2" and row["changed"]]
    assert cores["true"] == pytest.approx(cores["predicted"], rel=0.1)
    assert cores["true"] > 1.3 * cores["recorded_value"], "a prediction of no change would be far off"
    assert cores["true_pm"] is None, "of one boot"
    assert cores["made_of"] == ["boots/drags-1", "boots/drags-deeper-2"]


def test_means_have_their_own_errors_and_checks(of_boots: pa.Table) -> None:
    result = analysis.conclude({"means": of_boots}, ["boots/drags-1"] * 4)
    lines = result.tables["means_errors"].to_pylist()
    assert [len([line for line in lines if line["early"] == early]) for early in (False, True)] == [4, 4]
    same = [line for line in lines if not line["changed"]]
    assert max(line["cores_j"] for line in same) < 0.5, "the same recording twice: only the replay differs"
    assert "| boots/drags-1 | drags-deeper-2 |" in result.summary
    assert [check.name.split(":")[0] for check in result.checks] == [
        "mean error of joules of the cores, %, of means of boots",
        "mean error of p99 of the wake-up latency, %, of means of boots",
        "mean error of residencies, points, of means of boots",
        "the error bar of a mean holds 95% of the true means",
    ]


def test_one_boot_of_each_settings_asks_nothing() -> None:
    assert means.table([_boot("drags", 1, "C3"), _boot("drags-deeper", 1, "C4")]) is None


@pytest.mark.parametrize(
    ("changes", "within"),
    [
        ({}, True),
        ({"true": 1.16}, False),
        ({"true": 1.16, "true_pm": 0.2}, True),
        ({"true": 1.16, "error": 0.2}, True),
        ({"true": 1.13, "true_pm": 0.05}, False),
    ],
)
def test_the_bar_of_a_mean_knows_how_well_the_truth_is_known(changes: dict[str, float], within: bool) -> None:
    row = {"predicted": 1.0, "true": 1.05, "true_pm": None, "error": 0.1, "chance": 0.05, **changes}
    assert means.inside(row) is within
