# SPDX-License-Identifier: BSD-3-Clause
"""Answers for many settings of one run (the points of a grid), and finds the Pareto points in energy and latency."""

import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

import pyarrow as pa

from lull.errors import UserError
from lull.host.process import die_with_parent
from lull.host.progress import Progress
from lull.whatif import prediction, settings
from lull.whatif.settings import Setup
from lull.whatif.source import Replay

T = TypeVar("T")
Answer = Callable[[Replay, Setup], T]
_ALONE = 64
"""Fewer points than this are computed in one process."""
_CHUNK = 64
"""The most points that a process takes at a time. Progress is reported after each chunk."""
_source: Replay | None = None


def table(source: Replay, common: Sequence[str], words: Sequence[str]) -> pa.Table:
    """Return a row for each point, in the order of the grid."""
    source.machine.check_others(common)
    asked = [(*common, *point) for point in settings.grid(words, common)]
    for point in asked:  # a mistake is reported before anything is computed
        try:
            source.machine.changed(point)
        except UserError as error:
            why = str(error).removeprefix("--set").lstrip(": ")
            raise UserError(f"--grid: {' '.join(point)} is no machine: {why}") from None
    with Progress(f"{len(asked)} points of {source.path}", len(asked)) as progress:
        found = numbers(source, asked, progress)
    best = pareto([(row["energy_j"], row["latency_p99_us"]) for row in found])
    rows = [
        {"run": str(source.path), "settings": " ".join(point), **row, "pareto": is_best}
        for point, row, is_best in zip(asked, found, best, strict=True)
    ]
    return pa.Table.from_pylist(rows)


def together(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables)


def numbers(
    source: Replay, asked: Sequence[tuple[str, ...]], progress: Progress | None = None
) -> list[dict[str, float]]:
    """Return the numbers of each point."""
    return each(source, asked, partial(prediction.point, prediction.ground_of_points(source)), progress)


def each(
    source: Replay, asked: Sequence[tuple[str, ...]], answer: Answer[T], progress: Progress | None = None
) -> list[T]:
    """Return the function's answer for each point, computed on all cores."""
    workers = os.cpu_count() or 1
    found: list[T] = []
    if len(asked) < _ALONE or workers == 1:
        for point in asked:
            found.append(answer(source, source.machine.changed(point)))
            _step(progress)
        return found
    global _source
    _source = source
    try:
        # A forked process need not read the run again.
        with ProcessPoolExecutor(workers, get_context("fork"), die_with_parent, (signal.SIGKILL,)) as pool:
            chunk = max(1, min(_CHUNK, len(asked) // (8 * workers)))
            for one in pool.map(partial(_point, answer), asked, chunksize=chunk):
                found.append(one)
                _step(progress)
    finally:
        _source = None  # free the run's memory before the next run is read
    return found


def _point(answer: Answer[T], point: tuple[str, ...]) -> T:
    assert _source is not None
    return answer(_source, _source.machine.changed(point))


def _step(progress: Progress | None) -> None:
    if progress is not None:
        progress.step()


def pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return for each point whether no other point is at least as good in both numbers and better in one."""
    order = sorted(range(len(points)), key=lambda at: points[at])
    best, found = float("inf"), [False] * len(points)
    last: tuple[float, float] | None = None
    for at in order:
        if points[at][1] < best or points[at] == last:
            best, last, found[at] = min(best, points[at][1]), points[at], True
    return found
