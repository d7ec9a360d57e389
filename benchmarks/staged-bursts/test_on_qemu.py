# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way answers every request, and bursts begin at multiples of the period."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_requests_are_answered_in_bursts(lull: Lull, tmp_path: Path) -> None:
    words = ["--set", "rate=500", "--set", "windows=2", "--points", "ways/*", "--points", "companion/staged"]
    ran = lull("run", "staged-bursts", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = {row["point"]: row for row in pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()}
    assert len(points) == 7
    for row in points.values():
        assert row["events"] >= 30
        assert "power_w" not in row, "QEMU's time is no timing"
        staged = row["way"] == "staged"
        assert (row["wakes"] > 30) == staged
        assert (row["median_us"] > 2000) == (staged or row["way"] == "proxy")
