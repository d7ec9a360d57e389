# SPDX-License-Identifier: BSD-3-Clause
"""What the monitor takes, of made intervals: for the same bytes, and by the whole interval."""

from collections.abc import Sequence

import pyarrow as pa
import pytest

from lull_experiments.eanem_overhead import analysis


def intervals(*runs: tuple[int, Sequence[tuple[float, float]]]) -> pa.Table:
    """Of each run whether the monitor was on, and of each interval how busy the CPU was and how much came."""
    return pa.Table.from_pylist(
        [
            {"point": f"rates/20000-{monitor}", "group": "rates", "monitor": monitor, "kbit_s": 20000,
             "interval_us": 100000, "busy": busy, "mbit_s": mbit_s}
            for monitor, own in runs
            for busy, mbit_s in own
        ]
    )  # fmt: skip


OFF = (0, [(0.1, 20.0), (0.105, 21.0), (0.095, 19.0)])


def test_a_write_more_is_not_the_monitor_s() -> None:
    (row,) = analysis.df_costs(intervals(OFF, (1, [(0.107, 21.0), (0.107, 21.0), (0.107, 21.0)]))).to_pylist()
    assert row["costs"] == pytest.approx(0.107 * 20 / 21 - 0.1)
    assert row["costs_high"] <= 0.005, "although the CPU was busier by 0.7 % of its time"


def test_intervals_with_the_same_bytes_are_compared_one_by_one() -> None:
    """The CPU is busier in some intervals than in others, but by the monitor in all of them alike."""
    off = (0, [(0.1, 20.0), (0.12, 20.0), (0.08, 20.0)])
    (row,) = analysis.df_costs(intervals(off, (1, [(0.102, 20.0), (0.121, 20.02), (0.083, 20.0)]))).to_pylist()
    assert row["costs"] == pytest.approx(0.002, rel=0.05)
    assert 0 > row["costs_low"] > -0.001
    (row,) = analysis.df_costs(intervals(off, (1, [(0.102, 20.0), (0.121, 20.1), (0.083, 20.0)]))).to_pylist()
    assert row["costs_low"] < -0.03, "other bytes"


@pytest.mark.parametrize(
    ("on", "passed"),
    [
        ([(0.101, 20.0), (0.1011, 20.0), (0.1012, 20.0)], True),
        ([(0.107, 20.0), (0.107, 20.0), (0.107, 20.0)], False),
        ([(0.10, 20.0), (0.11, 20.0), (0.095, 20.0)], False),
        ([(0.101, 20.0)], False),
    ],
    ids=["less", "more", "nothing shown", "one interval"],
)
def test_the_goal_is_reached_by_the_whole_interval(on: list[tuple[float, float]], passed: bool) -> None:
    (check,) = analysis.checks(analysis.df_costs(intervals(OFF, (1, on))))
    assert check.passed == passed


def test_one_way_alone_says_nothing_of_the_monitor() -> None:
    assert analysis.df_costs(intervals(OFF)).num_rows == 0
