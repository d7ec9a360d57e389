# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way downloads, and the manager decides."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lull.trace import events
from lull.trace.datfile import TraceFile
from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_every_way_downloads(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "eanem-ftp", "-e", "qemu", "--points", "paper/100000-*", "--points", "today/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    points = {row["point"]: row for row in pq.read_table(tables / "points.parquet").to_pylist()}
    assert {row["way"] for row in points.values()} == {
        "eas", "eanem", "napi", "threaded", "pacing", "rcvbuf", "uclamp",
    }  # fmt: skip
    for row in points.values():
        assert "power_w" not in row, "QEMU's time is no timing"
        if row["way"] in ("eas", "eanem", "pacing"):
            assert 0.9 < row["performance"] <= 1
    decisions = pq.read_table(tables / "decisions.parquet").to_pylist()
    assert decisions[0]["why"] == "traffic began"
    assert (decisions[0]["little"] or 0) + (decisions[0]["big"] or 0) >= 1
    assert decisions[0]["at_us"] < 0, "before the window that counts"
    trace = TraceFile(tmp_path / "out" / "paper" / "100000-eanem" / "trace.dat")
    (packets,) = [range(first, first + cores) for first, cores in _cores(decisions[0]) if cores]
    assert _usual_cpu(trace, b"eanemd") in packets, "the manager is where the packets are"


def _cores(decision: dict[str, Any]) -> list[tuple[int, int]]:
    """The first CPU of each cluster of the platform, and how many cores of it the packets get."""
    return [(0, decision["little"] or 0), (4, decision["big"] or 0)]


def _usual_cpu(trace: TraceFile, name: bytes) -> int:
    """The CPU on which a task of this name began to run most often."""
    begun = {}
    for cpu in trace.cpus:
        batches = list(events.batches(trace, cpu))
        begun[cpu] = sum(
            int((batch.texts("sched_switch", "next_comm", batch.of("sched_switch")) == name).sum())
            for batch in batches
            if batch.of("sched_switch").size
        )
    return max(begun, key=lambda cpu: begun[cpu])
