# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: each way gets every event, and windows are asked for and met."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.rundir.folder import RunDir
from lull.trace import recording, wakes
from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_every_way_gets_every_event(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "wake-ahead", "-e", "qemu", "--set", "windows=1", "--points", "ways/C3-*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    points = {row["way"]: row for row in pq.read_table(tables / "points.parquet").to_pylist()}
    assert set(points) == {"none", "ahead", "qos", "busy"}
    assert {row["events"] for row in points.values()} == {10}
    assert "power_w" not in points["none"], "QEMU's time is no timing"
    assert points["none"]["hits"] == -1
    assert points["ahead"]["hits"] + points["ahead"]["misses"] == 19
    assert points["ahead"]["wakes"] > 0
    rundir = RunDir(tmp_path / "out" / "ways" / "C3-ahead")
    record = recording.load(rundir)
    assert len(record.tables["lull_ahead_wake"]) == points["ahead"]["wakes"]
    woken = wakes.of_recording(record, rundir.spec().platform)
    ahead = [wake.armed_by for wake in woken if wake.source.startswith("ahead:")]
    assert 10 <= len(ahead) <= points["ahead"]["wakes"], "the timer may expire while its CPU is awake for other work"
    assert all(str(owner).startswith("ahead:wake-ahead/") for owner in ahead)
