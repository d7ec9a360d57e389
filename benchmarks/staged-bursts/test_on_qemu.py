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
    assert len(points) == 9
    for row in points.values():
        assert row["events"] >= 30
        assert "power_w" not in row, "QEMU's time is no timing"
        assert 0 < row["busy"] < 1
        staged = row["way"] == "staged"
        assert (row["wakes"] > 30) == staged
        assert (row["median_us"] > 2000) == (staged or row["way"] == "proxy")


def test_more_words_are_more_work_and_a_limit_of_cpu_time_limits(lull: Lull, tmp_path: Path) -> None:
    """Requests come for 100 ms. With a tenth of a CPU's time they take longer than these, as most have to wait."""
    words = ["--set", "windows=1", "--set", "rate=500", "--points", "terms/*-none", "--points", "ways/none"]
    ran = lull("run", "staged-bursts", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert lull("figures", "out").returncode == 0
    points = {row["point"]: row for row in pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()}
    less, usual, more = (points[name]["busy"] for name in ("terms/6-none", "ways/none", "terms/24-none"))
    assert less < usual < more

    ran = lull("run", "staged-bursts", "-e", "qemu", *words[:4], "--set", "quota=10", "--points", "ways/max", "--out",
               "limited")  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert lull("figures", "limited").returncode == 0
    (limited,) = pq.read_table(tmp_path / "limited" / "figures" / "points.parquet").to_pylist()
    assert limited["longest_us"] > 25000 > points["ways/none"]["longest_us"]
