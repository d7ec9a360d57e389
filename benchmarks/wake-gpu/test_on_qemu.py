# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: each way has its runs, and the regular kernel is predicted."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_runs_are_predicted(lull: Lull, tmp_path: Path) -> None:
    words = ["--set", "windows=2", "--points", "kernels/kmeans-*", "--points", "kernels/irregular-ahead"]
    ran = lull("run", "wake-gpu", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    assert {row["way"] for row in points} == {"none", "ahead", "poll", "qos", "busy"}
    assert all(row["events"] >= 30 for row in points)
    assert "power_w" not in points[0], "QEMU's time is no timing"
    for row in points:
        if row["kernel"] == "kmeans":
            assert 500 < row["took_us"] < 600
        assert (row["predicted"] > 0.7 * row["seen"] > 0) == (
            row["way"] in ("ahead", "poll") and row["kernel"] == "kmeans"
        )
