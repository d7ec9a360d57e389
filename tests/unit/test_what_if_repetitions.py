# SPDX-License-Identifier: BSD-3-Clause
"""`lull what-if` of several runs: which are repetitions, and what is said of their mean."""

import dataclasses
import json
import math
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

import lull as lull_api
from lull.cli import what_if
from lull.compare import samples
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.rundir.folder import MANIFEST, RUN
from lull.runspec import seeds
from lull.runspec.seeds import Seeds
from lull.whatif import pooled, repetitions, several, source
from lull.whatif.prediction import ALL, Predicted, Said
from lull.whatif.several import Question
from lull.whatif.source import Replay
from tests.conftest import Lull
from tests.specs import spec

FOLDER = ROOT / "results" / "recordings"
LOAD = "input-app --windows 10 --seed"
T2 = 4.302652730
"""Student's t of two degrees: how many standard errors hold 95 %."""

Change = Callable[[dict[str, Any]], None]


def run(path: Path, boot: int = 0, load: int = 1, trace: str = "drags", change: Change | None = None) -> Path:
    """A run that was asked for what `drags` was, but for the seeds. `trace` has another recording's events."""
    shutil.copytree(FOLDER / trace, path)
    asked = json.loads((FOLDER / "drags" / RUN).read_text(encoding="utf-8"))
    asked["platform"]["boot_seed"] = boot
    asked["command"] = asked["command"].replace("--seed 1", f"--seed {load}")
    if change:
        change(asked)
    (path / RUN).write_text(json.dumps(asked), encoding="utf-8")
    return path


def test_the_seeds_of_a_run_are_of_boot_load_and_engine() -> None:
    asked = spec(
        "boot_seed=7", command=f"{LOAD} 3 & {LOAD}=4; wait", peer=f"{LOAD} 5", seed=6,
        schedule="1000 1 30 1\npoisson 0 500 10 8 1 30 1\nperiodic 0 500 9 1 30 1\nend\n",
    )  # fmt: skip
    assert seeds.of(asked) == Seeds(boot=7, load=(3, 4, 5, 8), engine=6)
    without = seeds.without(asked)
    assert seeds.of(without) == Seeds(0, (0, 0, 0, 0), 0)
    assert without.command == f"{LOAD} 0 & {LOAD}=0; wait"
    assert without.schedule == "1000 1 30 1\npoisson 0 500 10 0 1 30 1\nperiodic 0 500 9 1 30 1\nend\n"


def test_another_number_of_the_command_is_no_seed() -> None:
    asked = spec(command="load --seeds 4 --reseed 5 --seed=x --seed")
    assert seeds.of(asked).load == ()
    assert seeds.without(asked).command == asked.command


def test_runs_that_differ_in_seeds_alone_are_repetitions(tmp_path: Path) -> None:
    boots = [run(tmp_path / f"boot-{boot}", boot) for boot in (1, 2)]
    load = run(tmp_path / "load", 2, load=5)
    (group,), apart = repetitions.of([*boots, load])
    assert (group.paths, group.boots, apart) == ((*boots, load), (1, 2, 2), [])
    assert group.name == f"mean of 3 repetitions of {boots[0]}"


def _deeper(asked: dict[str, Any]) -> None:
    asked["policy"]["idle_deepest"] = "C4"


def _longer(asked: dict[str, Any]) -> None:
    asked["command"] = asked["command"].replace("--windows 10", "--windows 11")


def _leakier(asked: dict[str, Any]) -> None:
    asked["platform"]["clusters"][0]["cstates"][2]["actual"]["exit_us"] = 99.0


@pytest.mark.parametrize(
    ("change", "key"),
    [(_deeper, "policy.idle_deepest"), (_longer, "command"), (_leakier, "platform.clusters.main.cstates.C3.actual")],
)
def test_a_run_with_another_setting_stays_apart_and_that_is_said(tmp_path: Path, change: Change, key: str) -> None:
    first, second = run(tmp_path / "first", 1), run(tmp_path / "second", 2)
    others = [run(tmp_path / f"other-{boot}", boot, change=change) for boot in (1, 2)]
    groups, (sentence,) = repetitions.of([first, others[0], second, others[1]])
    assert [group.paths for group in groups] == [(first, second), tuple(others)]
    assert sentence.startswith(f"{others[0]} and its repetitions: not pooled with {first}, which differs in {key}")
    groups, (sentence,) = repetitions.of([first, others[0]])
    assert groups == []
    assert sentence.startswith(f"{others[0]}: not pooled with {first}, which differs in {key}")


