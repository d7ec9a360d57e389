# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: each way, and each application under the manager; results are right, and goals are known."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest

LONGER = [
    word
    for setting in (
        "threads=2", "rest_us=5000", "interval_us=10000", "solo_us=20000", "settle_us=300000", "window_us=20000",
    )
    for word in ("--set", setting)
]  # fmt: skip
"""CPUs take turns there, and the peer is on the same ones: they need threads that rest, and time."""


def test_every_way_and_every_application(lull: Lull, tmp_path: Path) -> None:
    patterns = ("half*/bitcount-*", "most/susan-control", "most-eanem/*", "today/bitcount-*", "caps/*-35")
    points = [word for pattern in patterns for word in ("--points", pattern)]
    ran = lull("run", "eanem-mixed", "-e", "qemu", *LONGER, *points, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    rows = pq.read_table(tables / "points.parquet").to_pylist()
    assert {row["way"] for row in rows} == {
        "eas", "control", "paced", "coalesce", "napi", "threaded", "slow_rate", "uclamp-35", "rcvbuf", "eanem",
    }  # fmt: skip
    assert {row["kernel"] for row in rows} == {"patricia", "dijkstra", "bitcount", "susan", "basicmath"}
    for row in rows:
        assert "cpus_w" not in row, "QEMU's time is no timing"
        assert row["goal"] == pytest.approx(row["percent"] / 100 * row["alone"])
        assert row["per_s"] > 0
        assert 0 < row["least_mbit_s"] < row["mbit_s"], "no transfer is starved"
        if row["way"] in ("control", "eanem"):
            assert row["mbit_s"] < 2 * 165, "two transfers of 150 Mbit/s"
    decisions = pq.read_table(tables / "decisions.parquet").to_pylist()
    for point in {row["point"] for row in rows if row["way"] == "eanem"}:
        own = [row for row in decisions if row["point"] == point and row["level"] == 2 and row["watts"] is not None]
        assert own[0]["why"] == "application came"
        assert all(0 < row["little"] + row["big"] <= 8 for row in own)
