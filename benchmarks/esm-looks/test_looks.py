# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on the paper's share, on made tables."""

from typing import Any

import pyarrow as pa
import pytest

from lull_experiments.esm_looks import analysis

CHEAP, DEAR = 0, analysis.ANDROID_US


def row(moves: int, look_us: int, share: float, half: float | None = 4.0, series: str = "ESM") -> dict[str, Any]:
    return {
        "series": series, "moves": moves, "look_us": look_us, "above_percent": share, "above_percent_pm": half,
    }  # fmt: skip


def holds(*rows: dict[str, Any]) -> list[bool]:
    return [check.passed for check in analysis.checks(pa.Table.from_pylist(list(rows)))]


def test_the_share_falls_with_the_rate_from_the_papers_on() -> None:
    """The first check is of the fall, with both intervals, and the second of the share where events are fewest."""
    assert holds(row(0, CHEAP, 91), row(100, CHEAP, 3)) == [True, False]
    assert holds(row(0, CHEAP, 27), row(100, CHEAP, 3)) == [True, True]
    assert holds(row(0, CHEAP, 27), row(100, CHEAP, 21)) == [False, True]


def test_dear_looks_have_to_make_the_share_larger_at_the_same_rate() -> None:
    assert holds(row(25, CHEAP, 52), row(25, DEAR, 97)) == [True]
    assert holds(row(25, CHEAP, 52), row(25, DEAR, 59)) == [False]
    assert holds(row(25, CHEAP, 52), row(100, DEAR, 97)) == []


def test_shares_without_an_interval_and_other_ways_of_esm_are_not_judged() -> None:
    assert holds(row(0, CHEAP, 91, None), row(100, CHEAP, 3)) == []
    assert holds(row(25, CHEAP, 52), row(25, DEAR, 97, series="ESM, C4")) == []


def test_a_share_of_what_the_poll_adds_has_the_interval_of_its_difference() -> None:
    difference = {
        "one": "deeper/esm", "other": "deeper/pull", "series": "ESM, C4", "against": "pull 16 ms, C4", "moves": 25,
        "power_w": -0.011, "power_w_pm": 0.0007, "other_power_w": 0.132, "above_percent": 79.0,
        "above_percent_pm": 17.0, "latency_us": None,
    }  # fmt: skip
    poll = {"point": "deeper/pull", "cpu_share": 0.003, "mhz": 612.0, "power_w": 0.132}
    (saved,) = analysis.df_saved([difference], [poll], {"deeper/pull": 0}).to_pylist()
    assert (saved["above_percent"], saved["above_percent_pm"]) == (79.0, 17.0)
    assert saved["percent"] == pytest.approx(100 * 0.011 / 0.132)
    assert saved["percent_pm"] == pytest.approx(100 * 0.0007 / 0.132)