def test_a_run_of_another_kernel_stays_apart(tmp_path: Path) -> None:
    paths = [run(tmp_path / name, boot) for boot, name in enumerate(("first", "second"))]
    about = json.loads((paths[1] / MANIFEST).read_text(encoding="utf-8"))
    about["artifacts"]["kernel"]["key"] = "another"
    (paths[1] / MANIFEST).write_text(json.dumps(about), encoding="utf-8")
    assert repetitions.of(paths) == ([], [f"{paths[1]}: not pooled with {paths[0]}, which differs in artifacts.kernel"])


def test_a_run_with_the_same_seeds_counts_once(tmp_path: Path) -> None:
    """Simulations repeat: the same run again would make a spread seem small."""
    paths = [run(tmp_path / name, 1) for name in ("first", "again")]
    sentence = f"{paths[1]}: not pooled with {paths[0]}, which has the same seeds: it is the same run again"
    assert repetitions.of(paths) == ([], [sentence])
    (group,), again = repetitions.of([*paths, run(tmp_path / "second", 2), paths[0]])
    assert (group.paths, group.boots) == ((paths[0], tmp_path / "second"), (1, 2))
    assert len(again) == 2


SAID = [Said(10.0, 5.0, 3.0), Said(12.0, 5.0, 3.0), Said(14.0, 8.0, 3.0)]
"""Bars of which 2, 2 and 5 are systematic, 3 on average."""


def test_the_bar_of_three_boots_has_the_measured_chance_and_the_whole_systematic_part() -> None:
    """By hand: the spread is 2, its standard error 2 / sqrt 3."""
    chance = T2 * 2 / math.sqrt(3)
    assert pooled.mean(SAID, [1, 2, 3]) == pytest.approx((12.0, 3.0 + chance, chance))
    nearer = [one._replace(predicted=10 + one.predicted / 10) for one in SAID]
    assert pooled.mean(nearer, [1, 2, 3]) == pytest.approx((11.2, 3.0 + chance / 10, chance / 10))


def test_three_boots_that_come_out_nearly_alike_keep_a_sixth_of_the_assumed_chance() -> None:
    near = [one._replace(predicted=10 + one.predicted / 1000) for one in SAID]
    chance = 3.0 / 6 / math.sqrt(3)
    assert pooled.mean(near, [1, 2, 3]) == pytest.approx((10.012, 3.0 + chance, chance))


def test_the_systematic_part_does_not_shrink_with_more_repetitions() -> None:
    many = pooled.mean([Said(10.0 + number % 2, 2.0 + 3.0, 3.0) for number in range(1000)], range(1000))
    assert many.chance < 0.05
    assert many.error - many.chance == pytest.approx(2.0)


def test_two_boots_keep_the_larger_of_the_assumed_and_the_measured_chance() -> None:
    """The t of one degree is 12.706, and the standard error of two is half of their distance."""
    assert pooled.mean(SAID[:2], [1, 2]) == pytest.approx((11.0, 2.0 + 12.706204736, 12.706204736))
    close = [SAID[0], SAID[1]._replace(predicted=10.1)]
    assert pooled.mean(close, [1, 2]) == pytest.approx((10.05, 5.0, 3.0))


def test_loads_of_one_boot_do_not_tell_what_another_boot_would_do() -> None:
    near = [one._replace(predicted=10 + one.predicted / 1000) for one in SAID]
    assert pooled.mean(near, [4, 4, 4]) == pytest.approx((10.012, 6.0, 3.0))
    assert pooled.mean(SAID, [4, 4, 4]).chance == pytest.approx(T2 * 2 / math.sqrt(3)), "the larger of both"


def test_loads_of_a_boot_count_together_as_one_boot() -> None:
    """By hand: the boots' means are 10, 12 and 14, whatever the number of loads."""
    said = [SAID[0], SAID[1]._replace(predicted=11.0), SAID[1]._replace(predicted=13.0), SAID[2]]
    assert pooled.mean(said, [1, 2, 2, 3]) == pytest.approx(pooled.mean(SAID, [1, 2, 3]))


