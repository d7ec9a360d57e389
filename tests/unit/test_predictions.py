# SPDX-License-Identifier: BSD-3-Clause
"""How far predictions of loads are off in runs: as the reference says, and from what the trace says of tasks."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lull.figures import predictions, repetitions, throughput
from lull.figures.load_trackers import HALF_LIFE, ONE, TRACKERS, WINDOW
from lull.figures.predictions import Speeds, TaskWork
from lull.files.paths import ROOT
from lull.rundir.folder import RunDir
from lull.rundir.run import Run
from lull.trace import recording, running_tasks
from lull.trace.clock import TICKS_PER_US
from lull.trace.datfile import TraceFile
from lull.trace.running_tasks import LEAVES, RUNS, SLEEPS, WAKING, TaskRuns
from tests.recordings import CLOCK
from tests.recordings import recording as made_recording
from tests.waeas_errors import (
    PROGRAM,
    RECORDINGS,
    SETTLED,
    STARTS_US,
    answers,
    errors,
    periodic,
    upstream,
    work_in,
)  # fmt: skip
from tests.waeas_load import CASES, Draws, Worked, drawn, predicted

TINY = ROOT / "tests" / "unit" / "data" / "trace" / "tiny-gem5"


def work_of(pieces: tuple[Worked, ...]) -> TaskWork:
    start, end, speed, slept = np.array(pieces, np.float64).reshape(-1, 4).T
    return TaskWork(start, end, speed, slept.astype(bool))


def drawn_pieces(seed: int) -> tuple[Worked, ...]:
    """A drawn load whose task did not always sleep after a piece, and at times went on at once at another speed."""
    draws, found, gap = Draws(seed), [], 0
    for piece in drawn(seed).pieces:
        slept = draws.below(3) > 0
        found.append(Worked(piece.start - gap, piece.end - gap, piece.speed, slept))
        if not slept and draws.below(2):
            later = next((other.start for other in drawn(seed).pieces if other.start > piece.start), piece.end)
            gap += later - piece.end
    return (*found[:-1], found[-1]._replace(slept=True))


@pytest.mark.parametrize("seed", range(CASES))
def test_many_wake_ups_at_once_are_answered_as_each_alone(seed: int) -> None:
    pieces, load = drawn_pieces(seed), drawn(seed)
    asked = [at for at in range(len(pieces)) if at == 0 or pieces[at - 1].slept]
    moments = [*((pieces[at].start, at) for at in asked), (load.now, len(pieces))]
    work, at = work_of(pieces), np.array([now for now, _ in moments], np.float64)
    for name, found in predictions.predicted_at(work, at).items():
        expected = [answers(pieces[:count], now)[name] for now, count in moments]
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-6), name
    assert predictions.came(work, at) == pytest.approx([work_in(pieces, now, now + WINDOW) for now, _ in moments])
    own = replace(load, idle_counts=False, pieces=pieces)
    found = predictions.windowed(work, np.array([load.now * 1.0]), load.window, load.alpha)
    assert found == pytest.approx([predicted(own)], rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(("hertz", "at_ms"), [(1, 17), (5, 0), (20, 0), (40, 0), (37, 3)])
def test_periodic_loads_have_the_errors_of_the_reference(hertz: int, at_ms: int) -> None:
    pieces = periodic(10**6 // hertz, 6000, 1000 * at_ms)
    work = work_of(pieces)
    at = work.start[SETTLED:-SETTLED]
    came = predictions.came(work, at)
    off = {name: np.abs(found - came).mean() for name, found in predictions.predicted_at(work, at).items()}
    assert off == pytest.approx(errors(pieces), abs=1e-6)


def test_a_hundred_thousand_wake_ups_are_not_too_many() -> None:
    work = work_of(periodic(WINDOW, 6000, count=100_000))
    found = predictions.predicted_at(work, work.start)
    assert found["walt"][1:] == pytest.approx(0.3 * ONE)
    assert found["util_est"][-1] == pytest.approx(answers(periodic(WINDOW, 6000), 61 * WINDOW)["util_est"])


def test_a_task_that_never_ran_has_no_load() -> None:
    found = predictions.predicted_at(work_of(()), np.array([5.0]))
    assert {name: answer.tolist() for name, answer in found.items()} == {name: [0.0] for name in TRACKERS}
    assert predictions.came(work_of(()), np.array([5.0])).tolist() == [0.0]


def test_pelt_has_the_same_of_a_slow_cpu_once_the_task_has_slept() -> None:
    slow, fast = Worked(0, 8000, ONE // 4), Worked(0, 2000, ONE)
    assert upstream((slow,), 20_000) == upstream((fast,), 20_000)
    assert upstream((Worked(0, 40 * HALF_LIFE, ONE // 4),), 40 * HALF_LIFE).util_est == pytest.approx(ONE, rel=1e-2)
    cut = (Worked(0, 3000, ONE // 4, slept=False), Worked(3000, 8000, ONE // 4))
    assert upstream(cut, 20_000).pelt == pytest.approx(upstream((slow,), 20_000).pelt)


def test_util_est_learns_only_where_the_task_slept() -> None:
    long, short = HALF_LIFE, HALF_LIFE // 32
    pieces = (Worked(0, long, ONE), Worked(9 * long, 9 * long + short, ONE, slept=False))
    then = Worked(9 * long + short, 9 * long + 2 * short, ONE)
    kept = ONE / 2
    once = upstream((*pieces, then), 10 * long).util_est
    twice = upstream((pieces[0], pieces[1]._replace(slept=True), then), 10 * long).util_est
    assert twice < once < kept


def rows(*happened: tuple[int, int]) -> Any:
    return np.array(happened, np.int64).reshape(-1, 2).T


def test_a_wake_up_ends_a_sleep_and_begins_a_run() -> None:
    happened = rows(
        (5, WAKING), (6, RUNS), (10, SLEEPS), (20, WAKING), (25, RUNS), (30, LEAVES), (40, RUNS), (44, WAKING),
        (45, LEAVES), (50, RUNS), (60, SLEEPS), (60, WAKING), (61, RUNS), (70, SLEEPS), (80, WAKING),
    )  # fmt: skip
    start, end = np.array([6, 25, 40, 50, 61]), np.array([10, 30, 45, 60, 70])
    found = running_tasks.task_runs(start, end, np.zeros(5, np.int64), happened)
    assert found.woken.tolist() == [20, 60], "the first sleep is not seen, a task that runs is not woken"
    assert found.slept.tolist() == [True, False, False, True, True]


def test_a_piece_is_cut_where_its_cpu_changes_its_speed() -> None:
    us = TICKS_PER_US
    record = made_recording([[(0, 0, 0)]], ["idle"], 0, 100 * us)
    runs = TaskRuns(
        np.array([10, 30]) * us, np.array([20, 50]) * us, np.array([0, 1]), np.array([True, True]), np.array([], int)
    )
    speeds = {0: Speeds(np.array([15, 18]) * us, np.array([100.0, 200.0])), 1: Speeds(np.array([0]), np.array([300.0]))}
    work = predictions.task_work(runs, speeds, record)
    real = CLOCK.period / TICKS_PER_US * CLOCK.hz / 1e6
    assert work.start * real == pytest.approx([10, 18, 30], abs=1e-3)
    assert work.end * real == pytest.approx([18, 20, 50], abs=1e-3)
    assert work.speed.tolist() == [100, 200, 300]
    assert work.slept.tolist() == [False, True, True]


@pytest.fixture
def tiny(tmp_path: Path) -> RunDir:
    shutil.copytree(TINY, tmp_path / "run")
    return RunDir.open(tmp_path / "run")


def test_speeds_are_capacity_times_frequency_of_the_fastest(tiny: RunDir) -> None:
    platform = tiny.spec().platform
    most = {cluster.name: cluster.opps.table[-1].mhz for cluster in platform.resolved_clusters()}
    found = predictions.speeds(tiny, platform, recording.load(tiny))
    expected = [578 * 850.34 / (1024 * most["big"]), 1100.11 / most["big"], 578 * 699.79 / (1024 * most["big"])]
    assert [found[cpu].speed[0] / ONE for cpu in range(3)] == pytest.approx(expected, rel=1e-5)
    drags = RunDir.open(RECORDINGS / "drags")
    by_events = predictions.speeds(drags, drags.spec().platform, recording.load(drags))
    assert by_events[0].speed[:3] / ONE == pytest.approx([714 / 2116.5, 612 / 2116.5, 816 / 2116.5])


def test_what_ran_is_what_the_spans_say() -> None:
    drags = RunDir.open(RECORDINGS / "drags")
    record, platform = recording.load(drags), drags.spec().platform
    (own,) = running_tasks.runs(TraceFile(drags / "trace.dat"), record, platform, PROGRAM).values()
    assert (own.start < own.end).all()
    assert (own.end[:-1] <= own.start[1:]).all()
    started = own.start > record.begin + STARTS_US * TICKS_PER_US
    assert set(own.cpu[started].tolist()) == {0}
    work = predictions.task_work(own, predictions.speeds(drags, platform, record), record)
    busy = (own.end - own.start).sum() / TICKS_PER_US
    assert (work.end - work.start).sum() == pytest.approx(busy, rel=1e-4)
    after = np.searchsorted(own.start, own.woken)
    assert own.slept[after - 1].all()
    assert np.median(own.start[after] - own.woken) < 200 * TICKS_PER_US


def runs_of(rundir: RunDir, timed: bool = True) -> Any:
    run = Run("sensors/a", "sensors", {"way": "eas"}, rundir.path, rundir.spec(), None)  # type: ignore[arg-type]
    return SimpleNamespace(runs=[run], timed=timed)


def test_a_point_has_a_row_for_each_tracker(monkeypatch: pytest.MonkeyPatch) -> None:
    drags = RunDir.open(RECORDINGS / "drags")
    record = recording.load(drags)
    edges = np.array([record.begin, record.end - TICKS_PER_US, record.end], np.int64)
    windows = repetitions.Windows(edges, 0, [True, False])
    monkeypatch.setattr(repetitions, "windows", lambda *_: windows)
    table = predictions.df_predictions(runs_of(drags), lambda run: {"point": run.name}, PROGRAM)
    assert table is not None
    found = table.to_pylist()
    assert [(row["point"], row["tracker"]) for row in found] == [("sensors/a", name) for name in TRACKERS]
    assert all(row["wakes"] == found[0]["wakes"] > 0 and row["came"] == found[0]["came"] for row in found)
    assert all(abs(row["above"]) <= row["off"] + 1e-12 for row in found)
    section = predictions.text(table)
    row = predictions.cells(found[3])
    assert f"| sensors/a | util_est | {row[1]} | {row[2]} | {row[3]} | {row[4]} |" in section
    assert predictions.df_predictions(runs_of(drags, timed=False), lambda _: {}, PROGRAM) is None
    assert predictions.df_predictions(runs_of(drags), lambda _: {}, "nobody") is None
    monkeypatch.setattr(recording, "load", lambda _: replace(record, lost=1))
    assert predictions.df_predictions(runs_of(drags), lambda _: {}, PROGRAM) is None, "what ran is not known throughout"


def test_a_wake_up_counts_if_the_trace_has_the_time_before_and_after() -> None:
    drags = RunDir.open(RECORDINGS / "drags")
    record = recording.load(drags)
    (own,) = running_tasks.runs(TraceFile(drags / "trace.dat"), record, drags.spec().platform, PROGRAM).values()
    since, left = ((own.woken - record.begin) / TICKS_PER_US, (record.end - own.woken) / TICKS_PER_US)
    count = int(((since >= predictions.HISTORY) & (left >= WINDOW)).sum())
    assert 0 < count < own.woken.size
    assert {row["wakes"] for row in predictions.asked(drags, PROGRAM)} == {count}
    begin, end = record.begin + 500_000 * TICKS_PER_US, record.begin + 900_000 * TICKS_PER_US
    within = int(((since >= 500_000 - WINDOW) & (since <= 900_000 - WINDOW)).sum())
    assert {row["wakes"] for row in predictions.asked(drags, PROGRAM, begin, end)} == {within}
    assert predictions.asked(drags, PROGRAM, record.begin, record.begin + 119_000 * TICKS_PER_US) == []


def test_points_that_were_published_without_have_no_section() -> None:
    assert predictions.text(None) == ""


def test_throughput_has_the_section() -> None:
    rows = [{"point": "a", "way": "eas", "tracker": "walt", "wakes": 3, "came": 0.1, "off": 0.02, "above": -0.01}]
    windows = [{"point": "a", "window": 0, "seconds": 1.0, "messages": 1, "per_s": 1.0}]
    points = [{"point": "a", "way": "eas", "per_s": 1.0, "per_s_pm": 0.1, "drift": 0.0}]
    tables = {"windows": pa.Table.from_pylist(windows), "points": pa.Table.from_pylist(points)}
    found = throughput.conclude({**tables, predictions.NAME: pa.Table.from_pylist(rows)}, ["a"])
    assert "| a | walt | 3 | 10.00 | 2.00 | -1.00 |" in found.summary
    assert predictions.NAME in found.tables
    assert "predictions" not in throughput.conclude(tables, ["a"]).summary
