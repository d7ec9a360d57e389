# SPDX-License-Identifier: BSD-3-Clause
"""Predictions window by window: loads whose errors are computed by hand, and what a trace says of a run."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lull.figures import predictions, repetitions
from lull.figures.load_trackers import HALF_LIFE, ONE, REMEMBERED, TRACKERS, WINDOW
from lull.figures.predictions import Speeds, TaskWork
from lull.results import judging
from lull.rundir.folder import RunDir
from lull.trace import recording, running_tasks
from lull.trace.clock import TICKS_PER_US
from lull.trace.datfile import TraceFile
from lull.trace.running_tasks import TaskRuns
from lull_experiments.waeas_wearable import analysis, by_window
from tests.recordings import recording as made_recording
from tests.waeas_errors import PROGRAM, RECORDINGS
from tests.waeas_load import Load, Worked, drawn, predicted

MS = 1000
RESULT = RECORDINGS.parent / "waeas-wearable"
Piece = tuple[float, float, float, bool]
"""Start and end in ms, speed of the fastest CPU, and whether the task slept then."""


def left(ms: float) -> float:
    """What PELT keeps of a load after so long."""
    return float(2 ** (-ms * MS / HALF_LIFE))


def work_of(pieces: Sequence[Piece]) -> TaskWork:
    start, end, speed, slept = np.array(pieces, np.float64).reshape(-1, 4).T
    return TaskWork(start * MS, end * MS, speed * ONE, slept.astype(bool))


def in_windows(*work_ms: float) -> TaskWork:
    """So much work in each window, of the fastest CPU, from 4 ms after the start of the window."""
    return work_of([(20 * at + 4, 20 * at + 4 + work, 1, True) for at, work in enumerate(work_ms) if work])


def asked(work: TaskWork, begin: int, end: int, window: float = WINDOW) -> dict[str, dict[str, Any]]:
    """The row of each tracker, of the windows from one number to another."""
    found = by_window.rows({"one": by_window.loads(work, begin * window, end * window, window)})
    return {row["tracker"]: row for row in found if row["process"] == "one"}


def errors(row: dict[str, Any], prefix: str = "") -> list[float]:
    return [row[f"{prefix}{name}"] for name in ("off", "above", "below")]


def test_of_a_constant_load_windows_are_right_and_pelt_depends_on_when_it_is_asked() -> None:
    found = asked(in_windows(*[5] * 60), 40, 60)
    assert {(row["windows"], row["worked"]) for row in found.values()} == {(20, 20)}
    assert found["walt"]["demand"] == pytest.approx(0.25)
    assert errors(found["walt"]) == errors(found["bes"]) == pytest.approx([0, 0, 0])
    # The geometric sum of 5 ms in each 20 ms: at the end of the work, and 11 ms later at the start of the next window.
    highest = (1 - left(5)) / (1 - left(20))
    assert highest == pytest.approx(0.291, abs=1e-3)
    short = 1 - highest * left(11) / 0.25
    assert errors(found["pelt"]) == pytest.approx([short, -short, 1], rel=1e-4)
    much = highest / 0.25 - 1
    assert errors(found["util_est"]) == pytest.approx([much, much, 0], rel=1e-4)


def test_of_a_load_that_alternates_windows_predict_the_last_high_one_or_something_between() -> None:
    found = asked(in_windows(*[8, 2] * 30), 20, 60)
    assert found["walt"]["demand"] == pytest.approx(5 / 20)
    # Before 2 ms both predict the last window's 8 ms. Before 8 ms `walt` predicts the mean of 2, 8, 2, 8, 2, and `bes`
    # begins with the mean of 2 and 8, and goes half of the way to 2, 8, 2, 8 and 2 in turn: 3.5, 5.75, 3.875, 5.9375.
    for name, before_8 in (("walt", 4.4), ("bes", 3.96875)):
        high, low = 8 - 2, 8 - before_8
        assert errors(found[name]) == pytest.approx([(high + low) / 2 / 5, (high - low) / 2 / 5, 0.5]), name
    # At the end of 8 ms, PELT has the sum over pairs of windows. util_est goes up to it, and down by a quarter after 2.
    every = 1 - left(40)
    after_8 = ((1 - left(8)) + (1 - left(2)) * left(26)) / every
    after_2 = ((1 - left(2)) + (1 - left(8)) * left(14)) / every
    pelt = (after_2 * left(14) - 8 / 20, after_8 * left(8) - 2 / 20)
    assert errors(found["pelt"])[1] == pytest.approx(sum(pelt) / 2 / 0.25, rel=1e-3)
    kept = (after_8 - (after_8 - after_2) / 4 - 8 / 20, after_8 - 2 / 20)
    assert errors(found["util_est"])[1] == pytest.approx(sum(kept) / 2 / 0.25, rel=1e-3)


def test_of_a_task_that_sleeps_for_long_windows_and_util_est_remember_and_pelt_forgets() -> None:
    found = asked(in_windows(*[6] * 10, *[0] * 50, 6), 30, 61)
    assert {(row["windows"], row["worked"]) for row in found.values()} == {(31, 1)}
    for name in ("walt", "bes"):
        assert errors(found[name]) == pytest.approx([30 / 31, 30 / 31, 0])
        assert errors(found[name], "worked_") == pytest.approx([0, 0, 0])
    assert errors(found["pelt"], "worked_") == pytest.approx([1, -1, 1], abs=1e-3)
    assert errors(found["pelt"])[1] == pytest.approx(-1 / 31, abs=1e-3), "next to nothing before the others"
    kept = (1 - left(6)) * (1 - left(200)) / (1 - left(20)) / 0.3 - 1
    assert errors(found["util_est"], "worked_") == pytest.approx([kept, kept, 0])
    assert errors(found["util_est"])[1] == pytest.approx((30 * (1 + kept) + kept) / 31)


def guesses(work: TaskWork, window: int) -> tuple[float, dict[str, float]]:
    """The load that came in this window, and what was predicted of it. Shares of the fastest CPU."""
    came, found = by_window.loads(work, window * WINDOW, (window + 1) * WINDOW)
    assert came.shape == (1,)
    return came[0] / ONE, dict(zip(TRACKERS, found[:, 0] / ONE, strict=True))


def traced(spans: Sequence[tuple[float, float, int, bool]], *speeds: Sequence[tuple[float, float]]) -> TaskWork:
    """The work of a task by its runs (start and end in ms, CPU, slept) and by each CPU's speeds (from a ms on)."""
    ticks = MS * TICKS_PER_US
    start, end, cpu, slept = np.array(spans).T
    runs = TaskRuns(
        (start * ticks).astype(np.int64), (end * ticks).astype(np.int64), cpu.astype(np.int64), slept.astype(bool),
        np.array([], np.int64),
    )  # fmt: skip
    own = {
        number: Speeds(*(np.array([at * ticks for at, _ in rows], np.int64), np.array([by * ONE for _, by in rows])))
        for number, rows in enumerate(speeds)
    }
    return predictions.task_work(runs, own, made_recording([[(0, 0, 0)]], ["idle"], 0, 1000 * ticks))


