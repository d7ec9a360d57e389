# SPDX-License-Identifier: BSD-3-Clause
"""The sums and the verdict over a soak whose outcome is known: whole, with a lost CPU, a late timer, a hung point."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.errors import UserError
from lull.results import result
from lull.results.result import Result
from lull.rundir.folder import FILES, STATS_TABLE, RunDir
from lull.runspec.spec import EngineName
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import load_scenario
from lull.scenario.points import Point, Wishes, resolve, select
from lull.scenario.runs import Runs, read
from lull_experiments.soak import analysis as soak
from tests import wakes

POINTS = ["quick/1-C3", "quick/2-C3", "real/19-C4"]
ENTRIES = 2500
HEAD = "           CPU0       CPU1       CPU2\n"


@cache
def _every(engine: EngineName) -> list[Point]:
    """Each point resolves a platform of its own, which takes longer than all that is done with it here."""
    return resolve(load_scenario("soak"), Wishes(engine))


def _points(engine: EngineName) -> list[Point]:
    return select(_every(engine), POINTS)


def _rows(point: Point, change: Mapping[tuple[str, int], Mapping[str, Any]]) -> list[dict[str, Any]]:
    good = {"entries": ENTRIES, "ended_by_others": 7, "latest_us": 300, "bound_us": 20_000, "lost": False}
    return [
        {"state": str(point.values["state"]), "cpu": cpu, **good, **change.get((point.name, cpu), {})}
        for cpu in wakes.CPUS
    ]


def _interrupts(times: int) -> str:
    def row(label: str, counts: tuple[int, int, int], name: str) -> str:
        return f"{label}: " + " ".join(f"{count * times:10}" for count in counts) + f"  {name}\n"

    return (
        HEAD
        + row(" 11", (3000, 2000, 1000), "GICv3  27 Level     arch_timer")
        + row(" 16", (0, 500, 0), "GICv3 225 Edge      lull-event")
        + row("IPI0", (10, 20, 30), "Rescheduling interrupts")
        + row("IPI1", (1, 2, 3), "Function call interrupts")
        + "Err:          0\n"
    )


def _statistics(path: Path, exits: Mapping[str, int]) -> None:
    """Two windows, as after a change of frequency: packets add up."""
    bus = "system.iobus.pktCount_system.iobridge.mem_side_port::system.realview.latency"
    rows = [(window, f"{bus}_{name}.pio", 16.0 * count / 2) for name, count in exits.items() for window in (0, 1)]
    rows += [(0, f"{bus}_cluster0_core_off_entry.pio", 9e9), (1, "system.iobus.pktCount::total", 9e9)]
    columns = zip(("window", "statistic", "value"), zip(*rows, strict=True), strict=True)
    pq.write_table(pa.table({name: list(values) for name, values in columns}), path)


def _finish(rundir: RunDir, point: Point, change: Mapping[tuple[str, int], Mapping[str, Any]]) -> None:
    state = str(point.values["state"])
    wakes.dump(rundir / FILES / soak.FILE, _rows(point, change))
    (rundir / FILES / soak.BEFORE).write_text(_interrupts(1))
    (rundir / FILES / soak.AFTER).write_text(_interrupts(3))
    counted = [wakes.counted(cpu, state, usage=2600, rejected=4, window_us=1) for cpu in wakes.CPUS]
    wakes.dump(rundir / "cpuidle.jsonl", counted)
    _statistics(
        rundir / STATS_TABLE,
        {f"cluster{number}_core_off_exit": 2000 for number in wakes.CPUS}
        | {f"cluster{number}_cluster_off_exit": 590 - 100 * number for number in wakes.CPUS},
    )


def _hang(rundir: RunDir) -> None:
    rundir.finish({"state": "hung", "error": f"{rundir / 'console.log'}: the guest hung past its limit"})


def _runs(
    out: Path,
    change: Mapping[tuple[str, int], Mapping[str, Any]] | None = None,
    hung: str = "",
    broken: str = "",
    builds: Mapping[str, str] | None = None,
) -> Runs:
    scenario = load_scenario("soak")
    points = _points("gem5")
    sweep = ScenarioFolder.create(out, "soak", "./lull run soak", points)
    for point in points:
        build = (builds or {}).get(point.name, "one build")
        rundir = wakes.finish(sweep.folder(point.name), point, {**wakes.ENGINE, "sha256": build})
        if point.name == hung:
            _hang(rundir)
        elif point.name == broken:
            rundir.finish({"state": "failed", "error": "interrupted"})
        else:
            _finish(rundir, point, change or {})
    return read(sweep, scenario)


def _analysed(out: Path, **what: Any) -> Result:
    return soak.analyse(_runs(out, **what))


def test_entries_are_summed_over_the_points(tmp_path: Path) -> None:
    change = {("quick/2-C3", 1): {"entries": 2600, "latest_us": 900}}
    found = _analysed(tmp_path, change=change)
    rows = found.tables["entries"].to_pylist()
    assert [(row["state"], row["cpu"], row["cluster"]) for row in rows] == [
        (state, cpu, name) for state in ("C3", "C4") for cpu, name in enumerate(("little", "big", "shadow"))
    ]
    assert {row["mode"] for row in rows} == {"detailed"}
    assert [row["entries"] for row in rows] == [5000, 5100, 5000, 2500, 2500, 2500]
    assert [row["points"] for row in rows] == [2, 2, 2, 1, 1, 1]
    assert [row["latest_us"] for row in rows] == [300, 900, 300, 300, 300, 300]
    assert (rows[1]["timer"], rows[1]["call"], rows[1]["device"]) == (8000, 88, 2000)
    assert (rows[3]["timer"], rows[3]["call"], rows[3]["device"]) == (6000, 22, 0)
    assert (
        "fewest entries of a CPU into a state are 2500, of 100000 that are asked for; over all states, 7500. None of "
        "22600 in all was lost: at most one in 7533 is, with 95 % confidence." in found.summary
    )
    assert "| detailed | C3 | big | 1 | 5100 | 5.1% | 4980 | 79.3% | 0.9% | 19.8% | 14 | 900 |" in found.summary


def test_entries_given_up_are_those_that_hardware_never_came_back_from(tmp_path: Path) -> None:
    found = _analysed(tmp_path)
    rows = [row for row in found.tables["tries"].to_pylist() if row["point"] == "real/19-C4"]
    assert [(row["tried"], row["refused"], row["reached"], row["cluster_off"]) for row in rows] == [
        (2604, 4, 2590, 590), (2604, 4, 2490, 490), (2604, 4, 2390, 390),
    ]  # fmt: skip
    assert "| detailed | quick | C3 | big | 5208 | 8 | 220 | 980 |" in found.summary
    assert "| detailed | real | C4 | little | 2604 | 4 | 10 | 590 |" in found.summary


def test_sleeps_are_the_entries_that_were_not_given_up(tmp_path: Path) -> None:
    tables = _analysed(tmp_path).tables
    rows = [row for row in tables["entries"].to_pylist() if row["state"] == "C4"]
    assert [row["slept"] for row in rows] == [2590, 2490, 2390]
    several = pa.concat_tables([tables["entries"], tables["entries"]]).drop_columns("slept")
    assert set(soak.with_sleeps(several, tables["tries"])["slept"].to_pylist()) == {None}, "of which CPU?"
    unknown = pa.nulls(len(tables["tries"]), pa.int64())
    tries = tables["tries"].drop_columns("reached").append_column("reached", unknown)
    of_qemu = soak.with_sleeps(tables["entries"].drop_columns("slept"), tries)
    assert set(of_qemu["slept"].to_pylist()) == {None}


def test_a_soak_without_a_lost_wake_up_holds(tmp_path: Path) -> None:
    (check,) = _analysed(tmp_path).checks
    assert check.passed
    assert check.says == "0 lost in 22500 entries; none may be"


@pytest.mark.parametrize(
    ("change", "how"),
    [
        ({"lost": True, "entries": 17}, "never seen again after 17 entries"),
        ({"latest_us": 20_001}, "woke 20001 µs late, the bound is 20000"),
    ],
)
def test_a_cpu_that_missed_its_wake_up_is_lost(tmp_path: Path, change: Mapping[str, Any], how: str) -> None:
    found = _analysed(tmp_path, change={("real/19-C4", 2): change})
    assert found.tables["lost"].to_pylist() == [
        {"point": "real/19-C4", "group": "real", "mode": "detailed", "state": "C4", "cpu": 2, "how": how}
    ]
    (check,) = found.checks
    assert not check.passed
    assert check.says.startswith("1 lost in ")
    assert check.says.endswith(f"real/19-C4, CPU 2: {how}")
    assert f"| real/19-C4 | 2 | {how} |" in found.summary


def test_a_lost_cpu_leaves_no_count_of_interrupts_behind(tmp_path: Path) -> None:
    runs = _runs(tmp_path, change={("real/19-C4", 2): {"lost": True}})
    runs.runs[-1].file(soak.AFTER).unlink()
    found = soak.analyse(runs)
    assert not found.checks[0].passed
    assert {row["timer"] for row in found.tables["cpus"].to_pylist() if row["point"] == "real/19-C4"} == {0}


def test_a_bound_that_is_met_is_not_lost(tmp_path: Path) -> None:
    assert _analysed(tmp_path, change={("real/19-C4", 2): {"latest_us": 20_000}}).checks[0].passed


def test_a_point_that_hung_is_a_lost_wake_up(tmp_path: Path) -> None:
    found = _analysed(tmp_path, hung="quick/2-C3")
    (row,) = found.tables["lost"].to_pylist()
    assert (row["point"], row["state"], row["cpu"]) == ("quick/2-C3", "C3", None)
    assert row["how"] == "hung: quick/2-C3/console.log: the guest hung past its limit"
    assert not found.checks[0].passed
    assert "| quick/2-C3 | ? | hung: quick/2-C3/console.log: the guest hung past its limit |" in found.summary


def test_a_point_that_was_interrupted_is_only_missing(tmp_path: Path) -> None:
    runs = _runs(tmp_path, broken="quick/2-C3")
    assert (runs.missing, runs.hung) == (("quick/2-C3",), ())
    found = soak.analyse(runs)
    assert found.checks[0].passed
    assert "2 points of 3 have finished" in found.summary
    assert "Not there yet: quick/2-C3." in found.summary


def test_where_nothing_finished_the_hung_ones_are_named(tmp_path: Path) -> None:
    scenario = load_scenario("soak")
    points = _points("gem5")[:1]
    sweep = ScenarioFolder.create(tmp_path, "soak", "./lull run soak", points)
    _hang(wakes.finish(sweep.folder(points[0].name), points[0]))
    with pytest.raises(UserError, match="none of its 1 points has finished, and 1 hung, such as quick/1-C3; run"):
        read(sweep, scenario)


def test_qemu_does_not_know_what_hardware_gave_up(tmp_path: Path) -> None:
    scenario = load_scenario("soak")
    points = _points("qemu")[:1]
    sweep = ScenarioFolder.create(tmp_path, "soak", "./lull run soak", points)
    rundir = wakes.finish(sweep.folder(points[0].name), points[0], {**wakes.ENGINE, "name": "qemu"})
    _finish(rundir, points[0], {})
    (rundir / STATS_TABLE).unlink()
    found = soak.analyse(read(sweep, scenario))
    assert {row["reached"] for row in found.tables["tries"].to_pylist()} == {None}
    assert "| qemu | quick | C3 | little | 2604 | 4 | not known | not known |" in found.summary


def test_interrupts_of_no_known_form_are_refused() -> None:
    with pytest.raises(UserError, match="x: does not begin with a line of CPUs; run the point again"):
        soak.read_interrupts("", "x")


def test_the_points_are_enough_for_what_is_asked(tmp_path: Path) -> None:
    per_state: dict[str, int] = {}
    for point in _every("gem5"):
        if point.group == soak.SHARED:
            continue
        entries = point.values["entries"]
        assert isinstance(entries, int)
        state = str(point.values["state"])
        per_state[state] = per_state.get(state, 0) + entries
        assert f"soak-check {state} {entries} {point.values['chunk']} " in point.spec.command
    assert per_state == dict.fromkeys(("C2", "C3", "C4"), soak.ASKED)


def test_the_guest_program_names_what_the_analysis_reads() -> None:
    source = (Path(__file__).parent / "soak.c").read_text()
    for key in _rows(_points("gem5")[:1][0], {})[0]:
        assert json.dumps(key) in source


@pytest.mark.parametrize(
    ("of", "name"),
    [
        ({}, "soak"),
        ({"cpu": "atomic"}, "soak-atomic"),
        ({"platform": "rk3399"}, "soak-rk3399"),
        ({"platform": "rk3399", "cpu": "timing"}, "soak-rk3399-timing"),
    ],
)
def test_another_machine_does_not_replace_what_is_published_of_the_scenarios_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: Mapping[str, Any], name: str
) -> None:
    monkeypatch.setattr(result, "RESULTS", tmp_path / "results")
    runs = replace(_runs(tmp_path / "runs"), **of)
    result.write(soak.analyse(runs), runs, tmp_path / "made")
    assert result.publish(runs, tmp_path / "made") == tmp_path / "results" / name
    assert (tmp_path / "results" / name / "summary.md").is_file()


def _published(results: Path, out: Path, **what: Any) -> dict[str, Any]:
    """Publish what has finished, and what `soak` then is."""
    runs = _runs(out, **what)
    result.write(soak.analyse(runs), runs, out / "figures")
    folder = result.publish(runs, out / "figures")
    assert folder == results / "soak"
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return found


def _makers(manifest: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return each build with the points that it made."""
    return [(piece["engine"]["sha256"], piece["points"]) for piece in manifest["pieces"]]


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(result, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def test_a_soak_is_published_as_far_as_it_has_come_and_goes_on_elsewhere(results: Path, tmp_path: Path) -> None:
    first = _published(results, tmp_path / "first", broken="quick/2-C3")
    assert "2 points of 3 have finished" in (results / "soak" / "summary.md").read_text()
    assert _makers(first) == [("one build", ["quick/1-C3", "real/19-C4"])]

    second = _published(results, tmp_path / "second", broken="quick/1-C3", builds=dict.fromkeys(POINTS, "another"))
    text = (results / "soak" / "summary.md").read_text()
    assert "3 points of 3 have finished" in text
    assert "Not there yet" not in text
    assert _makers(second) == [("one build", ["quick/1-C3", "real/19-C4"]), ("another", ["quick/2-C3"])]
    assert sorted(second["points"]) == POINTS
    entries = pq.read_table(results / "soak" / "entries.parquet").to_pylist()
    assert [row["entries"] for row in entries] == [5000, 5000, 5000, 2500, 2500, 2500]


def test_of_a_folder_of_two_builds_each_point_names_its_own(results: Path, tmp_path: Path) -> None:
    found = _published(results, tmp_path / "first", hung="real/19-C4", builds={"real/19-C4": "another"})
    assert _makers(found) == [("one build", ["quick/1-C3", "quick/2-C3"]), ("another", ["real/19-C4"])]
    assert found["points"]["real/19-C4"]["hung"], "a hung one is evidence too"

    again = _published(results, tmp_path / "second", builds=dict.fromkeys(POINTS, "a third"))
    assert _makers(again) == _makers(found), "what made a published point stays with it"


def test_publishing_twice_adds_nothing(results: Path, tmp_path: Path) -> None:
    first = _published(results, tmp_path / "runs")
    before = (results / "soak" / "cpus.parquet").read_bytes()
    assert _published(results, tmp_path / "the same again") == first
    assert (results / "soak" / "cpus.parquet").read_bytes() == before


@pytest.mark.parametrize("how", [{"change": {("quick/2-C3", 1): {"lost": True}}}, {"hung": "quick/2-C3"}])
def test_a_lost_wake_up_stays_published_when_its_point_is_run_again(
    results: Path, tmp_path: Path, how: Mapping[str, Any]
) -> None:
    _published(results, tmp_path / "first", **how)
    _published(results, tmp_path / "second")
    (check,) = json.loads((results / "soak" / "checks.json").read_text())
    assert not check["passed"]
    assert "quick/2-C3" in check["says"]


def test_pieces_of_other_settings_do_not_mix(results: Path, tmp_path: Path) -> None:
    _published(results, tmp_path / "first")
    runs = replace(_runs(tmp_path / "other"), command="./lull run soak --set entries=7")
    result.write(soak.analyse(runs), runs, tmp_path / "made")
    with pytest.raises(
        UserError, match=r"made by `\./lull run soak --set entries=7`, and .*soak by `\./lull run soak`;"
    ):
        result.publish(runs, tmp_path / "made")


def test_two_cpus_in_a_cluster_are_counted_apart_and_lost_alike(tmp_path: Path) -> None:
    tables = dict(_analysed(tmp_path).tables)
    (row,) = tables["cpus"].slice(0, 1).to_pylist()
    of_shared = {**row, "point": "shared/21-C4", "group": "shared", "state": "C4", "entries": 40, "cpu": 3}
    tables["cpus"] = pa.concat_tables([tables["cpus"], pa.Table.from_pylist([of_shared], tables["cpus"].schema)])
    lost = {"point": "shared/21-C4", "group": "shared", "mode": "detailed", "state": "C4", "cpu": 3, "how": "late"}
    tables["lost"] = pa.Table.from_pylist([lost], tables["lost"].schema)
    found = soak.conclude(tables, [*POINTS, "shared/21-C4"])
    assert "fewest entries of a CPU into a state are 2500" in found.summary
    assert "confidence" not in found.summary
    assert "4 points of 4 have finished" in found.summary
    assert [(row["cpu"], row["entries"]) for row in found.tables["shared"].to_pylist()] == [(3, 40)]
    (check,) = found.checks
    assert check.says == "1 lost in 22540 entries; none may be: shared/21-C4, CPU 3: late"
