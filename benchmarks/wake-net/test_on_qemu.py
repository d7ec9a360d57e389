# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: the peer asks, and the CPU that answers knows when the next request comes."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_requests_come_in_the_windows_that_they_announce(lull: Lull, tmp_path: Path) -> None:
    machine = ["-p", "tiny", "--set", "cpu=1", "--set", "settle=5", "--set", "windows=2"]
    points = [word for name in ("states/C1-*", "states/C4-*", "others/qos") for word in ("--points", name)]
    ran = lull("run", "wake-net", "-e", "qemu", *machine, *points, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    found = pq.read_table(tables / "points.parquet").to_pylist()
    states = {f"states/{state}-{way}" for state in ("C1", "C4") for way in ("none", "ahead")}
    assert {row["point"] for row in found} == {*states, "others/qos"}
    assert all(row["events"] == 20 for row in found), "every answer came, and none was asked for twice"
    assert "power_w" not in found[0], "QEMU's time is no timing"
    counts = {row["point"]: row for row in pq.read_table(tables / "counts.parquet").to_pylist()}
    assert set(counts) == {"states/C1-ahead", "states/C4-ahead"}
    for row in counts.values():
        assert row["hits"] + row["early"] + row["misses"] >= 20, "a window for each request but the first"
        assert row["dropped"] == 0
    # On QEMU the peer sleeps too. From C4 it sends late by more than a window is long.
    assert counts["states/C1-ahead"]["hits"] >= 20
    assert pq.read_table(tables / "sleeps.parquet").num_rows == 1


def test_a_stray_datagram_ends_nothing(lull: Lull, tmp_path: Path) -> None:
    few = "--settle 2 --requests 2 --windows 1"
    peer = f"""
        for size in 1 63 64 65 1400; do
            head -c $size /dev/urandom | timeout 0.2 nc -u 10.0.0.1 5002
        done
        wake-net --way ask --seed 1 {few}
    """
    script = f"wake-net --way none {few} && echo answered"
    ran = lull("boot", "-e", "qemu", "--peer", peer, "--exec", script, "--out", "run")
    assert (ran.returncode, ran.stdout) == (0, "answered\n"), ran.stderr
    assert len((tmp_path / "run" / "files" / "requests.jsonl").read_text().splitlines()) == 4
