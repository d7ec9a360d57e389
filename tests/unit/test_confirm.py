# SPDX-License-Identifier: BSD-3-Clause
"""`lull confirm`: a few points of a published result again, by an engine that answers what a test wants."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from typer.testing import CliRunner

from lull.artifacts import cache, store
from lull.artifacts.cache import Entry
from lull.cli.app import Interrupted, app
from lull.cli.options import complete_result
from lull.energy import version
from lull.engines.base import Outcome, Sink
from lull.errors import LimitReached, UserError
from lull.figures import wake
from lull.files import paths
from lull.results import age, confirmed, confirming, drawing, index, manifest
from lull.results.comparing import PublishedRows
from lull.results.tree import Tree
from lull.rundir.folder import FILES, RunDir
from lull.runspec.spec import RunSpec
from lull.scenario import asked
from lull.scenario.confirm import Compared, Confirm
from lull.scenario.load import load_scenario
from lull.scenario.points import Point
from tests import esm_runs, steady_runs, wakes
from tests.confirmations import CONFIRM, KEYS, NAME, POINTS, TASK_US, Engine, Place, wake_ups


def test_what_is_the_same_today_is_confirmed(place: Place) -> None:
    assert place.age == "older"
    told = place.confirm()
    assert told.exit_code == 0, told.output
    assert f"{NAME}: confirmed, 12 values of 2 points hold" in told.output
    record = place.record()
    assert list(record["points"]) == POINTS
    assert record["pieces"][0]["artifacts"] == KEYS
    assert {(value["rule"], value["held"]) for value in record["values"]} == {("interval", True), ("equal", True)}
    commit = record["pieces"][0]["lull"][0]
    assert place.age == f"confirmed (with commit {manifest.short(commit)})"
    log = (place.path / "out" / NAME / confirming.LOG).read_text()
    assert "2 of 2: exit/C4-50 ran" in log
    assert "wakes: exit/C4-50 big: task_ns: holds: " in log


def test_what_is_not_the_same_today_is_refuted_with_its_numbers(place: Place) -> None:
    place.engine.task_us = TASK_US + 3
    told = place.confirm()
    assert told.exit_code == 1
    assert (
        f"{NAME}: refuted by 6 of 12 values, such as task_ns of exit/C3-50 little (11934.7, published 8934.67 ± "
        in told.output
    )
    assert f"make it again by `./lull run {place.file} -p tiny -e gem5 --cpu detailed`" in told.output
    bad = [value for value in place.record()["values"] if not value["held"]]
    assert {value["column"] for value in bad} == {"task_ns"}
    assert all(abs(value["today"] - value["published"]) > value["apart"] for value in bad)
    assert place.age.startswith("older (refuted with commit ")


@pytest.mark.parametrize(("least", "holds"), [(2000.0, False), (4000.0, True)])
def test_a_difference_that_is_always_allowed(place: Place, least: float, holds: bool) -> None:
    rows = {"table": "wakes", "by": ["point", "cluster"], "because": "it is a test"}
    place.describe({**CONFIRM, "values": [rows | {"within": {"task_ns": 1e-6}, "least": {"task_ns": least}}]})
    place.engine.task_us = TASK_US + 3
    assert (place.confirm().exit_code == 0) is holds


def test_a_point_that_was_finished_is_kept_and_a_changed_kernel_runs_it_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(command: str) -> None:
        if "--state C4" in command:
            raise Interrupted("interrupted")

    place.engine.fails = stop
    with pytest.raises(Interrupted):
        place.confirm()
    assert not (place.folder / confirmed.FILE).exists()
    place.engine.fails = lambda command: None
    assert len(place.engine.ran) == 1
    told = place.confirm()
    assert "exit/C3-50 kept" in told.output
    assert len(place.engine.ran) == 2
    monkeypatch.setitem(KEYS, "kernel", "newer")
    place.tree = Tree(dict(KEYS), "model", version.ledger())
    assert place.age.startswith("older (confirmed before, with commit ")
    assert place.confirm().exit_code == 0
    assert len(place.engine.ran) == 4
    assert place.age.startswith("confirmed (with commit ")


def test_a_point_that_fails_leaves_no_record(place: Place) -> None:
    place.engine.status = 3
    told = place.confirm()
    assert told.exit_code == 1
    assert "2 of 2 points failed or hung, such as exit/C3-50 (the guest's command ended with status 3" in told.output
    assert not (place.folder / confirmed.FILE).exists()
    assert place.age == "older"


def test_a_point_that_hung_is_told_of_and_run_again_only_if_asked(place: Place) -> None:
    def hang(command: str) -> None:
        raise LimitReached("it took too long")

    place.engine.fails = hang
    told = place.confirm()
    assert told.exit_code == 1
    assert "exit/C3-50 (it took too long); nothing was compared, --again runs it again" in told.output
    place.engine.fails = lambda command: None
    assert place.confirm().exit_code == 1
    assert place.engine.ran == []
    assert place.confirm(NAME, "--again").exit_code == 0
    assert len(place.engine.ran) == len(POINTS)


def test_a_result_that_is_published_again_has_no_confirmation(place: Place) -> None:
    place.confirm()
    with (place.folder / "manifest.json").open("a") as stream:
        stream.write("\n")
    assert confirmed.read(place.folder) is None
    assert place.age == "older"
    place.publish()
    assert not (place.folder / confirmed.FILE).exists()


def test_another_ledger_than_that_of_a_confirmation_makes_it_one_of_another_tree(place: Place) -> None:
    place.confirm()
    place.tree = Tree(dict(KEYS), "model", "others")
    assert place.age.startswith("older (confirmed before, ")


def test_other_rules_than_those_of_a_confirmation_ask_for_another_one(place: Place) -> None:
    place.confirm()
    place.describe(_with(within={"exit_ns": 0.5}, because="it is wide"))
    assert place.age.startswith("older (confirmed before, ")


def test_a_result_that_another_code_made_is_older(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay that makes the tables of the runs may be renewed, while all that made the runs stays."""
    analysis = drawing.read(place.folder)[0]
    monkeypatch.setattr(analysis, "code", lambda: {"replay": "old"}, raising=False)
    place.publish()
    about = json.loads((place.folder / "manifest.json").read_text())
    about["pieces"][0]["engine"]["configs"] = "model"
    (place.folder / "manifest.json").write_text(json.dumps(about))
    place.tree = Tree({name: entry["key"] for name, entry in wakes.ARTIFACTS.items()}, "model", version.ledger())
    assert place.age == age.OF_THIS_TREE
    monkeypatch.setattr(analysis, "code", lambda: {"replay": "new"})
    assert place.age == "older"
    place.tree = Tree(dict(KEYS), "model", version.ledger())
    place.confirm()
    assert place.age.startswith("confirmed (with commit ")
    monkeypatch.setattr(analysis, "code", lambda: {"replay": "newest"})
    assert place.age.startswith("older (confirmed before, ")


