# SPDX-License-Identifier: BSD-3-Clause
"""Halves of made runs: all ways are compared over runs of the same numbers."""

import pyarrow as pa

from lull_experiments.wake_gpu import analysis


def test_halves_are_of_runs_that_all_ways_have() -> None:
    """`none` settles at its fourth run, and has fewer runs in the same time."""
    late = {"none": [40.0, 40.0, 40.0, 80.0, 80.0, 80.0], "ahead": [10.0] * 8}
    rows = [
        {"point": f"kernels/kmeans-{way}", "group": "kernels", "kernel": "kmeans", "way": way, "number": number + 10,
         "late_us": us, "cycle_us": 500 + us}
        for way, own in late.items()
        for number, us in enumerate(own)
    ]  # fmt: skip
    halves = analysis.df_halves(pa.Table.from_pylist(rows)).to_pylist()
    assert [(row["point"], row["half"], row["runs"]) for row in halves] == [
        ("kernels/kmeans-none", "first", 3), ("kernels/kmeans-none", "second", 3),
        ("kernels/kmeans-ahead", "first", 3), ("kernels/kmeans-ahead", "second", 3),
    ]  # fmt: skip
    assert [row["median_us"] for row in halves] == [40, 80, 10, 10]
    assert [row["cycle_us"] for row in halves] == [540, 580, 510, 510]