def test_boots_that_all_came_out_the_same_keep_the_assumed_chance() -> None:
    said = [Said(0.1, 5.0, 3.0)] * 3
    assert pooled.mean(said, [1, 2, 3]) == pytest.approx((0.1, 5.0, 3.0))


def row(what: str, cpu: int, of: str, number: float, ideal: float | None = 1.0) -> Predicted:
    unit = {"latency": "us", "entries": ""}.get(what, "J")
    return Predicted(what, unit, cpu, of, number, 2 * number, 1.0, 0.5, ideal)


def test_a_mean_is_of_all_runs_or_not_there() -> None:
    tables = [
        [row("cause", ALL, "task:sh/56", 1.0), row("cause", ALL, "task:sh/60", 2.0), row("latency", 0, "p99", 5.0)],
        [row("cause", ALL, "task:sh/48", 5.0), row("latency", 0, "p99", 7.0, None), row("latency", 1, "p99", 6.0)],
        [row("energy", 2, "C2", 3.0)],
    ]
    rows = {found[:4]: found for found in pooled.rows(tables[:2], [1, 2])}
    assert list(rows) == [("cause", "J", ALL, "task:sh"), ("latency", "us", 0, "p99")], "CPU 1 woke too seldom in a run"
    shell = rows["cause", "J", ALL, "task:sh"]
    assert (shell.recorded, shell.predicted, shell.ideal) == (4.0, 8.0, 1.5), "a task has another number in each run"
    late = rows["latency", "us", 0, "p99"]
    assert (late.recorded, late.predicted, late.ideal) == (6.0, 12.0, None)
    (energy,) = [one for one in pooled.rows(tables, [1, 2, 3]) if one.what == "energy"]
    assert (energy.recorded, energy.predicted) == (1.0, 2.0), "a state that a run did not enter took no joules"


def point(settings: str, joules: float, late: float) -> dict[str, Any]:
    said = {"energy_j": joules, "wake_ups": 9.0, "latency_p99_us": late}
    numbers = {name: value for key, one in said.items() for name, value in
               {key: one, f"{key}_error": 1.0, f"{key}_chance": 0.5}.items()}  # fmt: skip
    return {"run": "r", "settings": settings, **numbers, "pareto": False}


def test_the_best_points_of_a_grid_are_those_of_the_means() -> None:
    """Each run has one point that is better in both; of the means none is."""
    first = [point("x=1", 1.0, 1.0), point("x=2", 2.0, 2.0)]
    second = [point("x=1", 4.0, 9.0), point("x=2", 2.0, 9.5)]
    rows = pooled.points([first, second], [1, 2], "the mean")
    assert [(one["run"], one["settings"], one["energy_j"], one["latency_p99_us"]) for one in rows] == [
        ("the mean", "x=1", 2.5, 5.0), ("the mean", "x=2", 2.0, 5.75),
    ]  # fmt: skip
    assert [one["pareto"] for one in rows] == [True, True]
    assert rows[0]["energy_j_error"] == pytest.approx(0.5 + 12.706204736 * 1.5)
    assert list(rows[0]) == list(first[0])


@pytest.fixture(scope="module")
def replay(governors: None) -> Replay:
    return source.load(FOLDER / "drags")


def test_one_run_at_a_time_is_in_memory(tmp_path: Path, replay: Replay) -> None:
    paths = [run(tmp_path / f"boot-{boot}", boot) for boot in (1, 2, 3)]
    before: list[weakref.ref[Replay]] = []

    def load(path: Path) -> Replay:
        assert [one() for one in before] == [None] * len(before)
        one = dataclasses.replace(replay, path=path)
        before.append(weakref.ref(one))
        return one

    grid = [f"cstates.C3.exit_us={','.join(map(str, range(10, 80)))}"]
    for asked in (Question(["governor=teo"]), Question([], grid)):
        names = [answer.run for answer in several.answers(paths, asked, load)]
        assert names == [*map(str, paths), f"mean of 3 repetitions of {paths[0]}"]
    assert len(before) == 6