def test_a_result_that_another_ledger_made_is_older(place: Place) -> None:
    about = json.loads((place.folder / "manifest.json").read_text())
    about["pieces"][0]["engine"]["configs"] = "model"
    (place.folder / "manifest.json").write_text(json.dumps(about))
    keys = {name: entry["key"] for name, entry in wakes.ARTIFACTS.items()}
    place.tree = Tree(keys, "model", version.ledger())
    assert place.age == age.OF_THIS_TREE
    place.tree = Tree(keys, "model", "mended")
    assert place.age == "older"


def test_a_result_of_this_tree_is_not_confirmed_unless_named(place: Place) -> None:
    keys = {name: entry["key"] for name, entry in wakes.ARTIFACTS.items()}
    about = json.loads((place.folder / "manifest.json").read_text())
    about["pieces"][0]["engine"]["configs"] = "model"
    (place.folder / "manifest.json").write_text(json.dumps(about))
    place.tree = Tree(keys, "model", version.ledger())
    assert place.age == age.OF_THIS_TREE
    told = CliRunner().invoke(app, ["confirm", "--out", str(place.path / "out")])
    assert told.exit_code == 0
    assert f"{NAME}: of this tree, nothing to confirm" in told.output
    assert place.engine.ran == []
    about["points"][POINTS[0]]["hash"] = "of another platform"
    (place.folder / "manifest.json").write_text(json.dumps(about))
    assert place.age == "older"


def test_fewer_repetitions_are_compared_with_the_first_of_the_published_ones(place: Place) -> None:
    class Shorter(Engine):
        def run(self, spec: RunSpec, artifacts: object, rundir: RunDir, sink: Sink) -> Outcome:
            outcome = super().run(spec, artifacts, rundir, sink)
            assert "--count 20" in spec.command
            wakes.write(rundir / FILES / wake.FILE, wake_ups("C3", TASK_US, 20))
            return outcome

    place.engine = Shorter()
    place.describe({**CONFIRM, "points": ["exit/C3-50"], "settings": {"count": 20}})
    told = place.confirm()
    assert told.exit_code == 0, told.output
    assert "3000000 in 20 rows, as published" in told.output.replace("\n", " ")


