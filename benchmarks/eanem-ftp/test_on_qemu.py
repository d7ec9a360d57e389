# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way downloads, and the manager decides."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.notebook import opening
from lull.platform.load import load_platform
from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_every_way_downloads(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "eanem-ftp", "-e", "qemu", "--points", "paper/100000-*", "--points", "today/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    points = {row["point"]: row for row in pq.read_table(tables / "points.parquet").to_pylist()}
    assert {row["way"] for row in points.values()} == {
        "eas", "eanem", "napi", "threaded", "pacing", "rcvbuf", "uclamp",
    }  # fmt: skip
    for row in points.values():
        assert "power_w" not in row, "QEMU's time is no timing"
        if row["way"] in ("eas", "eanem", "pacing"):
            assert 0.9 < row["performance"] <= 1
    decisions = pq.read_table(tables / "decisions.parquet").to_pylist()
    assert decisions[0]["why"] == "traffic began"
    assert (decisions[0]["little"] or 0) + (decisions[0]["big"] or 0) >= 1
    assert decisions[0]["at_us"] < 0, "before the window that counts"
    switches = opening.open(tmp_path / "out" / "paper" / "100000-eanem").trace.df_event("sched_switch")
    (usual,) = switches[switches["next_comm"] == "eanemd"]["cpu"].mode()[:1]
    clusters = load_platform("exynos5422").cpu_ranges()
    (packets,) = [cpus[: decisions[0][cluster.name]] for cpus, cluster in clusters if decisions[0].get(cluster.name)]
    assert usual in packets, "the manager is where the packets are"
