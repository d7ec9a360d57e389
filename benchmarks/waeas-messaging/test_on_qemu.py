# SPDX-License-Identifier: BSD-3-Clause
"""Three experiments on QEMU: messages flow and kernels compute, in each way, by processes and by threads."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


@pytest.mark.parametrize(
    ("name", "points"),
    [("waeas-messaging", ["groups/1-*", "threads/*"]), ("waeas-pipe", ["pairs/1-*"]), ("waeas-parmi", ["kernels/*"])],
)
def test_messages_flow(lull: Lull, tmp_path: Path, name: str, points: list[str]) -> None:
    words = [word for point in points for word in ("--points", point)]
    ran = lull("run", name, "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "windows.parquet").to_pylist()
    assert {row["way"] for row in rows} == {"smp", "eas", "waeas"}
    assert all(row["messages"] > 0 for row in rows)