def test_a_row_too_few_is_refuted_where_nothing_was_made_shorter(place: Place) -> None:
    class Shorter(Engine):
        def run(self, spec: RunSpec, artifacts: object, rundir: RunDir, sink: Sink) -> Outcome:
            outcome = super().run(spec, artifacts, rundir, sink)
            found = wake_ups("C3", TASK_US)
            wakes.write(rundir / FILES / wake.FILE, found[found["cpu"] != 2])
            return outcome

    place.engine = Shorter()
    place.describe({**CONFIRM, "points": ["exit/C3-50"]})
    told = place.confirm()
    assert told.exit_code == 1
    assert "- of exit/C3-50 shadow (published, and not there today)" in told.output


def _with(**changes: object) -> dict[str, object]:
    return {**CONFIRM, "values": [{**CONFIRM["values"][0], **changes}]}


@pytest.mark.parametrize(
    ("confirm", "sentence"),
    [
        (None, "scenario.yaml: confirm: missing, so nothing says which points confirm wake-latency; add it"),
        ({**CONFIRM, "points": []}, "confirm.points: the list is empty"),
        ({**CONFIRM, "points": ["exit/C5-1"]}, "confirm.points: exit/C5-1: no such point; `--list` names"),
        ({**CONFIRM, "points": ["states/C1"]}, "confirm: states/C1 is not published; choose another point"),
        ({**CONFIRM, "settings": {"speed": 1}}, "confirm.settings.speed: no parameter `speed`"),
        ({**CONFIRM, "settings": {"count": 0}}, "confirm.settings.count: 0 is too small; give 1 or more"),
        (_with(table="tea"), "results/wake-latency has no table `tea`; use one of dropped, "),
        (_with(by=["colour"]), "results/wake-latency has no column `colour` in its table `wakes`; use one of point, "),
        (_with(equal=["task_ns"]), "confirm.values[0].interval: `task_ns` is there twice; drop one"),
        (_with(within={"exit_ns": 0.1}), "confirm.values[0].because: missing, and `within` needs a reason; add it"),
        (
            _with(least={"exit_ns": 1.0}),
            "confirm.values[0].least: `exit_ns` is not under `within`; drop it or add it there",
        ),
        (_with(within={"exit_ns": 1.5}, because="x"), "confirm.values[0].within.exit_ns: 1.5 is too large"),
        (_with(interval=[], equal=[]), "confirm.values[0].interval: compares no column; name some under `interval`"),
        (_with(by=["point", "cluster", "delay_ns"], interval=["state"], equal=[]), "has no number as `state` of "),
        (
            _with(by=["point", "cluster", "task_ns"], interval=["total_ns"], equal=[]),
            ", so no interval; put `total_ns` under `within`",
        ),
    ],
)
def test_what_cannot_be_compared_is_one_sentence_before_anything_runs(
    place: Place, confirm: Mapping[str, object] | None, sentence: str
) -> None:
    place.describe(confirm)
    told = place.confirm()
    assert isinstance(told.exception, UserError)
    assert sentence in str(told.exception)
    assert "scenario.yaml: " in str(told.exception)
    assert "\n" not in str(told.exception)
    assert told.exception.exit_status == 2
    assert not (place.path / "out").exists()


def test_a_point_that_the_scenario_has_changed_since_is_not_compared(place: Place) -> None:
    about = yaml.safe_load(place.file.read_text())
    about["groups"][1]["parameters"]["count"] = 40
    place.describe(CONFIRM, groups=about["groups"])
    told = place.confirm()
    assert "exit/C3-50 has count=40 today and 100 in its published result; choose another point" in str(told.exception)


def test_an_experiment_without_points_is_told_of_and_the_others_go_on(place: Place) -> None:
    other = place.path / "other" / "scenario.yaml"
    other.parent.mkdir()
    shutil.copytree(place.folder, place.path / "results" / "another")
    manifest = place.path / "results" / "another" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(str(place.file), str(other)))
    shutil.copy(place.file, other)
    place.describe(None)
    told = place.confirm(NAME, "another")
    assert told.exit_code == 0, told.output
    assert "nothing says which points confirm wake-latency; add it" in told.output
    assert "another: confirmed, 12 values of 2 points hold" in told.output


