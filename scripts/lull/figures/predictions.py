# SPDX-License-Identifier: BSD-3-Clause
"""Computes the errors of load predictions in recorded runs: what each tracker would have predicted at each wake-up.

All trackers are computed for the same run, whichever of them Linux used. The work of a task is from the trace: the time
in which it ran, times the speed of its CPU. The speed is Linux's capacity of the CPU, times its frequency over the
highest frequency.

A wake-up counts if the 20 ms after it end in the measured part of the run, and if the trace has the 100 ms before it,
from which windows predict. With a fast-forward the trace may be too short for that.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lull.errors import UserError
from lull.figures import repetitions, waiting
from lull.figures.load_trackers import HALF_LIFE, ONE, REMEMBERED, TRACKERS, WINDOW, tracked
from lull.platform.schema import Platform
from lull.plotting.markdown import markdown_table
from lull.rundir.folder import TRACE, RunDir
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.trace import frequency, recording, running_tasks
from lull.trace.datfile import TraceFile
from lull.trace.events import Numbers
from lull.trace.recording import Recording

Floats = NDArray[np.float64]
Row = dict[str, Any]
NAME = "predictions"
"""The name of the table."""
HISTORY = REMEMBERED * WINDOW


@dataclass(frozen=True)
class TaskWork:
    """The pieces of one task's work, ordered by time, without overlap. Times are in µs."""

    start: Floats
    end: Floats
    speed: Floats
    """The speed of the CPU; `ONE` is the fastest."""
    slept: NDArray[np.bool_]
    """True where the task went to sleep at the end of the piece."""

    def until(self, at: Floats) -> Floats:
        """Return the work done until each of these times, in µs of the fastest CPU."""
        edges = np.stack([self.start, self.end], axis=1).reshape(-1)
        done = np.repeat(np.cumsum((self.end - self.start) * self.speed) / ONE, 2)
        done[::2] = np.append(0.0, done[1:-1:2])
        return np.interp(at, edges, done, left=0.0) if edges.size else np.zeros(at.size)

    def cut(self, at: Floats) -> "TaskWork":
        """Return the same work, with pieces cut at these times."""
        piece, _, start, end = _cut(self.start, self.end, np.concatenate([[-np.inf], at, [np.inf]]))
        is_last = np.append(piece[1:] != piece[:-1], np.ones(min(piece.size, 1), bool))
        return TaskWork(start, end, self.speed[piece], self.slept[piece] & is_last)


def came(work: TaskWork, at: Floats, length: float = WINDOW) -> Floats:
    """Return the load in the `length` µs after each of these times, as a part of `ONE`."""
    return (work.until(at + length) - work.until(at)) / length * ONE


