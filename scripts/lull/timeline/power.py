# SPDX-License-Identifier: BSD-3-Clause
"""Watts by CPU and window, for a run with a ledger (`lull energy RUNDIR`)."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from lull.energy import rows
from lull.rundir.folder import LEDGER, RunDir
from lull.trace.clock import TICK_HZ


def samples(rundir: RunDir) -> Iterator[tuple[int, int, float]]:
    """Yield CPU (NO_CPU for shared parts), start of the window, and watts; nothing without a ledger."""
    path = rundir / LEDGER
    if not path.is_file():
        return
    known = rows.grouped(path, ["backend"], [])["backend"].to_pylist()
    backend = "mcpat" if "mcpat" in known else known[0]
    sums = rows.grouped(path, ["start", "cpu", "end"], ["joules"], backend, rows.CALIBRATED)
    cpus = pc.fill_null(sums["cpu"].cast(pa.int64()), rows.NO_CPU).to_pylist()
    for cpu, start, end, joules in zip(
        cpus, sums["start"].to_pylist(), sums["end"].to_pylist(), sums["joules"].to_pylist(), strict=True
    ):
        yield cpu, start, joules / ((end - start) / TICK_HZ)
