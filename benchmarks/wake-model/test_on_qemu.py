# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: the block layer finds the drive's line, for reads and for writes."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_a_line_is_found(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "wake-model", "-e", "qemu", "--set", "requests=120", "--points", "sata/50", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    assert [row["write"] for row in points] == [False, True]
    for row in points:
        assert row["device"] > 0.98
        assert row["predicted"] == row["settled"] > 0
        assert row["hits"] >= row["predicted"] - 1, "nine or more are predicted"