def test_the_clock_changes_in_the_middle_of_a_window() -> None:
    work = traced([(22, 32, 0, True)], [(0, 1.0), (27, 0.5)])
    assert guesses(work, 1)[0] == pytest.approx((5 + 5 / 2) / 20, rel=1e-4)
    came, found = guesses(work, 2)
    assert came == 0
    # PELT's clock passes 7.5 ms in the 10 ms, and makes up for the other 2.5 in the 8 ms of sleep.
    expected = {"walt": 0.375, "bes": 0.375, "pelt": (1 - left(7.5)) * left(10.5), "util_est": 1 - left(7.5)}
    assert found == pytest.approx(expected, rel=1e-4)


def test_a_task_moves_to_a_bigger_cpu() -> None:
    work = traced([(22, 26, 0, False), (26, 32, 1, True)], [(0, 0.5)], [(0, 1.0)])
    assert guesses(work, 1)[0] == pytest.approx((4 / 2 + 6) / 20, rel=1e-4)
    expected = {"walt": 0.4, "bes": 0.4, "pelt": (1 - left(8)) * left(8 + 2), "util_est": 1 - left(8)}
    assert guesses(work, 2)[1] == pytest.approx(expected, rel=1e-4)


def test_a_task_is_at_work_where_a_window_begins() -> None:
    work = work_of([(30, 50, 0.5, True)])
    assert guesses(work, 1)[0] == pytest.approx(0.25)
    came, found = guesses(work, 2)
    assert came == pytest.approx(0.25)
    assert found == pytest.approx({"walt": 0.25, "bes": 0.25, "pelt": 1 - left(5), "util_est": 1 - left(5)})
    assert guesses(work, 3)[1]["util_est"] == pytest.approx(1 - left(10)), "it slept once, at the end"


