# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every event comes, whatever is predicted. That it is predicted is shown by a selftest."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_events_come_as_ever(lull: Lull, tmp_path: Path) -> None:
    only = ("--set", "windows=1", "--set", "window_ms=500", "--set", "wanted=50", "--points", "share-*")
    small = ("-e", "qemu", "-p", "tiny", *only)
    ran = lull("run", "esm-ahead", *small, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    ways = {"shadow", "home", "rest", "wake", "rest-wake", "alone"}
    assert {row["way"] for row in rows} == ways
    # Half of 100 a second, for half a second.
    assert {row["events"] for row in rows} == {row["due"] for row in rows} == {25}
    assert all(row["in_order"] for row in rows)
