# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: each kernel computes what it should, in each way."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_kernels_compute(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "waeas-parmi", "-e", "qemu", "--points", "kernels/*", "--points", "short/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "windows.parquet").to_pylist()
    assert {row["way"] for row in rows} == {"eas", "waeas", "inherit"}
    assert all(row["messages"] > 0 for row in rows)
