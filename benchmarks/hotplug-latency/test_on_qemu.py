# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way takes the CPU out and brings it back, and says so."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_every_way_takes_the_cpu_out_and_back(lull: Lull, tmp_path: Path) -> None:
    ran = lull(
        "run", "hotplug-latency", "-e", "qemu", "--set", "toggles=2", "--set", "rest_us=5000", "--set", "threads=10",
        "--set", "cpufreq=performance", "--out", "out",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    tables = tmp_path / "out" / "figures"
    rows = pq.read_table(tables / "toggles.parquet").to_pylist()
    ways = {"conventional", "pseudo", "partition", "affinity", "none"}
    assert {(row["way"], row["direction"], row["number"]) for row in rows} == {
        (way, direction, number) for way in ways for direction in ("out", "in") for number in (0, 1)
    }
    assert all(row["write_us"] > 0 for row in rows if row["way"] != "none")
    names = {row["name"] for row in pq.read_table(tables / "steps.parquet").to_pylist()}
    assert {"cpu:teardown", "cpu:bringup", "sched:active", "pseudo:change"} <= names
    ratios = pq.read_table(tables / "ratios.parquet").to_pylist()
    assert {"conventional", "partition", "affinity"} == {row["way"] for row in ratios if row["measure"] == "write_us"}
    assert all(row["low"] <= row["ratio"] <= row["high"] for row in ratios)
