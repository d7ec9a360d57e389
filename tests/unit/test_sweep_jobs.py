# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a sweep: how runs are shared out to them, that none ends another, and that thousands cost no more each."""

import dataclasses
import json
from pathlib import Path

import pytest

from lull.engines.base import Artifacts, Outcome, Sink
from lull.errors import UserError
from lull.figures.sample import Sample
from lull.rundir.folder import RunDir
from lull.runspec.spec import RunSpec
from lull.scenario.folder import attempt, identity
from lull.scenario.load import load_scenario
from lull.sweep import job as jobs
from lull.sweep import rows, table, workflow
from lull.sweep.asked import SweepAsked
from lull.sweep.expand import Planned, expand, keyed
from lull.sweep.folder import SweepFolder
from lull.sweep.job import RUNNING, Job, Means
from lull.sweep.snakemake import How
from lull.sweep.tally import Tally
from tests.unit.test_sweep import FakeEngine


def planned(count: int) -> list[Planned]:
    asked = SweepAsked(
        scenario="wake-latency",
        points=["states/C3"],
        cpu="atomic",
        grid={"cstates.C3.exit_us": list(range(1, count + 1))},
    )
    return keyed(expand(asked, load_scenario("wake-latency"), "gem5", lambda key: key).planned, "made")


@pytest.fixture
def engine(tmp_path: Path) -> FakeEngine:
    return FakeEngine(tmp_path / "cache", tmp_path / "log")


@pytest.fixture
def means(engine: FakeEngine) -> Means:
    artifacts = engine.artifacts("default")
    made_of = identity(engine.describe(), artifacts.manifest())
    return Means(engine="qemu", gem5=None, artifacts=artifacts, made_of=made_of)


@pytest.fixture
def folder(tmp_path: Path) -> SweepFolder:
    return SweepFolder.create(tmp_path / "out", "mine")


def _job(path: Path, means: Means, points: list[Planned], engine: FakeEngine) -> Job:
    jobs.write(path, means, [(point.entry.key, point.packed.json) for point in points])
    job = Job(path)
    vars(job)["engine"] = engine  # in place of the one that is installed
    return job


@pytest.mark.parametrize(
    ("how", "missing", "size"),
    [
        (How(jobs=2), 1, 1),
        (How(jobs=2), 500, 1),
        (How(jobs=2), 501, 3),
        (How(jobs=2), 1000, 5),
        (How(jobs=2), 10_000, 50),
        (How("slurm", jobs=1000), 10_000, 10),
        (How("slurm", jobs=1000), 900, 1),
        (How(jobs=2, batch=7), 10, 7),
    ],
)
def test_a_job_has_one_run_unless_there_are_thousands_and_every_lane_has_a_job(
    how: How, missing: int, size: int
) -> None:
    assert how.batch_of(missing) == size


