# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: each way shows every sample."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_every_sample_is_shown(lull: Lull, tmp_path: Path) -> None:
    groups = ("sensors/all-*", "today/*", "parts/*", "halves/*", "without/*")
    words = ["--set", "windows=2", *(word for points in groups for word in ("--points", points))]
    ran = lull("run", "waeas-wearable", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    assert {row["way"] for row in points} == {
        "smp", "eas", "one", "two", "capped", "walt", "bes", "placement_only", "frequency_only", "select", "pack",
        "associate", "balance", "waeas", "without_bes", "without_select", "without_pack", "without_associate",
        "without_balance",
    }  # fmt: skip
    # 66 samples a second, for a second; the last ones may come after the end.
    assert all(62 <= row["events"] <= 68 for row in points), [row["events"] for row in points]
    assert "power_w" not in points[0], "QEMU's time is no timing"
    # Each sample wakes three processes.
    assert all(row["wakes"] >= 3 * 62 for row in points), [row["wakes"] for row in points]


def test_every_piece_of_a_file_is_sent(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "waeas-wearable", "-e", "qemu", "--set", "windows=2", "--points", "transfer/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    points = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    assert {row["way"] for row in points} == {"smp", "eas", "waeas"}
    # 64 KiB every 12.8 ms, for a second.
    assert all(76 <= row["events"] <= 79 for row in points), [row["events"] for row in points]
