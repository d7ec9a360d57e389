# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_every_state_has_its_loops(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", str(Path(__file__).parent), "-e", "qemu", "--set", "runs=2", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "loops.parquet").to_pylist()
    assert [row["state"] for row in rows] == ["C1", "C2", "C3", "C4"]