def test_a_task_waits_for_its_cpu_where_a_window_begins() -> None:
    waits = guesses(work_of([(24, 29, 0.5, False), (45, 46, 0.5, True)]), 2)[1]["pelt"]
    sleeps = guesses(work_of([(24, 29, 0.5, True), (45, 46, 0.5, True)]), 2)[1]["pelt"]
    assert waits == pytest.approx((1 - left(2.5)) * left(11 / 2)), "the clock of a slow CPU that is busy"
    assert sleeps == pytest.approx((1 - left(2.5)) * left(11 + 2.5))


def test_windows_may_have_another_length() -> None:
    found = asked(in_windows(*[5] * 60), 80, 120, WINDOW / 2)
    assert (found["walt"]["windows"], found["walt"]["worked"]) == (40, 20)
    assert found["walt"]["demand"] == pytest.approx(0.5)
    assert errors(found["walt"]) == pytest.approx([0.5, 0.5, 0]), "each second one has no work"
    assert errors(found["walt"], "worked_") == pytest.approx([0, 0, 0])


@pytest.mark.parametrize("seed", range(40))
def test_windows_say_what_the_reference_says_at_the_start_of_each(seed: int) -> None:
    load = replace(drawn(seed), idle_counts=False)
    start, end, speed, slept = np.array(load.pieces, np.float64).T
    work = TaskWork(start, end, speed, slept.astype(bool))
    count = load.now // load.window
    _, found = by_window.loads(work, 0, count * load.window, load.window, load.alpha)
    for number in range(count):
        now = number * load.window
        before = tuple(Worked(one.start, min(one.end, now), one.speed) for one in load.pieces if one.start < now)
        for row, alpha in ((0, 0), (1, load.alpha)):
            expected = predicted(Load(load.window, alpha, False, before, now))
            assert found[row, number] == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_pieces_are_cut_and_are_the_same_work() -> None:
    work = work_of([(30, 50, 0.5, True), (60, 61, 1, False)])
    cut = work.cut(np.array([40.0, 45, 60, 70]) * MS)
    assert (cut.start / MS).tolist() == [30, 40, 45, 60]
    assert (cut.end / MS).tolist() == [40, 45, 50, 61]
    assert cut.slept.tolist() == [False, False, True, False]
    at = np.arange(0, 80.0) * MS
    assert cut.until(at) == pytest.approx(work.until(at))
    assert work_of([]).cut(at).start.size == 0


def test_a_trace_of_a_hundred_thousand_runs_is_not_too_long() -> None:
    found = asked(in_windows(*[5] * 100_000), 10, 100_000)
    assert errors(found["walt"]) == pytest.approx([0, 0, 0], abs=1e-6)


def test_all_processes_are_taken_together_by_their_work() -> None:
    quiet, small, large = (by_window.loads(in_windows(*work), 10 * WINDOW, 12 * WINDOW)
                           for work in ([0] * 12, [2] * 11 + [4], [8] * 12))  # fmt: skip
    found = by_window.rows({"quiet": quiet, "small": small, "large": large})
    walt = {row["process"]: row for row in found if row["tracker"] == "walt"}
    assert list(walt) == [by_window.ALL, "small", "large"], "without work there is nothing that errors relate to"
    assert walt["small"]["off"] == pytest.approx((4 - 2) / 2 / 3)
    assert walt["all"]["windows"] == 6
    assert walt["all"]["worked"] == 4
    assert walt["all"]["demand"] == pytest.approx((2 + 4 + 8 + 8) / 4 / 20)
    assert errors(walt["all"]) == pytest.approx([2 / 6 / 5.5, -2 / 6 / 5.5, 1 / 6])
    assert errors(walt["all"], "worked_") == pytest.approx([2 / 4 / 5.5, -2 / 4 / 5.5, 1 / 4])


