# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way loads every page, and others are held in each wait but the first."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_others_are_held_while_the_network_is_waited_for(lull: Lull, tmp_path: Path) -> None:
    words = ["--set", "windows=2", "--points", "ways/*", "--points", "others/5-*", "--points", "alone/*"]
    ran = lull("run", "quiescence", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    figures = tmp_path / "out" / "figures"
    points = {row["point"]: row for row in pq.read_table(figures / "points.parquet").to_pylist()}
    assert len(points) == 12
    for row in points.values():
        assert row["loads"] == 2
        # Where all CPUs share one time, what was held is not done in what is left of it.
        assert row["undone"] == 0 or row["way"] in ("all", "max", "slack"), (
            "the work is the same, whatever is done about it"
        )
        assert row["median_us"] > row["slack_us"]
        assert "power_w" not in row, "QEMU's time is no timing"
        quiet = row["way"] in ("big", "all")
        assert row["holds"] == row["by_path"] == (2 if quiet else 0)
        assert row["mistaken"] == row["by_deadline"] == 0
        assert (row["held_sum_us"] > 2 * 90000) == quiet
    chains = pq.read_table(figures / "chains.parquet").to_pylist()
    assert len(chains) == 5
    for row in chains:
        assert row["right"] >= 5 * row["actions"] > 0, "each load goes through five processes"
        assert row["found"] == row["right"], "the tracker names all tasks that the user waits for"
