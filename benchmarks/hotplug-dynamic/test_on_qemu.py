# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: jobs are done while CPUs go out and come back."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_jobs_are_done_while_cpus_go_out_and_come_back(lull: Lull, tmp_path: Path) -> None:
    """Points of each kind at their smallest. QEMU's clock is no timing, so the rate of toggles is not judged."""
    kinds = ("never/*-100000", "teo/100000", "governor/*-100000", "bound/*", "toggles/*", "often/100")
    points = [word for kind in kinds for word in ("--points", kind)]
    ran = lull("run", "hotplug-dynamic", "-e", "qemu", "--set", "windows=2", *points, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = pq.read_table(tmp_path / "out" / "figures" / "points.parquet")
    assert "power_w" not in points.column_names, "QEMU's time is no timing"
    for row in points.to_pylist():
        assert row["jobs_hz"] > 0
        assert (row["toggled_hz"] > 0) == (row["toggles_hz"] > 0 or row["way"] == "governor")
