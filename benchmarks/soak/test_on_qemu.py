# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: from the command to the sums, in two goes."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_a_soak_goes_on_and_is_summed(lull: Lull, tmp_path: Path) -> None:
    words = ("run", "soak", "-e", "qemu", "--set", "entries=20", "--out", "out")
    for points in (["quick/1-C3"], ["quick/1-*", "real/19-C4", "shared/*"]):
        ran = lull(*words, *(word for point in points for word in ("--points", point)))
        assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count(" kept") == 1
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "entries.parquet").to_pylist()
    assert {(row["state"], row["cpu"]) for row in rows} == {(f"C{n}", cpu) for n in (2, 3, 4) for cpu in (0, 1, 2)}
    for row in rows:
        assert row["entries"] >= 20 * row["points"]
        assert row["timer"] > 0
    assert sum(row["device"] for row in rows) > 0
    assert sum(row["call"] for row in rows) > 0
    shared = pq.read_table(tmp_path / "out" / "figures" / "shared.parquet").to_pylist()
    assert [row["cluster"] for row in shared] == ["little", "little", "big", "big", "shadow"]
