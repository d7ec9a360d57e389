# SPDX-License-Identifier: BSD-3-Clause
"""Time on gem5: a trace's is the simulator's own, and windows of statistics have the length that was asked for."""

import json
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.rundir.folder import RunDir
from lull.trace import recording, spans, wakes
from tests.conftest import Lull

pytestmark = pytest.mark.gem5

TRACE = tuple(word for system in ("sched", "power", "irq", "ipi", "timer") for word in ("--trace", system))


def windows(run: Path) -> list[tuple[int, int]]:
    """Start and end of each window of statistics, in ticks."""
    rows = pq.read_table(
        run / "stats.parquet", filters=[("statistic", "in", ["finalTick", "simTicks"])]
    ).to_pylist()  # fmt: skip
    found: dict[int, dict[str, int]] = {}
    for row in rows:
        found.setdefault(row["window"], {})[row["statistic"]] = int(row["value"])
    return [(item["finalTick"] - item["simTicks"], item["finalTick"]) for _, item in sorted(found.items())]


def test_a_traces_time_is_gem5s(lull: Lull, tmp_path: Path) -> None:
    """Each `lull-m5` ends a window at a tick that gem5 tells; by the trace that program was running then."""
    ran = lull(
        "boot", "-e", "gem5", "--cpu", "timing", *TRACE, "--set", "idle.deepest=C3", "--out", "run",
        "--exec", "lull-m5 dump-reset; sleep 0.005; lull-m5 dump-reset; sleep 0.005; lull-m5 dump-reset",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    rundir = RunDir.open(tmp_path / "run")
    record = recording.load(rundir)
    platform = rundir.spec().platform
    found = spans.of_recording(record, platform)
    ends = [end for _, end in windows(rundir.path)][:3]
    at_work = [next(span for span in found if span.start <= end < span.end and "lull-m5" in span.cause) for end in ends]
    assert len({span.cause for span in at_work}) == 3, "one process each"

    for cpu in range(platform.cpu_count):
        mine = [span for span in found if span.cpu == cpu]
        assert (mine[0].start, mine[-1].end) == (record.begin, record.end)
        assert all(one.end == other.start for one, other in pairwise(mine))
    woken = wakes.of_recording(record, platform)
    assert sum(wake.armed_by is not None and wake.armed_by.startswith("task:sleep/") for wake in woken) >= 2


def test_windows_end_when_asked_and_change_nothing(lull: Lull, tmp_path: Path) -> None:
    command = ("boot", "-e", "gem5", "--cpu", "detailed", "--exec", "sleep 0.003; cat /proc/interrupts")
    outcomes = []
    for run, more in (("plain", ()), ("windows", ("--stats-period", "500us"))):
        ran = lull(*command, *more, "--out", run)
        assert ran.returncode == 0, ran.stderr
        details = json.loads((tmp_path / run / "manifest.json").read_text())["details"]
        outcomes.append([details[key] for key in ("ticks", "start_tick", "instructions")])
    assert outcomes[0] == outcomes[1]
    assert (tmp_path / "plain" / "stdout").read_bytes() == (tmp_path / "windows" / "stdout").read_bytes()
    found = windows(tmp_path / "windows")
    assert all(one[1] == other[0] for one, other in pairwise(found))
    assert {end - start for start, end in found[:-1]} == {500_000_000}
    assert [found[0][0], found[-1][1]] == [outcomes[0][1], outcomes[0][1] + outcomes[0][0]]
