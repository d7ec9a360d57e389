# SPDX-License-Identifier: BSD-3-Clause
"""How far predictions of the processes' loads are off in each window of 20 ms, from the trace.

`lull.figures.predictions` asks each tracker at the wake-ups of a task. Here each tracker is asked at the start of each
window. The task may be at work then, or may sleep throughout the window.

- `walt` predicts the mean of the last five windows with work, or the last of them if that is more.
- `bes` predicts the smoothed value of these windows (equations 2 to 5 of the paper), or the last of them if it is more.
- `pelt` predicts that the task works for `util_avg` of the window: its value at the start is the share of the time.
- `util_est` predicts the same with the larger one of `util_avg` and `util_est`. Since Linux 6.8 `util_est` is one
  number. Whenever the task goes to sleep, it rises to `util_avg` at once, or falls by a quarter of the difference.
"""

import math
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lull.figures import predictions
from lull.figures.load_trackers import ONE, REMEMBERED, TRACKERS, WINDOW
from lull.figures.predictions import TaskWork
from lull.plotting.markdown import markdown_table
from lull.rundir.folder import TRACE, RunDir
from lull.trace import recording, running_tasks
from lull.trace.datfile import TraceFile

Floats = NDArray[np.float64]
Row = dict[str, Any]
NAME = "predictions_by_window"
"""The table's."""
PROGRAM = "wearable"
PROCESSES = ("collector", "filter", "display")
"""The program's last children, in the order in which it makes them: with a file they read, sum up and send it."""
ALL = "all"
ROUNDING = 1e-6
"""Of `ONE`: a prediction that is below the load by less is right."""


def loads(
    work: TaskWork, begin: float, end: float, window: float = WINDOW, alpha: float = ONE / 2
) -> tuple[Floats, Floats]:
    """Of the windows between two moments, in µs: the load that came, and a row of each tracker's predictions, of `ONE`.

    The edges of windows are the kernel's: multiples of their length, since Linux started. `alpha` is the weight of the
    newest window, of `ONE`.
    """
    edges = window * np.arange(math.ceil(begin / window), math.floor(end / window) + 1, dtype=np.float64)
    came = np.diff(work.until(edges)) / window * ONE
    guesses = predictions.predicted_at(work.cut(edges), edges[:-1], window, alpha)
    return came, np.stack([guesses[name] for name in TRACKERS])


def asked(
    rundir: RunDir, begin: int, end: int, window: float = WINDOW, program: str = PROGRAM,
    processes: tuple[str, ...] = PROCESSES,
) -> list[Row]:  # fmt: skip
    """Return the rows of a run, of the windows between two ticks of which the trace has the five windows before them.

    No row, if the trace lost events or lacks one of the processes.
    """
    record, platform = recording.load(rundir), rundir.spec().platform
    if record.lost:
        return []
    runs = running_tasks.runs(TraceFile(rundir / TRACE), record, platform, program)
    if len(runs) < len(processes):
        return []
    edges = record.clock.nanoseconds(np.array([record.begin, begin, end], np.int64)) / 1e3
    traced, first, last = edges.tolist()
    first = max(first, traced + REMEMBERED * window)
    speeds = predictions.speeds(rundir, platform, record)
    found = {
        name: loads(predictions.task_work(runs[pid], speeds, record), first, last, window)
        for name, pid in zip(processes, sorted(runs)[-len(processes) :], strict=True)
    }
    return rows(found)


def rows(loads: dict[str, tuple[Floats, Floats]]) -> list[Row]:
    """A row per process and tracker, and a row per tracker for all processes together."""
    together = (
        np.concatenate([came for came, _ in loads.values()]),
        np.concatenate([guesses for _, guesses in loads.values()], axis=1),
    )
    return [
        _row(process, tracker, came, guess)
        for process, (came, guesses) in {ALL: together, **loads}.items()
        if came.any()
        for tracker, guess in zip(TRACKERS, guesses, strict=True)
    ]


def _row(process: str, tracker: str, came: Floats, guess: Floats) -> Row:
    """`demand` is the mean load of the windows with work, of the fastest CPU. `off` and `above` are shares of `demand`.
    `below` is a share of the windows."""
    worked = came > 0
    demand = float(came[worked].mean())
    return {
        "process": process, "tracker": tracker, "windows": int(came.size), "worked": int(worked.sum()),
        "demand": demand / ONE, **_errors("", came, guess, demand),
        **_errors("worked_", came[worked], guess[worked], demand),
    }  # fmt: skip


def _errors(prefix: str, came: Floats, guess: Floats, demand: float) -> Row:
    above = guess - came
    return {
        f"{prefix}off": float(np.abs(above).mean()) / demand,
        f"{prefix}above": float(above.mean()) / demand,
        f"{prefix}below": float((above < -ROUNDING).mean()),
    }


def text(table: pa.Table | None) -> str:
    """The section of the summary. Nothing if the result was published before there was this table."""
    if table is None or not table.num_rows:
        return ""
    headings = (
        "point", "tracker", "windows", "with work", "demand", "off by", "too high by", "too low in",
        "with work: off by", "too high by", "too low in",
    )  # fmt: skip
    lines = [
        (
            row["point"], row["tracker"], row["windows"], row["worked"], f"{100 * row['demand']:.2f}",
            *(
                cell
                for prefix in ("", "worked_")
                for cell in (
                    f"{100 * row[f'{prefix}off']:.0f}", f"{100 * row[f'{prefix}above']:+.0f}",
                    f"{100 * row[f'{prefix}below']:.0f}",
                )
            ),
        )
        for row in table.to_pylist()
        if row["process"] == ALL
    ]  # fmt: skip
    return (
        f"\n\n## How far predictions are off, window by window\n\nTime is cut into windows of {WINDOW // 1000} ms. At "
        "the start of each window, what each tracker predicts of a process's load in this window is compared with the "
        "load that came. `walt` and `bes` predict the work in a window. PELT and util_est predict a share of the time, "
        "which is taken as a share of the window. No tracker predicts whether a process wakes. So a tracker that "
        "remembers a sleeping process predicts too much for windows without work. The last three columns are of the "
        "windows with work.\n\nDemand: the mean load of the windows with work, in percentage points of the fastest "
        "CPU. Off by: the mean of the difference without its sign, in % of the demand. Too high by: the same with its "
        f"sign. Too low in: % of the windows. All processes are taken together. The table `{NAME}` also has each of "
        "them.\n\n" + markdown_table(headings, lines)
    )
