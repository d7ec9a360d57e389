# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way loads every page, and others are held in each wait but the first."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_others_are_held_while_the_network_is_waited_for(lull: Lull, tmp_path: Path) -> None:
    # With updates, CPUs that share one time take nearly all of the usual 30 ms. A key that is released before the load
    # is done wakes the user interface in place of the last process.
    words = ["--set", "windows=2", "--set", "pause_us=60000"]
    words += ["--points", "ways/*", "--points", "others/5-*", "--points", "alone/*"]
    ran = lull("run", "quiescence", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    figures = tmp_path / "out" / "figures"
    points = {row["point"]: row for row in pq.read_table(figures / "points.parquet").to_pylist()}
    assert len(points) == 13
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
    assert len(chains) == 6
    for row in chains:
        assert row["actions"] == 2, "all loads are over in time"
        assert row["right"] >= 5 * row["actions"], "each load goes through five processes"
        assert row["found"] == row["right"], "the tracker names all tasks that the user waits for"


def test_a_cpu_is_awake_when_the_wait_ends(lull: Lull, tmp_path: Path) -> None:
    """From the third load on; the first one is known by no other, and the second one's error by none."""
    ran = lull("run", "quiescence", "-e", "qemu", "--points", "ahead/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert lull("figures", "out").returncode == 0
    figures = tmp_path / "out" / "figures"
    points = {row["way"]: row for row in pq.read_table(figures / "points.parquet").to_pylist()}
    for way, row in points.items():
        planned = 7 if way.endswith("_ahead") else 0
        assert row["planned"] == planned
        assert row["unsure"] == (1 if planned else 0)
        assert row["declined"] == row["plan_dropped"] == 0
        assert row["plan_hits"] + row["plan_early"] + row["plan_misses"] == planned
        assert row["mistaken"] == row["by_deadline"] == 0
    rows = pq.read_table(figures / "ahead.parquet").to_pylist()
    assert [(row["point"], row["other"], row["loads"]) for row in rows] == [
        ("ahead/big_ahead", "ahead/big", 7),
        ("ahead/all_ahead", "ahead/all", 7),
    ]


def test_the_path_of_other_pages_is_found(lull: Lull, tmp_path: Path) -> None:
    """A search waits for the network twice. In a feed, the user interface itself waits, and the network process sleeps.

    With the page above these are three loads whose chain is compared with the trace of all wake-ups. The loads are
    further apart than usual, as above: the trace tells nothing of a load that is not over when its key is released.
    """
    words = ["--set", "windows=2", "--set", "pause_us=60000", "--points", "chains/*-big", "--points", "chains/*-all"]
    ran = lull("run", "quiescence", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert lull("figures", "out").returncode == 0
    figures = tmp_path / "out" / "figures"
    holds, on_path = {"search": 2, "feed": 1}, {"search": 4, "feed": 3}
    points = pq.read_table(figures / "points.parquet").to_pylist()
    assert len(points) == 4
    for row in points:
        assert row["holds"] == row["by_path"] == 2 * holds[row["page"]]
        assert row["mistaken"] == row["by_deadline"] == 0
    chains = pq.read_table(figures / "chains.parquet").to_pylist()
    assert len(chains) == 4
    for row in chains:
        assert row["actions"] == 2, "all loads are over in time"
        assert row["found"] == row["right"] == row["actions"] * on_path[row["page"]]
        assert row["needless"] == 0