def test_runs_that_lack_a_cpu_are_not_pooled(
    tmp_path: Path, replay: Replay, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [run(tmp_path / f"boot-{boot}", boot) for boot in (1, 2)]
    awake = {cpu: own for cpu, own in replay.chains.sleeps.items() if cpu != 4}
    fewer = dataclasses.replace(replay, path=paths[1], chains=dataclasses.replace(replay.chains, sleeps=awake))
    found = several.answers(paths, Question([], ["governor=teo"]), {paths[0]: replay, paths[1]: fewer}.__getitem__)
    assert len(list(found)) == 2
    assert "not made, because a CPU is left out of some of these runs" in capsys.readouterr().err


def test_the_command_pools_repetitions_and_leaves_others_apart(tmp_path: Path, lull: Lull, governors: None) -> None:
    """The traces differ, as those of other boots do; the run of C4 is no repetition."""
    for number, trace in enumerate(("drags", "poll", "keys"), start=1):
        run(tmp_path / f"boot-{number}", number, trace=trace)
    deeper = str(FOLDER / "drags-deeper")
    words = ("boot-1", "boot-2", deeper, "boot-3", "--set", "cstates.C3.exit_us=130", "--out", "table.parquet")
    ran = lull("what-if", *words)
    assert ran.returncode == 0, ran.stderr
    assert f"{deeper}: not pooled with boot-1, which differs in policy.idle_deepest\n" in ran.stderr
    name = "mean of 3 repetitions of boot-1"
    assert ran.stdout.count(f"\n{name}\n") == 1
    assert f"{name}: the runs are boot-1, boot-2, boot-3; the error bars' part for chance is measured" in ran.stderr
    rows = pq.read_table(tmp_path / "table.parquet").to_pylist()
    assert list(dict.fromkeys(one["run"] for one in rows)) == ["boot-1", "boot-2", deeper, "boot-3", name]
    by_run = {one["run"]: one for one in rows if (one["what"], one["cpu"], one["of"]) == ("energy", ALL, "cores")}
    own = [by_run[f"boot-{number}"] for number in (1, 2, 3)]
    for column in ("recorded", "predicted", "ideal"):
        assert by_run[name][column] == pytest.approx(sum(one[column] for one in own) / 3)
    middle = by_run[name]["predicted"]
    spread = math.sqrt(sum((one["predicted"] - middle) ** 2 for one in own) / 2)
    systematic = sum(one["error"] - one["chance"] for one in own) / 3
    assert systematic > 0
    assert by_run[name]["error"] == pytest.approx(systematic + T2 * spread / math.sqrt(3))


def test_python_pools_as_the_command_does(
    tmp_path: Path, replay: Replay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(source, "load", lambda path: dataclasses.replace(replay, path=path))
    paths = [run(tmp_path / f"boot-{boot}", boot) for boot in (1, 2)]
    other = run(tmp_path / "longer", 3, change=_longer)
    found = lull_api.what_if([*paths, other], "governor=teo")
    name = f"mean of 2 repetitions of {paths[0]}"
    assert list(dict.fromkeys(found["run"])) == [str(paths[0]), str(paths[1]), name, str(other)]
    assert f"{other}: not pooled with {paths[0]}, which differs in command\n" in capsys.readouterr().err
    points = lull_api.what_if(paths, grid=["governor=menu,teo"], frames="arrow").to_pylist()
    assert [one["run"] for one in points] == [str(paths[0])] * 2 + [str(paths[1])] * 2 + [name] * 2
    assert points[4]["energy_j_error"] == pytest.approx(points[0]["energy_j_error"]), "both boots came out the same"
    with pytest.raises(UserError, match="what_if: no run named"):
        lull_api.what_if([], "governor=teo")


def test_an_untraced_run_of_a_sweep_is_left_out_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that is named itself is refused."""
    traced, bare = FOLDER / "drags", run(tmp_path / "bare")
    (bare / "trace.dat").unlink()
    assert several.askable([bare, traced]) == [traced]
    said = capsys.readouterr().err
    assert said.startswith(f"left out: {bare / 'trace.dat'}: missing; run the command again with --trace sched")
    with pytest.raises(UserError, match=r"trace\.dat: missing"):
        several.askable([bare])
    points = [SimpleNamespace(run=SimpleNamespace(path=path)) for path in (bare, traced)]
    monkeypatch.setattr(samples, "kind_of", lambda path: "sweep")
    monkeypatch.setattr(samples, "read", lambda path: SimpleNamespace(points=points))
    assert what_if._runs_of(tmp_path) == [traced]
