# SPDX-License-Identifier: BSD-3-Clause
"""Running the points of a scenario: going on after a kill, failing, and never throwing away what is done."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lull.artifacts.cache import Entry
from lull.engines.base import Artifacts, Outcome, Sink
from lull.engines.execute import execute
from lull.errors import LimitReached, UserError
from lull.files import json_file, locks
from lull.files.paths import ROOT
from lull.rundir.folder import RunDir
from lull.runspec.spec import EngineName, Flavour, RunSpec
from lull.scenario.folder import RECORD, ScenarioFolder, refuse_others, run_points
from lull.scenario.load import load_scenario
from lull.scenario.points import Point, Wishes, resolve, select


class FakeEngine:
    """Runs in no time, counts what it ran, and does what the test says."""

    name: EngineName = "qemu"

    def __init__(self, cache: Path, log: Path, kernel: str = "k1") -> None:
        self.log = log
        self.statuses: dict[str, int] = {}
        self.error = self.hang = self.limit = ""
        self.leaves: dict[str, bytes] = {}
        entries = []
        for kind, key in (("kernel", kernel), ("rootfs", "r1")):
            folder = cache / kind / key
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "entry.json").write_text(json.dumps({"kind": kind, "inputs": {}, "files": {}}))
            entries.append(Entry(kind, key, folder))
        self._artifacts = Artifacts(entries[0], entries[1], None)

    def describe(self) -> dict[str, object]:
        return {"name": "qemu", "version": "1", "path": "/x"}

    def artifacts(self, flavour: Flavour) -> Artifacts:
        return self._artifacts

    def run(self, spec: RunSpec, artifacts: Artifacts, rundir: RunDir, sink: Sink) -> Outcome:
        name = "/".join(rundir.path.parts[-2:])
        with self.log.open("a") as log:
            log.write(f"{name}\n")
        (rundir / "stdout").write_text("first\nlast words\n")
        if name == self.hang:
            time.sleep(600)
        for file, data in self.leaves.items():
            (rundir / file).write_bytes(data)
        if name == self.error:
            raise UserError("the engine broke; mend it")
        if name == self.limit:
            raise LimitReached("the guest hung; look why")
        return Outcome(self.statuses.get(name, 0), 0.5, 0.1, None, {})

    def ran(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []


NAMES = [f"residency/{state}" for state in ("C1", "C2", "C3", "C4")]


def _points(*settings: str) -> list[Point]:
    return select(resolve(load_scenario("platform-check"), Wishes("qemu", settings=settings)), ["residency/*"])


def _sweep(tmp_path: Path, points: list[Point]) -> ScenarioFolder:
    return ScenarioFolder.create(tmp_path / "out", "platform-check", "./lull run platform-check", points)


@pytest.fixture
def engine(tmp_path: Path) -> FakeEngine:
    return FakeEngine(tmp_path / "cache", tmp_path / "log")


def test_finished_points_are_kept(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()
    said: list[str] = []
    first = run_points(_sweep(tmp_path, points), points, engine, again=False, say=said.append)
    assert [(done.name, done.how) for done in first] == [(name, "ran") for name in NAMES]
    assert re.fullmatch(r"1 of 4: residency/C1 ran; about \d+:\d\d left", said[0])
    assert said[-1] == "4 of 4: residency/C4 ran"
    second = run_points(_sweep(tmp_path, points), points, engine, again=False, say=said.append)
    assert [done.how for done in second] == ["kept"] * 4
    assert [done.simulated_s for done in second] == [0.5] * 4
    assert engine.ran() == NAMES


def test_again_runs_them_all(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()
    for again in (False, True):
        run_points(_sweep(tmp_path, points), points, engine, again, say=lambda _: None)
    assert engine.ran() == NAMES * 2


def test_after_a_kill_only_the_rest_is_run(tmp_path: Path, engine: FakeEngine) -> None:
    """A process of its own, killed outright in its third point."""
    program = (
        "import pathlib, sys, tests.unit.test_sweep as ours\n"
        "top = pathlib.Path(sys.argv[1])\n"
        "engine = ours.FakeEngine(top / 'cache', top / 'log')\n"
        "engine.hang = ours.NAMES[2]\n"
        "points = ours._points()\n"
        "ours.run_points(ours._sweep(top, points), points, engine, again=False)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL)
    while engine.ran() != NAMES[:3] and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert RunDir.open(tmp_path / "out" / NAMES[2]).read_json("manifest.json")["state"] == "running"
    points = _points()
    done = run_points(_sweep(tmp_path, points), points, engine, again=False, say=lambda _: None)
    assert [result.how for result in done] == ["kept", "kept", "ran", "ran"]
    assert engine.ran() == [*NAMES[:3], *NAMES[2:]]


def test_two_commands_share_the_points(tmp_path: Path, engine: FakeEngine) -> None:
    """The other one is busy with the first point, and ends when this one has nothing else to do."""
    points = _points()
    sweep = _sweep(tmp_path, points)
    said: list[str] = []
    with contextlib.ExitStack() as other:
        other.enter_context(locks.exclusive(sweep.lock(NAMES[0])))

        def say(text: str) -> None:
            said.append(text)
            if "waiting" in text:
                execute(points[0].spec, engine, sweep.folder(NAMES[0]), lambda _: None)
                other.close()

        done = run_points(sweep, points, engine, again=False, say=say)
    assert [(result.name, result.how) for result in done] == [
        (NAMES[0], "kept"), *((name, "ran") for name in NAMES[1:])
    ]  # fmt: skip
    assert engine.ran() == [*NAMES[1:], NAMES[0]]
    assert said[-2:] == [f"{NAMES[0]}: another command is running it, waiting", f"4 of 4: {NAMES[0]} kept"]


def test_who_is_killed_while_an_old_run_is_removed_goes_on(
    tmp_path: Path, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each of its files. A run that lost a file is not taken for a finished one."""
    points = _points()[:1]
    sweep = _sweep(tmp_path, points)
    run_points(sweep, points, engine, again=False, say=lambda _: None)
    unlink, removed = os.unlink, 0

    def killed(*place: Any, **more: Any) -> None:
        nonlocal removed
        if removed == most:
            raise KeyboardInterrupt
        removed += 1
        unlink(*place, **more)

    for most in range(len(list(sweep.folder(NAMES[0]).iterdir()))):
        removed = 0
        with monkeypatch.context() as patch:
            patch.setattr(os, "unlink", killed)
            with pytest.raises(KeyboardInterrupt):
                run_points(sweep, points, engine, again=True, say=lambda _: None)
        done = run_points(sweep, points, engine, again=False, say=lambda _: None)
        assert [result.how for result in done] == ["ran" if most else "kept"]


