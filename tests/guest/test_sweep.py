# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps on QEMU, and with a program in gem5's place: killed at any moment, they go on with what is missing."""

import csv
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.sweep import table
from tests import fake_gem5
from tests.conftest import Lull
from tests.killing import kill_when

pytestmark = pytest.mark.guest

PATIENCE_S = 60.0

SMALL = ("--scenario", "wake-latency", "--points", "states/C3", "--set", "count=5", "--set", "span_us=200")
ON_QEMU = ("sweep", *SMALL, "-e", "qemu", "-j", "2")
GRID = ("--grid", "cstates.C3.exit_us=10,50", "--grid", "governor=menu,teo")
ON_GEM5 = ("sweep", *SMALL, "-e", "gem5", "--cpu", "atomic", "-j", "2", "--grid", "governor=menu,teo")


def _states(out: Path) -> list[str]:
    """Return the state of each point that was begun."""
    found: list[str] = []
    for path in out.glob(".workflow/state/*.jsonl"):
        last = {line["name"]: line["how"] for line in map(json.loads, path.read_text().splitlines())}
        found += map(str, last.values())
    return found


def _runs(out: Path) -> dict[str, tuple[str, int]]:
    """Return the state of each run, and the inode of its manifest: another one if the run was repeated."""
    found = {}
    for path in out.glob("points/*/manifest.json"):
        found[path.parent.name] = (str(json.loads(path.read_text())["state"]), path.stat().st_ino)
    return found


def _nobody_is_left(out: Path) -> bool:
    """No process that the sweep started knows its folder any more."""
    mine = str(os.getpid())
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.name != mine and str(out).encode() in (process / "cmdline").read_bytes():
                return False
        except OSError:
            continue
    return True


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.05)