def test_only_runs_that_wait_for_the_same_boot_share_a_job(
    engine: FakeEngine, means: Means, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = planned(7)
    monkeypatch.setattr(workflow, "_missing_boot", lambda _engine, _means, point: point.machine)
    assert len({point.machine for point in points}) == 1  # they differ in what no device tree says
    others = [dataclasses.replace(point, machine="another") for point in points[:3]]
    found = workflow.batched([*others, *points[3:]], engine, means, 2)
    assert [(batch.boot == "another", len(batch.points)) for batch in found] == [
        (True, 2), (True, 1), (False, 2), (False, 2),
    ]  # fmt: skip
    single = found[1]
    assert (single.name, single.minutes) == (single.points[0].entry.key, None)
    limits = sum(point.spec.limits.wall_s + workflow.BEYOND_S for point in found[0].points)
    assert (found[0].name, found[0].minutes) == ("batch-0001", limits / 60)


def test_a_boot_is_looked_for_once_for_all_that_boot_alike(
    folder: SweepFolder, engine: FakeEngine, means: Means, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Planned] = []
    monkeypatch.setattr(workflow, "_missing_boot", lambda _engine, _means, point: asked.append(point))
    batches = workflow.lay_out(folder, planned(30), engine, means, How(batch=10))
    assert (len(asked), len(batches)) == (1, 3)
    place = folder.path / workflow.FOLDER
    assert sorted(path.name for path in (place / "jobs").iterdir()) == [f"batch-000{n}.jsonl" for n in (1, 2, 3)]
    plan = json.loads((place / "plan.json").read_text())
    assert plan["minutes"].keys() == plan["jobs"].keys()


def test_a_spec_that_is_kept_is_the_spec_and_small(engine: FakeEngine) -> None:
    points = planned(20)
    for number, point in enumerate(points, start=1):
        assert point.spec.hash() == point.entry.hash
        exits = {state.actual.exit_us for state in point.spec.platform.clusters[0].cstates if state.name == "C3"}
        assert exits == {number}
        assert len(point.packed.data) < len(point.packed.json) / 20


class Faulty(FakeEngine):
    """Fails as told, by seed of the order in which it runs."""

    faults: dict[int, Exception]

    def run(self, spec: RunSpec, artifacts: Artifacts, rundir: RunDir, sink: Sink) -> Outcome:
        outcome = super().run(spec, artifacts, rundir, sink)
        if fault := self.faults.get(len(self.ran())):
            raise fault
        return outcome


def test_no_run_of_a_job_ends_another(tmp_path: Path, folder: SweepFolder, means: Means) -> None:
    engine = Faulty(tmp_path / "cache", tmp_path / "log")
    engine.faults = {2: UserError("the engine broke; mend it"), 3: RuntimeError("ours")}
    points, state = planned(4), tmp_path / "state.jsonl"
    done = list(jobs.run(_job(tmp_path / "job.jsonl", means, points, engine), folder, state))
    assert [(item.name, item.how, item.note) for item in done] == [
        (points[0].entry.key, "ran", ""),
        (points[1].entry.key, "failed", "the engine broke; mend it"),
        (points[2].entry.key, "failed", "RuntimeError: ours"),
        (points[3].entry.key, "ran", ""),
    ]
    told = [(line["name"], line["how"]) for line in map(json.loads, state.read_text().splitlines())]
    assert told == [
        (point.entry.key, how) for point, item in zip(points, done, strict=True) for how in (RUNNING, item.how)
    ]
    engine.faults = {}
    again = list(jobs.run(_job(tmp_path / "job.jsonl", means, points, engine), folder, state))
    assert [item.how for item in again] == ["kept", "ran", "ran", "kept"]


def test_a_job_is_not_done_by_another_engine(tmp_path: Path, folder: SweepFolder, means: Means) -> None:
    jobs.write(tmp_path / "job.jsonl", means, [(point.entry.key, point.packed.json) for point in planned(2)])
    done = list(jobs.run(Job(tmp_path / "job.jsonl"), folder, tmp_path / "state"))
    assert [item.how for item in done] == ["failed", "failed"]
    assert "qemu" in done[0].note


def test_what_is_no_job_is_named(tmp_path: Path) -> None:
    (tmp_path / "job.jsonl").write_text("{}\n")
    with pytest.raises(UserError, match=r"job\.jsonl: not a job of a sweep \(ValidationError\); use `lull sweep`"):
        Job(tmp_path / "job.jsonl")


def test_who_looks_on_opens_a_file_for_each_job_that_has_news(
    tmp_path: Path, folder: SweepFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not one for each point at each look."""
    points, state = planned(40), tmp_path / "state"
    state.mkdir()
    tally = Tally(folder, state, [point.entry for point in points])
    opened: list[Path] = []
    real = Path.open

    def counted(path: Path, *words: object, **options: object) -> object:
        opened.append(path)
        return real(path, *words, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", counted)
    tally.look(0.0)
    assert opened == []
    lines = [json.dumps({"name": point.entry.key, "how": "ran"}) + "\n" for point in points]
    (state / "a.jsonl").write_text("".join(lines[:20]))
    (state / "b.jsonl").write_text("".join(lines[20:30]) + lines[30][:9])
    opened.clear()
    tally.look(1.0)
    assert (len(opened), tally.ended) == (2, 30)  # half a line is not read as one
    with real(state / "b.jsonl", "a") as file:
        file.write(lines[30][9:])
    opened.clear()
    tally.look(2.0)
    assert (len(opened), tally.ended) == (1, 31)


def test_a_row_of_the_table_is_made_once_for_a_run_as_it_is(
    folder: SweepFolder, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = planned(6)
    about = {"name": "mine", "scenario": "wake-latency", "title": "", "command": "", "engine": "gem5", "grid": {}}
    folder.record({**about, "seeds": 1}, [point.entry for point in points])
    for point in points:
        attempt(folder.run_of(point.entry.key), point.entry.key, point.spec, engine)
    made: list[str] = []
    real = table._results

    def counted(point: Sample) -> rows.Row:
        made.append(point.run.path.name)
        return real(point)

    monkeypatch.setattr(table, "_results", counted)
    first = table.kept(table.read(folder.path))
    assert (len(made), table.kept(table.read(folder.path)), len(made)) == (6, first, 6)
    (folder.run_of(points[2].entry.key) / "stdout").write_text('{"x": 3}\n')
    changed = table.kept(table.read(folder.path))
    assert (made[6:], changed[2]["stdout:x"]) == ([points[2].entry.key], 3)
    assert changed == table.flat(table.read(folder.path).points)
    made.clear()
    for broken in ("{", "[]", '{"sources": 1, "rows": {}}'):
        (folder.path / rows.KEPT).write_text(broken)
        assert table.kept(table.read(folder.path)) == changed
    assert len(made) == 3 * 6