def test_a_recorded_run_has_its_work_in_its_windows() -> None:
    drags = RunDir.open(RECORDINGS / "drags")
    record, platform = recording.load(drags), drags.spec().platform
    (runs,) = running_tasks.runs(TraceFile(drags / "trace.dat"), record, platform, PROGRAM).values()
    begin, end = record.begin + 500_000 * TICKS_PER_US, record.begin + 905_000 * TICKS_PER_US
    found = by_window.asked(drags, begin, end, program=PROGRAM, processes=("app",))
    assert [(row["process"], row["tracker"]) for row in found] == [
        (process, tracker) for process in (by_window.ALL, "app") for tracker in TRACKERS
    ]
    work = predictions.task_work(runs, predictions.speeds(drags, platform, record), record)
    first, last = record.clock.nanoseconds(np.array([begin, end], np.int64)) / 1e3
    edges = np.array([-(-first // WINDOW), last // WINDOW]) * WINDOW
    row = found[0]
    assert row["windows"] * WINDOW == edges[1] - edges[0]
    done = np.diff(work.until(edges))[0]
    assert row["demand"] * row["worked"] * WINDOW == pytest.approx(done)
    assert done == pytest.approx(((work.end - work.start) * work.speed / ONE)[(work.start > edges[0])
                                 & (work.end < edges[1])].sum(), rel=0.02)  # fmt: skip


def test_windows_count_if_the_trace_has_those_from_which_they_are_predicted() -> None:
    drags = RunDir.open(RECORDINGS / "drags")
    record = recording.load(drags)
    begin, end = record.begin, record.begin + 600_000 * TICKS_PER_US
    found = by_window.asked(drags, begin, end, program=PROGRAM, processes=("app",))
    assert found[0]["windows"] in (600 // 20 - REMEMBERED - 1, 600 // 20 - REMEMBERED), "edges are the kernel's"


def test_without_a_process_or_with_lost_events_there_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    drags = RunDir.open(RECORDINGS / "drags")
    record = recording.load(drags)
    assert by_window.asked(drags, record.begin, record.end, program=PROGRAM) == []
    monkeypatch.setattr(recording, "load", lambda _: replace(record, lost=1))
    assert by_window.asked(drags, record.begin, record.end, program=PROGRAM, processes=("app",)) == []


def test_processes_are_the_programs_last_children_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    drags = RunDir.open(RECORDINGS / "drags")
    record = recording.load(drags)
    (runs,) = running_tasks.runs(TraceFile(drags / "trace.dat"), record, drags.spec().platform, PROGRAM).values()
    half = runs.end < (record.begin + record.end) // 2
    first = TaskRuns(runs.start[half], runs.end[half], runs.cpu[half], runs.slept[half], runs.woken)
    nothing = TaskRuns(runs.start[:0], runs.end[:0], runs.cpu[:0], runs.slept[:0], runs.woken[:0])
    monkeypatch.setattr(running_tasks, "runs", lambda *_: {73: runs, 71: nothing, 72: first})
    found = by_window.asked(drags, record.begin, record.end, processes=("one", "two"))
    worked = {row["process"]: row["worked"] for row in found}
    assert 0 < worked["one"] < worked["two"] < worked[by_window.ALL] == worked["one"] + worked["two"]


def test_a_point_has_the_rows_of_the_part_of_its_run_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    drags = RunDir.open(RECORDINGS / "drags")
    record = recording.load(drags)
    edges = record.begin + np.array([500_000, 700_000, 905_000], np.int64) * TICKS_PER_US
    monkeypatch.setattr(repetitions, "windows", lambda *_: repetitions.Windows(edges, 0, [True, False]))
    run: Any = SimpleNamespace(name="sensors/a", path=drags.path, rundir=lambda: drags)
    runs: Any = SimpleNamespace(runs=[run], timed=True)

    def asked(rundir: RunDir, begin: int, end: int) -> list[dict[str, Any]]:
        return by_window.asked(rundir, begin, end, program=PROGRAM, processes=("app",))

    made = predictions.df_of(runs, lambda run: {"point": run.name}, asked)
    assert made is not None
    expected = asked(drags, int(edges[0]), int(edges[1]))
    assert made.to_pylist() == [{"point": "sensors/a", **row} for row in expected]
    assert predictions.df_of(SimpleNamespace(runs=[run], timed=False), lambda _: {}, asked) is None  # type: ignore[arg-type]


def table() -> pa.Table:
    found = by_window.rows({"display": by_window.loads(in_windows(*[8, 2] * 30), 20 * WINDOW, 60 * WINDOW)})
    return pa.Table.from_pylist([{"point": "a", **row} for row in found])


def test_the_summary_has_a_line_for_each_point_and_tracker() -> None:
    section = by_window.text(table())
    assert "| a | walt | 40 | 40 | 25.00 | 96 | +24 | 50 | 96 | +24 | 50 |" in section
    assert section.count("| a |") == len(TRACKERS)


def test_results_published_without_the_table_are_read() -> None:
    assert by_window.text(None) == by_window.text(table().slice(0, 0)) == ""
    found = judging.concluded(RESULT)
    assert found is not None
    assert "## How far predictions of loads are off" in found.summary
    stored = {name: found.tables[name] for name in ("samples", "windows", "points")}
    assert "window by window" not in analysis.conclude(stored, []).summary
    again = analysis.conclude({**stored, by_window.NAME: table()}, [])
    assert "window by window" in again.summary
    assert by_window.NAME in again.tables
