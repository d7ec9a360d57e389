# SPDX-License-Identifier: BSD-3-Clause
"""Mean power and clocks in stretches of a run. The guest program ordered dumps of statistics at their edges."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lull.energy import rows, run_ledger
from lull.energy.clocks import MeanClock, means
from lull.energy.run_ledger import Options
from lull.energy.windows import LENGTH_TOLERANCE, lasts, read
from lull.errors import UserError
from lull.rundir import stats
from lull.rundir.folder import LEDGER, STATS_TABLE, RunDir
from lull.rundir.run import Run
from lull.trace import recording
from lull.trace.clock import TICK_HZ, TICKS_PER_US

KEYS = ("start", "end", "cluster", "cpu", "backend", "band")


@dataclass(frozen=True)
class Windows:
    """The windows that a guest program ordered. All times are in ticks."""

    edges: NDArray[np.int64]
    """The times of the dumps, or the ordered times if the engine has no statistics."""
    late: int
    """The delay of the first window against the ordered time."""
    loaded: list[bool]
    """For each window, true if the program kept up its load (`while_ordered`)."""


def windows(run: Run, file: str) -> Windows:
    """Return the windows, at the times of their dumps. All dumps may be later than ordered by the same time: the
    program may be interrupted after it has read the clock."""
    ordered = _ordered(run, file)
    dumped = as_dumped(ordered, _dumps(run.rundir()))
    return Windows(dumped, int(dumped[0] - ordered[0]), while_ordered(dumped, ordered))


def edges(run: Run, file: str) -> NDArray[np.int64]:
    """Return the edges of the windows, in ticks."""
    return windows(run, file).edges


def _ordered(run: Run, file: str) -> NDArray[np.int64]:
    """Return the edges from the program's own lines, which have the time of the order and the lengths of windows."""
    period = recording.load(run.rundir()).clock.period
    with run.understanding(file):
        windows = [
            (int(line["ordered"]) * period + int(line["settle_us"]) * TICKS_PER_US, int(line["window_us"]))
            for line in run.lines(file)
        ]
        begin, length_us = windows[-1]
        return np.array([*(begin for begin, _ in windows), begin + length_us * TICKS_PER_US], np.int64)


def as_dumped(ordered: NDArray[np.int64], dumps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the edges, shifted by the smallest delay with which each is at a dump; not shifted if there is none."""
    tolerance = _tolerance(ordered)
    late = dumps - ordered[0]
    for shift in (0, *late[(late > 0) & (late < ordered[-1] - ordered[0])].tolist()):
        there = ordered + np.int64(shift)
        if all(np.abs(dumps - edge).min(initial=tolerance + 1) <= tolerance for edge in there.tolist()):
            return there
    return ordered


def _tolerance(ordered: NDArray[np.int64]) -> float:
    return LENGTH_TOLERANCE * int(np.diff(ordered).min())


def while_ordered(edges: NDArray[np.int64], ordered: NDArray[np.int64]) -> list[bool]:
    """Return for each window whether the program kept up its load. It does so until the ordered end of the last window.
    A window counts only if it had ended by then."""
    return [bool(edge <= ordered[-1] + _tolerance(ordered)) for edge in edges[1:]]


def _dumps(rundir: RunDir) -> NDArray[np.int64]:
    """Return the ticks of all dumps of statistics, in order; empty without statistics."""
    if not (rundir / STATS_TABLE).is_file():
        return np.array([], np.int64)
    table = stats.TABLE.read(rundir / STATS_TABLE, filters=[("statistic", "=", "finalTick")])
    ends: NDArray[np.int64] = np.sort(table["value"].to_numpy().astype(np.int64))
    return ends


def clocks(run: Run, edges: NDArray[np.int64]) -> dict[str, list[MeanClock]]:
    """Return the mean clocks and voltages of each cluster, by its name, in each stretch between two edges."""
    clusters = run.spec.platform.resolved_clusters()
    found = means(read(run.rundir() / STATS_TABLE), dict(enumerate(clusters)), edges.tolist())
    return {clusters[number].name: own for number, own in found.items()}


def stretch(edges: NDArray[np.int64], start: int, end: int) -> int | None:
    """Return the number of the stretch between two edges that has the middle of a window; None if none has it."""
    index = int(np.searchsorted(edges, (start + end) // 2, side="right")) - 1
    return index if 0 <= index < len(edges) - 1 else None


def watts(
    run: Run, edges: NDArray[np.int64], names: Callable[[Mapping[str, Any]], Iterable[str]]
) -> list[dict[str, float]]:
    """Return the watts of each stretch between two edges, in ticks. `names` returns the sums to which a row is added.

    A stretch gets the windows of statistics whose middle is in it. There may be several, for example if the clock
    changed, and they must fill the stretch. The run's ledger is written again.
    """
    rundir = run.rundir()
    run_ledger.make_ledger(rundir, Options())
    joules: list[dict[str, float]] = [{} for _ in edges[1:]]
    places: dict[tuple[int, int], int] = {}
    for row in rows.grouped(rundir / LEDGER, KEYS, ["joules"]).to_pylist():
        index = stretch(edges, row["start"], row["end"])
        if index is None:
            continue
        places[row["start"], row["end"]] = index
        for name in names(row):
            joules[index][name] = joules[index].get(name, 0.0) + row["joules"]
    found = []
    for index, own in enumerate(joules):
        length = int(edges[index + 1] - edges[index])
        ticks = sum(end - start for (start, end), place in places.items() if place == index)
        if not lasts(ticks, length):
            raise UserError(
                f"{run.path}: repetition {index} takes {length / TICK_HZ:g} s and its windows of statistics "
                f"{ticks / TICK_HZ:g} s, so something else dumped statistics across its edges; run it without "
                "--stats-period"
            )
        found.append({name: value / (ticks / TICK_HZ) for name, value in own.items()})
    return found


def watts_by(run: Run, edges: NDArray[np.int64], columns: tuple[str, ...]) -> dict[tuple[Any, ...], float]:
    """Return the calibrated watts from the first edge to the last, by columns of the ledger, such as its causes. The
    run must have its ledger already."""
    found: dict[tuple[Any, ...], float] = {}
    table = rows.grouped(
        run.rundir() / LEDGER, ("start", "end", *columns), ["joules"], backend="mcpat", band=rows.CALIBRATED
    )
    seconds = int(edges[-1] - edges[0]) / TICK_HZ
    for row in table.to_pylist():
        if edges[0] <= (row["start"] + row["end"]) // 2 < edges[-1]:
            key = tuple(row[name] for name in columns)
            found[key] = found.get(key, 0.0) + row["joules"] / seconds
    return found
