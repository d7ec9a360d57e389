# SPDX-License-Identifier: BSD-3-Clause
"""Watts by CPU and window, of a run that has its energy accounted (`lull energy RUNDIR`)."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lull.energy.rows import NO_CPU
from lull.rundir.folder import LEDGER, RunDir
from lull.trace.clock import TICK_HZ

_KEYS = ("cpu", "start", "end")


def samples(rundir: RunDir) -> Iterator[tuple[int, int, float]]:
    """CPU (NO_CPU for what they share), start of the window, watts; nothing where there is no account."""
    path = rundir / LEDGER
    if not path.is_file():
        return
    names = pq.read_schema(path).names
    choice = [name for name in ("backend", "band") if name in names]
    table = pq.read_table(path, columns=[*_KEYS, "joules", *choice])
    for name in choice:  # the first of several answers to one question
        words = table[name].cast(pa.string())
        table = table.filter(pc.equal(words, _preferred(words)))
    sums = table.group_by(list(_KEYS)).aggregate([("joules", "sum")]).sort_by([("start", "ascending")])
    cpus = pc.fill_null(sums["cpu"].cast(pa.int64()), NO_CPU).to_pylist()
    for cpu, start, end, joules in zip(
        cpus, sums["start"].to_pylist(), sums["end"].to_pylist(), sums["joules_sum"].to_pylist(), strict=True
    ):
        yield cpu, start, joules / ((end - start) / TICK_HZ)


def _preferred(words: pa.ChunkedArray) -> str:
    known = words.unique().to_pylist()
    return next((word for word in ("mcpat", "calibrated") if word in known), known[0])
