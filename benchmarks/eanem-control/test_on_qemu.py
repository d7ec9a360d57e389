# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: the bandwidth follows the target. QEMU's link has no delay, and its time is no timing."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_the_bandwidth_follows_the_target(lull: Lull, tmp_path: Path) -> None:
    points = [word for target in (50000, 200000, 400000) for word in ("--points", f"rtt-1/{target}")]
    ran = lull("run", "eanem-control", "-e", "qemu", *points, "--set", "intervals=8", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    assert [row["target_mbit_s"] for row in rows] == [50, 200, 400]
    for row in rows:
        assert abs(row["error"]) < 0.05