def test_a_run_on_another_disk_is_run_again_there(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()[:1]
    sweep = _sweep(tmp_path, points)
    place = sweep.folder(NAMES[0])
    run_points(sweep, points, engine, again=False, say=lambda _: None)
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    done = run_points(sweep, points, engine, again=True, say=lambda _: None)
    assert ([result.how for result in done], place.is_symlink()) == (["ran"], True)


def test_a_point_that_fails_is_reported_and_the_others_go_on(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()
    engine.statuses[NAMES[1]] = 3
    engine.error = NAMES[2]
    done = run_points(_sweep(tmp_path, points), points, engine, again=False, say=lambda _: None)
    assert [result.how for result in done] == ["ran", "failed", "failed", "ran"]
    assert done[1].note == "the guest's command ended with status 3 (last words)"
    assert done[2].note == "the engine broke; mend it"
    engine.statuses.clear()
    engine.error = ""
    done = run_points(_sweep(tmp_path, points), points, engine, again=False, say=lambda _: None)
    assert [result.how for result in done] == ["kept", "ran", "ran", "kept"]


def test_a_point_that_hung_is_kept_as_such(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()
    engine.limit = NAMES[1]
    expected = ["ran", "hung", "ran", "ran"]
    for how in (expected, ["kept", "hung", "kept", "kept"]):
        done = run_points(_sweep(tmp_path, points), points, engine, again=False, say=lambda _: None)
        assert [result.how for result in done] == how
        assert done[1].note == "the guest hung; look why"
    assert engine.ran() == NAMES
    manifest = RunDir.open(tmp_path / "out" / NAMES[1]).read_json("manifest.json")
    assert (manifest["state"], manifest["error"]) == ("hung", "the guest hung; look why")
    engine.limit = ""
    done = run_points(_sweep(tmp_path, points), points[1:2], engine, again=True, say=lambda _: None)
    assert [result.how for result in done] == ["ran"]


def test_a_point_that_hung_with_another_kernel_or_other_settings_is_run(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()[:1]
    engine.limit = NAMES[0]
    run_points(_sweep(tmp_path, points), points, engine, again=False, say=lambda _: None)
    engine.limit = ""
    others = _points("count=2")[:1]
    assert [done.how for done in run_points(_sweep(tmp_path, others), others, engine, again=False)] == ["ran"]
    engine.limit = NAMES[0]
    run_points(_sweep(tmp_path, points), points, engine, again=True, say=lambda _: None)
    newer = FakeEngine(tmp_path / "cache", tmp_path / "log", kernel="k2")
    assert [done.how for done in run_points(_sweep(tmp_path, points), points, newer, again=False)] == ["ran"]


def test_finished_points_of_other_settings_are_not_thrown_away(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()
    run_points(_sweep(tmp_path, points), points, engine, again=False, say=lambda _: None)
    others = _points("count=2")
    before = ScenarioFolder.open(tmp_path / "out").read()
    with pytest.raises(UserError, match=r"residency/C1: this point is finished, with other settings; choose another"):
        refuse_others(tmp_path / "out", others, engine)
    assert engine.ran() == NAMES
    assert ScenarioFolder.open(tmp_path / "out").read() == before


def test_finished_points_of_another_kernel_are_not_taken_for_this_ones(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()
    run_points(_sweep(tmp_path, points), points, engine, again=False, say=lambda _: None)
    newer = FakeEngine(tmp_path / "cache", tmp_path / "log", kernel="k2")
    with pytest.raises(UserError, match="is finished, with another engine, kernel, image or firmware"):
        refuse_others(tmp_path / "out", points, newer)


def test_what_is_renewed_is_what_another_kernel_made(tmp_path: Path, engine: FakeEngine) -> None:
    """Also when the first try to renew it is killed."""
    points = _points()
    run_points(_sweep(tmp_path, points), points, engine, again=False, say=lambda _: None)
    newer = FakeEngine(tmp_path / "cache", tmp_path / "log2", kernel="k2")
    for asked, ran in ((points[:1], 1), (points, 3)):
        done = run_points(_sweep(tmp_path, points), asked, newer, again=False, say=lambda _: None, renew=True)
        assert [item.how for item in done].count("ran") == ran
    assert newer.ran() == NAMES


def test_folders_of_others_are_left_alone(tmp_path: Path, engine: FakeEngine) -> None:
    points = _points()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("precious")
    with pytest.raises(UserError, match="out: not a folder of a scenario's runs; choose another --out"):
        _sweep(tmp_path, points)
    (tmp_path / "out" / "mine").unlink()
    sweep = _sweep(tmp_path, points)
    with pytest.raises(UserError, match="has the runs of platform-check; choose another --out"):
        ScenarioFolder.create(tmp_path / "out", "wake-latency", "x", points)
    mine = sweep.folder(NAMES[0])
    mine.mkdir(parents=True)
    (mine / "note").write_text("precious")
    with pytest.raises(UserError, match="not a run's folder; move it away, or choose another --out"):
        run_points(sweep, points, engine, again=False)
    assert (mine / "note").read_text() == "precious"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scenario": None}, "`scenario`: Input should be a valid string"),
        ({"points": []}, "`points`: List should have at least 1 item"),
        ({"points": 1}, "`points`: Input should be a valid array"),
        ({"points": [{"name": "x"}]}, r"`points\[0\]\.group`: Field required"),
    ],
)
def test_a_record_of_another_version_is_named(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    sweep = _sweep(tmp_path, _points())
    json_file.write(sweep.path / RECORD, {**sweep.read(), **changed})
    with pytest.raises(UserError, match=rf"scenario\.json: {said}.*; run it again with another --out"):
        sweep.read()


def test_a_run_whose_statistics_cannot_be_read_has_failed_and_says_so(tmp_path: Path, engine: FakeEngine) -> None:
    engine.leaves["stats.txt"] = b"no statistics\n"
    folder = tmp_path / "run"
    with pytest.raises(UserError, match=r"stats\.txt:1: not a line of gem5's statistics"):
        execute(_points()[0].spec, engine, folder, lambda _: None)
    manifest = RunDir.open(folder).read_json("manifest.json")
    assert manifest["state"] == "failed"
    assert "not a line of gem5's statistics" in str(manifest["error"])
    assert not (folder / "stats.parquet").exists()


def test_the_engines_error_is_told_before_that_of_half_an_archive(tmp_path: Path, engine: FakeEngine) -> None:
    engine.leaves["files.tar"] = b"cut off" * 200
    folder = tmp_path / "residency" / "C1"
    engine.error = "residency/C1"
    with pytest.raises(UserError, match="the engine broke"):
        execute(_points()[0].spec, engine, folder, lambda _: None)
    assert RunDir.open(folder).read_json("manifest.json")["error"] == "the engine broke; mend it"