def test_a_result_that_cannot_be_analysed_does_not_stop_the_others(place: Place) -> None:
    class Silent(Engine):
        def run(self, spec: RunSpec, artifacts: object, rundir: RunDir, sink: Sink) -> Outcome:
            outcome = super().run(spec, artifacts, rundir, sink)
            if len(self.ran) <= len(POINTS):
                (rundir / FILES / wake.FILE).unlink()
            return outcome

    place.engine = Silent()
    shutil.copytree(place.folder, place.path / "results" / "zzz")
    told = place.confirm(NAME, "zzz")
    assert told.exit_code == 2
    assert "the guest left no such file" in told.output
    assert "zzz: confirmed, 12 values of 2 points hold" in told.output
    assert not (place.folder / confirmed.FILE).exists()


@pytest.mark.parametrize("name", ["esm-gesture", "esm-idle", "esm-keyboard"])
def test_the_points_of_a_confirmation_are_enough_for_an_analysis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Analyses that compare ways to get input find them among few points."""
    steady_runs.pretend(monkeypatch)
    confirm = load_scenario(name).confirm
    assert confirm is not None

    def make(point: Point) -> esm_runs.Made:
        count = 0 if name == "esm-idle" else 2
        return esm_runs.Made([[50.0 + window] * count for window in (-1, 0, 1)], polls=1)

    runs = esm_runs.runs(tmp_path, name, make, monkeypatch, patterns=confirm.points)
    tables = runs.analysis.analyse(runs).tables
    values = PublishedRows(confirm, tables, [run.name for run in runs.runs], "here", "there").beside(tables)
    assert len(values) == len(confirm.points) * sum(len(compared.columns) for compared in confirm.values)
    assert all(value.held for value in values)


def test_an_unchanged_machine_is_refuted_in_one_of_twenty_cases_at_most() -> None:
    """However many values are compared."""
    generator = np.random.default_rng(7)
    columns = [f"c{number}" for number in range(8)]
    rules = Confirm(points=["p"], values=[Compared(table="t", by=["point"], interval=columns)])

    def drawn() -> dict[str, pa.Table]:
        return {"t": pa.table({"point": ["p"] * 10, **{name: generator.normal(5, 1, 10) for name in columns}})}

    cases = [PublishedRows(rules, drawn(), ["p"], "here", "there").beside(drawn()) for _ in range(400)]
    refuted = sum(not all(value.held for value in case) for case in cases) / len(cases)
    assert 0.01 < refuted < 0.075, "5 % and what 400 cases may be off by"


@pytest.mark.parametrize(
    ("settings", "today", "held"),
    [({}, [3, 3], True), ({}, [3], False), ({"count": 1}, [3], True), ({}, [4, 3], False)],
)
def test_fewer_equal_rows_hold_only_where_fewer_were_asked_for(
    settings: dict[str, Any], today: list[int], held: bool
) -> None:
    rules = Confirm(points=["p"], settings=settings, values=[Compared(table="t", by=["point"], equal=["lost"])])
    published, now = ({"t": pa.table({"point": ["p"] * len(lost), "lost": lost})} for lost in ([3, 3], today))
    (value,) = PublishedRows(rules, published, ["p"], "here", "there").beside(now)
    assert value.held is held


@pytest.mark.parametrize(
    ("settings", "today", "held"),
    [({"count": 2}, [1.0, 1.0], True), ({"count": 2}, [2.0, 2.0], False), ({}, [1.0, 1.0, 2.0, 2.0], True)],
)
def test_a_shorter_run_is_compared_with_as_many_published_rows(
    settings: dict[str, Any], today: list[float], held: bool
) -> None:
    """The published run drifts: its later repetitions are of another mean."""
    compared = Compared(table="t", by=["point"], within={"ns": 0.05}, because="of drift")
    rules = Confirm(points=["p"], settings=settings, values=[compared])
    published, now = ({"t": pa.table({"point": ["p"] * len(ns), "ns": ns})} for ns in ([1.0, 1.0, 2.0, 2.0], today))
    (value,) = PublishedRows(rules, published, ["p"], "here", "there").beside(now)
    assert value.held is held


@pytest.mark.parametrize(
    ("published", "today", "held"),
    [
        ([1.0, None, 2.0], [1.0, None], True),
        ([None, 1.0, 2.0], [None, 1.0], True),
        ([None, None, 2.0], [None, None], True),
        ([None, 1.0, 2.0], [None, None], False),
    ],
)
def test_repetitions_without_a_value_count_in_a_shorter_run(
    published: list[float | None], today: list[float | None], held: bool
) -> None:
    compared = Compared(table="t", by=["point"], equal=["lost"], within={"ns": 0.05}, because="of drift")
    rules = Confirm(points=["p"], settings={"count": 2}, values=[compared])
    before, now = (
        {"t": pa.table({"point": ["p"] * len(ns), "ns": pa.array(ns, pa.float64()), "lost": [*range(len(ns))]})}
        for ns in (published, today)
    )
    lost, ns = PublishedRows(rules, before, ["p"], "here", "there").beside(now)
    assert lost.held
    assert (ns.rule, ns.held) == ("within", held)


def test_a_row_of_a_point_that_does_not_run_again_is_not_missed() -> None:
    """`c` was predicted from `a`, too."""
    compared = Compared(table="t", by=["recorded", "point"], within={"joules": 0.05}, because="one run")
    rules = Confirm(points=["a", "b"], values=[compared])
    rows = [("a", "b", 1.0), ("b", "a", 2.0), ("a", "c", 3.0), ("c", "a", 4.0)]
    published, now = (
        {"t": pa.Table.from_pylist([dict(zip(("recorded", "point", "joules"), row, strict=True)) for row in some])}
        for some in (rows, rows[:2])
    )
    found = PublishedRows(rules, published, ["a", "b"], "here", "there").beside(now)
    assert [(value.cell, value.held) for value in found] == [("a b", True), ("b a", True)]


def test_the_points_are_listed_without_an_engine(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirming, "engine", None)
    told = place.confirm(NAME, "--list")
    assert told.output.splitlines() == [f"{NAME} {point}" for point in POINTS]


def test_without_gem5_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("GEM5", raising=False)
    told = CliRunner().invoke(app, ["confirm", NAME, "--out", str(tmp_path / "out")])
    assert isinstance(told.exception, UserError)
    assert str(told.exception).startswith("gem5: no binary found (looked at --gem5, GEM5 and PATH), and published ")
    assert told.exception.exit_status == 2
    assert list(tmp_path.iterdir()) == []


def test_a_command_says_what_was_asked() -> None:
    command = "./lull run soak -p tiny -e gem5 --cpu atomic --set entries=5 --set 'x=a b' --seed 3 --stats-period 500us"
    found = asked.of_command(command)
    assert (found.name, found.platform, found.cpu, found.seed) == ("soak", "tiny", "atomic", 3)
    assert found.settings == ("entries=5", "x=a b")
    assert asked.wishes_of(found, "gem5", ["events=7"]).settings == ("entries=5", "x=a b", "events=7")
    assert asked.wishes_of(found, "gem5").stats_period_s == 500e-6


def test_a_short_commit_says_that_files_were_changed() -> None:
    assert manifest.short("0123456789abcdef") == "01234567"
    assert manifest.short("0123456789abcdef-dirty") == "01234567-dirty"


def test_the_page_of_results_says_what_was_confirmed_and_what_was_refuted(place: Place) -> None:
    page = place.path / "results" / index.PAGE
    page.write_text(f"before\n{index.BEGIN}{index.END}after\n")
    place.confirm()
    assert "| 12 values hold, with commit " in page.read_text()
    place.engine.task_us = TASK_US + 3
    shutil.rmtree(place.path / "out")
    place.confirm()
    text = page.read_text()
    assert "| **refuted** by 6 of 12 values, with commit " in text
    assert (text.startswith("before\n"), text.endswith("after\n"), text.count("| [")) == (True, True, 1)


def test_names_are_completed() -> None:
    assert complete_result("wake-l") == ["wake-latency"]
    assert {"soak", "soak-atomic"} <= set(complete_result(""))


def test_the_keys_of_the_tree_are_those_that_building_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "get", lambda kind, inputs, build: Entry(kind, cache.key_of(inputs), Path()))
    firmware, kernel, rootfs = store.build_firmware(), store.build_kernel("default"), store.build_rootfs()
    assert store.keys() == {"firmware": firmware.key, "kernel": kernel.key, "rootfs": rootfs.key}


def test_without_the_sources_the_age_is_not_known(empty_cache: Path) -> None:
    told = CliRunner().invoke(app, ["plot", "platform-check", "--out", str(empty_cache)])
    assert told.exit_code == 0, told.output
    assert "age: platform-check: not known here (" in told.output
    assert "; `lull build all` does)" in told.output.replace("\n", " ")


@pytest.mark.parametrize("name", [path.parent.name for path in (paths.ROOT / "results").glob("*/manifest.json")])
def test_every_result_of_the_project_can_be_confirmed(name: str) -> None:
    """What its scenario says fits what is published of it, so that only gem5 is needed."""
    folder = paths.ROOT / "results" / name
    assert confirming.prepare(folder).points
    confirmed.read(folder)
