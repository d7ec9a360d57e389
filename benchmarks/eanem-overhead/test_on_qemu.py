# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: the same download with the monitor off and on."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_the_load_is_the_same(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "eanem-overhead", "-e", "qemu", "--points", "rates/20000-*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    assert [row["monitor"] for row in points] == [0, 1]
    for row in points:
        assert 0 < row["busy"] < 1
        assert row["mbit_s"] == pytest.approx(20, rel=0.05)
