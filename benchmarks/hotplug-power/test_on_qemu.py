# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: each load does its work while CPUs are out."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_work_is_done_while_cpus_are_out(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "hotplug-power", "-e", "qemu", "--set", "windows=2", "--points", "ways/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = pq.read_table(tmp_path / "out" / "figures" / "points.parquet")
    assert "power_w" not in points.column_names, "QEMU's time is no timing"
    found = {(row["load"], row["way"]) for row in points.to_pylist()}
    assert found == {(load, way) for load in ("cpu", "memory", "io") for way in ("conventional", "pseudo", "partition")}
    assert all(row["units_hz"] > 0 for row in points.to_pylist())
