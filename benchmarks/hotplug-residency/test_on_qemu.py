# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way keeps CPUs out while frames are drawn."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_frames_are_drawn_while_cpus_are_out(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "hotplug-residency", "-e", "qemu", "--set", "windows=2", "--points", "ways/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    lull("figures", "out")  # its status says whether goals are met, which QEMU's idle states cannot tell
    points = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    found = {row["way"]: row for row in points}
    assert set(found) == {"none", "conventional", "pseudo", "partition", "affinity"}
    assert all(row["frames_hz"] > 0 for row in points)
    assert found["conventional"]["out_share"] == 1
    causes = pq.read_table(tmp_path / "out" / "figures" / "wakes.parquet").to_pylist()
    for way, point in found.items():
        awake = sum(row["awake_share"] for row in causes if row["way"] == way)
        # Windows of unequal length: a mean over windows is not quite one over time.
        assert awake == pytest.approx(1 - point["out_share"], abs=1e-3), way
    residency = pq.read_table(tmp_path / "out" / "figures" / "residency.parquet").to_pylist()
    for row in points:
        out = [each for each in residency if each["point"] == row["point"] and each["out"]]
        assert sum(each["share"] for each in out) == pytest.approx(len({each["cpu"] for each in out}))
        deepest = sum(each["share"] for each in out if each["state"] in ("C4", "off"))
        assert deepest / len({each["cpu"] for each in out}) == pytest.approx(row["out_share"], abs=1e-3)
