# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: packets are counted, and a line is drawn through them."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest

INTERVAL_US = 10000
"""At the lowest rate an interval has eight segments, and GRO hands them over several at once."""


def test_packets_are_counted(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "eanem-packets", "-e", "qemu", "--points", "little/800-*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    intervals = pq.read_table(tables / "intervals.parquet").to_pylist()
    assert len(intervals) == 2 * 4 * 3
    for row in intervals:
        assert 0 < row["load"] <= 1
        four_segments = 4 * row["mss"] * 8 / INTERVAL_US
        assert abs(row["mbit_s"] - row["rate_mbit_s"]) < 0.2 * row["rate_mbit_s"] + four_segments
        assert row["mss"] / 2 < row["mean_bytes"] <= row["mss"]
    for row in pq.read_table(tables / "coefficients.parquet").to_pylist():
        assert row["alpha"] > 0
