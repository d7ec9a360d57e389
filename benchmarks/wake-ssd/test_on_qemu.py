# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: each way reads, and the block layer learns how long a read takes."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_reads_are_predicted(lull: Lull, tmp_path: Path) -> None:
    words = [
        "--set",
        "requests=20",
        "--set",
        "windows=2",
        "--points",
        "gaps/1000-*",
        "--points",
        "busy/1000",
        "--points",
        "nvme/1000-ahead",
    ]
    ran = lull("run", "wake-ssd", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    points = pq.read_table(tables / "points.parquet").to_pylist()
    assert {row["way"] for row in points} == {"none", "ahead", "qos", "busy"}
    assert all(row["events"] >= 30 for row in points)
    assert "power_w" not in points[0], "QEMU's time is no timing"
    drives = {"sata-850-pro": (92_600 + 4 * 1_860, 0.04), "nvme-980-pro": None}
    for row in pq.read_table(tables / "models.parquet").to_pylist():
        # One that comes a little before its window finds the CPU awake too, or on its way.
        assert row["hits"] + row["early"] >= 0.9 * row["predicted"] > 0.8 * row["seen"]
        assert row["hits"] >= 0.5 * row["predicted"]
        if expected := drives[row["drive"]]:
            assert row["ns"] == pytest.approx(expected[0], rel=expected[1])
