# SPDX-License-Identifier: BSD-3-Clause
"""Many settings of one run: a point each, and those that no other point beats in both energy and latency."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pyarrow as pa

from lull.host.progress import Progress
from lull.whatif import prediction, settings
from lull.whatif.source import Replay

_ALONE = 64
"""Fewer points than this are not worth a second process."""
_source: Replay | None = None


def table(source: Replay, common: Sequence[str], words: Sequence[str]) -> pa.Table:
    """A row for each point, in the order of the grid."""
    asked = [(*common, *point) for point in settings.grid(words)]
    for point in asked:  # a mistake is told before anything is computed
        source.machine.changed(point)
    with Progress(f"{len(asked)} points of {source.path}"):
        found = numbers(source, asked)
    best = _pareto([(row["energy_j"], row["latency_p99_us"]) for row in found])
    rows = [
        {"run": str(source.path), "settings": " ".join(point), **row, "pareto": is_best}
        for point, row, is_best in zip(asked, found, best, strict=True)
    ]
    return pa.Table.from_pylist(rows)


def together(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables)


def numbers(source: Replay, asked: Sequence[tuple[str, ...]]) -> list[dict[str, float]]:
    """The numbers of each point, on all cores."""
    global _source
    _source = source
    workers = os.cpu_count() or 1
    if len(asked) < _ALONE or workers == 1:
        return [_point(point) for point in asked]
    # A forked process has the run already read.
    with ProcessPoolExecutor(workers, get_context("fork")) as pool:
        return list(pool.map(_point, asked, chunksize=max(1, len(asked) // (8 * workers))))


def _point(point: tuple[str, ...]) -> dict[str, float]:
    assert _source is not None
    return prediction.totals(_source, _source.machine.changed(point))


def _pareto(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Whether no other point is as good in both and better in one."""
    order = sorted(range(len(points)), key=lambda at: points[at])
    best, found = float("inf"), [False] * len(points)
    last: tuple[float, float] | None = None
    for at in order:
        if points[at][1] < best or points[at] == last:
            best, last, found[at] = min(best, points[at][1]), points[at], True
    return found