def test_a_sweep_from_command_to_table(lull: Lull, tmp_path: Path) -> None:
    ran = lull(*ON_QEMU, *GRID, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert "4 points: 4 ran, 0 were there, 0 failed, 0 hung" in ran.stderr
    rows = pq.read_table(tmp_path / "out" / "table.parquet").to_pylist()
    assert [(row["cstates.C3.exit_us"], row["governor"]) for row in rows] == [
        (10, "menu"), (10, "teo"), (50, "menu"), (50, "teo"),
    ]  # fmt: skip
    for row in rows:
        assert (row["name"], row["platform"], row["engine"], row["seed"]) == ("states/C3", "tiny", "qemu", 1)
        assert row["wake:count"] > 0
        assert row["wake:total_us:p99"] >= row["wake:total_us:p50"] > 0
    with (tmp_path / "out" / "table.csv").open() as file:
        assert [row["point"] for row in csv.DictReader(file)] == [row["point"] for row in rows]
    found = table.read(tmp_path / "out")
    assert (found.missing, found.axes["governor"]) == ((), ["menu", "teo"])
    assert [point.run.spec.policy.governor for point in found.points] == ["menu", "teo"] * 2
    before = _runs(tmp_path / "out")
    grown = lull(*ON_QEMU, "--grid", "cstates.C3.exit_us=50", "--grid", "governor=menu,teo,haltpoll", "--out", "out")
    assert "3 points: 1 ran, 2 were there, 0 failed, 0 hung" in grown.stderr
    after = _runs(tmp_path / "out")
    assert len(after) == 5
    assert before.items() <= after.items()


@pytest.mark.parametrize(("with_children", "batch"), [(True, "1"), (False, "1"), (False, "2")])
def test_after_a_kill_only_what_is_missing_is_run(lull: Lull, tmp_path: Path, with_children: bool, batch: str) -> None:
    """Killed outright when a run has finished and another one is on its way, in a job of its own or in the same."""
    out = tmp_path / "out"

    def midway() -> bool:
        return {"ran", "running"} <= set(_states(out)) and "running" in {state for state, _ in _runs(out).values()}

    kill_when(midway, *ON_QEMU, *GRID, "--batch", batch, "--out", str(out), with_children=with_children)
    _until(lambda: _nobody_is_left(out))
    before = _runs(out)
    finished = {key: run for key, run in before.items() if run[0] == "finished"}
    assert 0 < len(finished) < 4
    ran = lull(*ON_QEMU, *GRID, "--out", str(out))
    assert ran.returncode == 0, ran.stderr
    count = len(finished)
    assert f"4 points: {4 - count} ran, {count} were there, 0 failed, 0 hung" in ran.stderr
    after = _runs(out)
    assert finished.items() <= after.items()
    assert [state for state, _ in after.values()] == ["finished"] * 4
    assert pq.read_table(out / "table.parquet").num_rows == 4


def test_a_point_that_fails_is_in_a_table_and_the_others_go_on(lull: Lull, tmp_path: Path) -> None:
    ran = lull(*ON_QEMU, "--grid", "cpus=0,3-1", "--out", "out")
    assert ran.returncode == 1
    assert "2 points: 1 ran, 0 were there, 1 failed, 0 hung" in ran.stderr
    shown = " ".join(ran.stdout.split())
    assert "states/C3 cpus=3-1 seed=1 failed the guest's command ended with status" in shown
    assert [row["cpus"] for row in pq.read_table(tmp_path / "out" / "table.parquet").to_pylist()] == [0]
    again = lull(*ON_QEMU, "--grid", "cpus=0,3-1", "--out", "out")
    assert "2 points: 0 ran, 1 were there, 1 failed, 0 hung" in again.stderr


class TestWithAProgramInGem5sPlace:
    @pytest.fixture(autouse=True)
    def cache(self, cache_without_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("GEM5", str(fake_gem5.install(tmp_path)))
        return cache_without_checkpoints

    def test_a_machine_boots_once_for_all_its_points(self, lull: Lull, cache: Path) -> None:
        ran = lull(*ON_GEM5, "--grid", "platform=tiny,rk3399", "--grid", "cstates.C3.advertised.exit_us=400,500")
        assert ran.returncode == 0, ran.stderr
        assert "8 points: 8 ran" in ran.stderr
        assert len(list((cache / "checkpoint").iterdir())) == 2

    @pytest.mark.parametrize("with_children", [True, False])
    def test_killed_while_the_checkpoint_is_written(
        self, lull: Lull, tmp_path: Path, cache: Path, with_children: bool
    ) -> None:
        out = tmp_path / "out"
        kill_when(
            lambda: list(cache.glob("checkpoint/.partial-*/cpt/m5.cpt")), *ON_GEM5, "--out", str(out),
            env=fake_gem5.HANGS_IN_CHECKPOINT, with_children=with_children,
        )  # fmt: skip
        ran = lull(*ON_GEM5, "--out", str(out))
        assert ran.returncode == 0, ran.stderr
        assert "2 points: 2 ran, 0 were there" in ran.stderr
        (entry,) = (cache / "checkpoint").iterdir()
        assert (entry / "cpt" / "m5.cpt").read_text() == fake_gem5.WHOLE
        assert list((cache / "work").iterdir()) == []

    def test_runs_that_share_a_job_are_told_one_by_one(self, lull: Lull, tmp_path: Path) -> None:
        grid = ("--grid", "cstates.C3.exit_us=10,50,100")
        listed = lull(*ON_GEM5, *grid, "--batch", "4", "--dry-run", "--out", "out")
        assert listed.returncode == 0, listed.stderr
        assert "6 points: 6 to run" in listed.stderr
        assert ["run", "2"] in [line.split() for line in listed.stdout.splitlines()]
        assert list((tmp_path / "out").glob("points/*")) == []
        ran = lull(*ON_GEM5, *grid, "--batch", "4", "--out", "out")
        assert ran.returncode == 0, ran.stderr
        assert "6 points: 6 ran" in ran.stderr
        logs = [path.read_text() for path in sorted((tmp_path / "out" / "logs").glob("batch-*.log"))]
        assert [log.count(" ran\n") for log in logs] == [4, 2]
        assert pq.read_table(tmp_path / "out" / "table.parquet").num_rows == 6

    def test_killed_while_runs_are_on_their_way(self, lull: Lull, tmp_path: Path) -> None:
        out = tmp_path / "out"
        kill_when(
            lambda: len(list(out.glob("points/*/system.terminal"))) == 2, *ON_GEM5, "--out", str(out),
            env=fake_gem5.HANGS_IN_RUN, with_children=False,
        )  # fmt: skip
        ran = lull(*ON_GEM5, "--out", str(out))
        assert ran.returncode == 0, ran.stderr
        assert "2 points: 2 ran, 0 were there" in ran.stderr

    def test_a_point_that_hung_is_run_again_only_if_asked(self, lull: Lull) -> None:
        for words, said in (((), "0 failed, 2 hung"), ((), "0 ran, 0 were there, 0 failed, 2 hung")):
            ran = lull(*ON_GEM5, *words, "--out", "out", env=fake_gem5.GUEST_HANGS)
            assert ran.returncode == 1
            assert said in ran.stderr
            assert "the guest hung past its limit" in " ".join(ran.stdout.split())
        ran = lull(*ON_GEM5, "--again", "--out", "out")
        assert (ran.returncode, "2 points: 2 ran" in ran.stderr) == (0, True), ran.stderr

    def test_points_whose_machine_does_not_boot_say_why(self, lull: Lull) -> None:
        ran = lull(*ON_GEM5, "--out", "out", env=fake_gem5.FAILS_IN_CHECKPOINT)
        assert ran.returncode == 1
        assert "2 points: 0 ran, 0 were there, 2 failed, 0 hung" in ran.stderr
        assert " ".join(ran.stdout.split()).count("its boot failed: lull: gem5 ended with status 1: no disk") == 2


def test_folders_of_others_are_left_alone(lull: Lull, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("precious")
    ran = lull(*ON_QEMU, "--out", "out")
    assert (ran.returncode, ran.stderr) == (2, "lull: out: not a folder of a sweep; choose another --out\n")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]