def windowed(work: TaskWork, at: Floats, window: float = WINDOW, alpha: float = 0) -> Floats:
    """Return the predictions by windows at these times. `alpha` is 0 for WALT's mean."""
    if not work.start.size:
        return np.zeros(at.size)
    first, last = int(work.start[0] // window), int(work.end[-1] // window) + 1
    piece, number, start, end = _cut(work.start, work.end, window * np.arange(first, last + 1, dtype=np.float64))
    numbers, begins = np.unique(number, return_index=True)
    done = np.add.reduceat((end - start) * work.speed[piece] / ONE, begins)
    current = at // window
    count = np.searchsorted(numbers + first, current)
    so_far = work.until(at) - np.append(0.0, np.cumsum(done))[count]
    # The remembered windows at each time, the oldest first. If there are fewer, the first places are empty.
    places = count[:, None] + np.arange(-REMEMBERED, 0)
    there = places >= 0
    windows = np.where(there, done[np.maximum(places, 0)], 0.0)
    most = np.minimum(count, REMEMBERED)
    expected = windows.sum(axis=1) / np.maximum(most, 1)
    if alpha:
        oldest = there & (np.cumsum(there, axis=1) <= 2)
        expected = (windows * oldest).sum(axis=1) / np.maximum(oldest.sum(axis=1), 1)
        for place in range(REMEMBERED):
            smoothed = alpha / ONE * windows[:, place] + (1 - alpha / ONE) * expected
            expected = np.where(there[:, place], smoothed, expected)
    highest = np.maximum(np.maximum(expected, windows[:, -1]), so_far) / window
    found: Floats = np.where(most > 0, np.minimum(highest, 1), so_far / window) * ONE
    return found


def of_linux(work: TaskWork, at: Floats) -> tuple[Floats, Floats]:
    """Return PELT and util_est at these times. No time may be inside a piece of work."""
    pieces = zip(work.start.tolist(), work.end.tolist(), work.speed.tolist(), work.slept.tolist(), strict=True)
    states = np.array([(0.0, 0.0, 0.0), *tracked(pieces)])
    last = np.searchsorted(work.end, at, side="right")
    util, behind, kept = states[last].T
    since = at - np.append(0.0, work.end)[last]
    # While a task waits for its CPU, PELT's clock stays behind and is as slow as the CPU.
    waited = since * np.append(ONE, work.speed)[last] / ONE
    passed = np.where(np.append(True, work.slept)[last], since + behind, waited)
    pelt = util * 2 ** (-passed / HALF_LIFE)
    return pelt, np.maximum(pelt, kept)


def predicted_at(work: TaskWork, at: Floats, window: float = WINDOW, alpha: float = ONE / 2) -> dict[str, Floats]:
    """Return each tracker's predictions at these times, as parts of `ONE`. No time may be inside a piece of work."""
    found = (windowed(work, at, window), windowed(work, at, window, alpha), *of_linux(work, at))
    return dict(zip(TRACKERS, found, strict=True))


def _cut(start: Floats, end: Floats, edges: Floats) -> tuple[Numbers, Numbers, Floats, Floats]:
    """Cut pieces at edges. Return for each part: its piece, the number of the edge before it, its start and its end.
    The first edge is before all pieces, and the last one after them."""
    first = np.searchsorted(edges, start, side="right") - 1
    parts = np.searchsorted(edges, end, side="left") - first
    piece = np.repeat(np.arange(start.size), parts)
    segment = np.arange(piece.size) - np.repeat(np.cumsum(parts) - parts, parts) + first[piece]
    return piece, segment, np.maximum(start[piece], edges[segment]), np.minimum(end[piece], edges[segment + 1])


@dataclass(frozen=True)
class Speeds:
    """One CPU's speeds, as parts of `ONE`. Each holds from its tick on; the first one also before its tick."""

    tick: Numbers
    speed: Floats


def speeds(rundir: RunDir, platform: Platform, record: Recording) -> dict[int, Speeds]:
    """Return the speeds of the CPUs whose frequency is known."""
    clusters = platform.cpu_ranges()
    strongest = max(cluster.capacity_dmips_mhz.value * cluster.opps.table[-1].mhz for _, cluster in clusters)
    per_mhz = {cpu: ONE * cluster.capacity_dmips_mhz.value / strongest for cpus, cluster in clusters for cpu in cpus}
    found: dict[int, list[tuple[int, float]]] = {}
    for cpu, tick, mhz in frequency.samples(rundir, platform, record):
        found.setdefault(cpu, []).append((tick, mhz * per_mhz[cpu]))
    return {
        cpu: Speeds(np.array([tick for tick, _ in own], np.int64), np.array([speed for _, speed in own]))
        for cpu, own in found.items()
    }


def task_work(runs: running_tasks.TaskRuns, speed_of: dict[int, Speeds], record: Recording) -> TaskWork:
    """Return a task's pieces, each at one speed."""
    parts = []
    for cpu in np.unique(runs.cpu).tolist():
        if cpu not in speed_of:
            raise UserError(f"{record.path}: does not say how fast CPU {cpu} was; trace power, too")
        own, speed = np.flatnonzero(runs.cpu == cpu), speed_of[cpu]
        edges = np.concatenate([[-np.inf], speed.tick[1:], [np.inf]])
        piece, segment, start, end = _cut(runs.start[own].astype(float), runs.end[own].astype(float), edges)
        is_last = np.append(piece[1:] != piece[:-1], True)
        parts.append(np.stack([start, end, speed.speed[segment], runs.slept[own[piece]] & is_last]))
    start, end, speed_now, slept = np.concatenate([np.empty((4, 0)), *parts], axis=1)
    order = np.argsort(start, kind="stable")
    start, end = (record.clock.nanoseconds(ticks[order].astype(np.int64)) / 1e3 for ticks in (start, end))
    return TaskWork(start, end, speed_now[order], slept[order].astype(bool))


def asked(rundir: RunDir, program: str, begin: int | None = None, end: int | None = None) -> list[Row]:
    """Return a row for each tracker: its errors at the wake-ups of this program's tasks.

    The 20 ms after a wake-up must end between the ticks `begin` and `end`; by default, in the traced time. Return no
    row if there is no such wake-up, or if the trace lost events.
    """
    record, platform = recording.load(rundir), rundir.spec().platform
    if record.lost:
        return []
    edges = (record.begin, record.begin if begin is None else begin, record.end if end is None else end)
    traced, first, last = (record.clock.nanoseconds(np.array(edges, np.int64)) / 1e3).tolist()
    speed_of = speeds(rundir, platform, record)
    loads, guesses = [np.empty(0)], [np.empty((len(TRACKERS), 0))]
    for runs in running_tasks.runs(TraceFile(rundir / TRACE), record, platform, program).values():
        work, at = task_work(runs, speed_of, record), record.clock.nanoseconds(runs.woken) / 1e3
        at = at[(at >= max(first - WINDOW, traced + HISTORY)) & (at <= last - WINDOW)]
        loads.append(came(work, at))
        guesses.append(np.stack(list(predicted_at(work, at).values())))
    load, guess = np.concatenate(loads) / ONE, np.concatenate(guesses, axis=1) / ONE
    return [_row(name, load, own) for name, own in zip(TRACKERS, guess, strict=True)] if load.size else []


def _row(tracker: str, load: Floats, guess: Floats) -> Row:
    """Return a tracker's row. Loads and errors are shares of the fastest CPU."""
    return {
        "tracker": tracker, "wakes": int(load.size), "came": float(load.mean()),
        "off": float(np.abs(guess - load).mean()), "above": float((guess - load).mean()),
    }  # fmt: skip


def df_predictions(runs: Runs, place: Callable[[Run], Row], program: str) -> pa.Table | None:
    """Return a row per point and tracker; None if no point was timed and traced without losing events."""
    return df_of(runs, place, lambda rundir, begin, end: asked(rundir, program, begin, end))


def df_of(runs: Runs, place: Callable[[Run], Row], rows: Callable[[RunDir, int, int], list[Row]]) -> pa.Table | None:
    """Return the rows of all timed and traced points; None without rows.

    `rows` makes a run's rows from the ticks of its measured part: its windows, as long as the program kept up its load.
    """
    found = []
    for run in runs.runs:
        if runs.timed and (run.path / TRACE).is_file():
            windows = repetitions.windows(run, waiting.WINDOWS)
            begin, end = int(windows.edges[0]), int(windows.edges[sum(windows.loaded)])
            found += [{**place(run), **row} for row in rows(run.rundir(), begin, end)]
    return pa.Table.from_pylist(found) if found else None


HEADINGS = ("tracker", "wake-ups", "load that came", "off by", "too high by")


def cells(row: Row) -> Sequence[object]:
    """Return a row's cells, in percentage points of the fastest CPU."""
    shares = (f"{100 * row['came']:.2f}", f"{100 * row['off']:.2f}", f"{100 * row['above']:+.2f}")
    return (row["tracker"], row["wakes"], *shares)


def text(table: pa.Table | None) -> str:
    """Return the section of the summary; empty without rows."""
    if table is None or not table.num_rows:
        return ""
    return (
        "\n## How far predictions of loads are off\n\nAt each wake-up of a task of the program, what each tracker "
        f"predicts of the task's load in the next {WINDOW // 1000} ms is compared with the load that came. All are "
        "computed from the trace, whichever of them the point used. In percentage points of the fastest CPU: the "
        "mean of the load that came, of the difference without its sign, and of the difference with its sign.\n\n"
        + markdown_table(("point", *HEADINGS), [(row["point"], *cells(row)) for row in table.to_pylist()])
    )
