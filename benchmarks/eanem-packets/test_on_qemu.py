# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: packets are counted, and a line is drawn through them."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest

WRITE_MBIT_S = 16 * 1024 * 8 / 10000
"""The sender writes 16 KiB at a time, and an interval has 10 ms. At low rates some have one write, others none."""


def test_packets_are_counted(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "eanem-packets", "-e", "qemu", "--points", "little*/1400-*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    intervals = pq.read_table(tables / "intervals.parquet").to_pylist()
    assert len(intervals) == 2 * 4 * 3
    assert all(0 < row["load"] <= 1 for row in intervals)
    counted = [row for row in intervals if row["packets_s"]]
    assert len(counted) > len(intervals) / 2
    assert all(row["mss"] / 2 < row["mean_bytes"] <= row["mss"] for row in counted)
    for mss, rate in {(row["mss"], row["rate_mbit_s"]) for row in intervals}:
        got = [row["mbit_s"] for row in intervals if (row["mss"], row["rate_mbit_s"]) == (mss, rate)]
        assert abs(sum(got) - rate * len(got)) < 0.1 * sum(got) + WRITE_MBIT_S
    for row in pq.read_table(tables / "coefficients.parquet").to_pylist():
        assert row["alpha"] > 0
    for row in pq.read_table(tables / "batches.parquet").to_pylist():
        assert row["packets"] > 4 * row["an_interrupt"] >= 4, "several interrupts, and none without a packet"
        assert row["a_wake"] >= 1
        assert 0 < row["softirq_us"] < row["busy_us"]


def test_a_clock_between_operating_points_is_refused(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "-p", "rk3399", "--exec", "eanem-load --cpu 4 --mhz 1000 --interval-us 10000")
    assert ran.returncode == 2
    said = "eanem-load: CPU 4 has no clock of 1000 MHz; its clocks in kHz: 408000 600000 816000 1008000 "
    assert said in ran.stdout + ran.stderr
