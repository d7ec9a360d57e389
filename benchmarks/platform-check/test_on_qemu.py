# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: from the command to the figures, and nothing of it is timing."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_platform_check_from_command_to_figures(lull: Lull, tmp_path: Path) -> None:
    small = ["count=2", "sleep_ms=50", "loops=1", "events=5", "tasks=2"]
    words = [word for setting in small for word in ("--set", setting)]
    ran = lull("run", "platform-check", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "residency.parquet").to_pylist()
    assert {(row["asked"], row["cpu"]) for row in rows} == {(f"C{n}", cpu) for n in (1, 2, 3, 4) for cpu in (0, 1, 2)}
    for row in rows:
        assert 0.09 < row["linux_s"] <= row["window_s"]
        assert row["sleeps"] >= 2
        assert (row["firmware_s"], row["gem5_s"]) == (None, None)
    cpuidle = pq.read_table(tmp_path / "out" / "figures" / "cpuidle.parquet").to_pylist()
    assert cpuidle
    for row in cpuidle:
        assert (row["usage"] > 0) == (row["state"] == row["point"].removeprefix("residency/")), row
    loops = pq.read_table(tmp_path / "out" / "figures" / "frequency.parquet").to_pylist()
    assert {(row["cluster"], row["runs"]) for row in loops} == {("little", 1), ("big", 1), ("shadow", 1)}
    routing = pq.read_table(tmp_path / "out" / "figures" / "routing.parquet").to_pylist()
    assert [sum(row["events"] for row in routing if row["window"] == name) for name in ("quiet", "unrouted")] == [0, 5]
