# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: messages flow in each way, by processes and by threads."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_messages_flow(lull: Lull, tmp_path: Path) -> None:
    points = [word for pattern in ("groups/1-*", "clocks/*", "threads/waeas") for word in ("--points", pattern)]
    ran = lull("run", "waeas-messaging", "-e", "qemu", *points, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "windows.parquet").to_pylist()
    assert {row["way"] for row in rows} == {"smp", "eas", "waeas", "without_frequency"}
    assert all(row["messages"] > 0 for row in rows)
