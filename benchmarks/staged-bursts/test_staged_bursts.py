# SPDX-License-Identifier: BSD-3-Clause
"""What bursts save, with an interval over windows in which the same requests come. On made tables."""

from typing import Any

import pyarrow as pa
import pytest

from lull_experiments.staged_bursts import analysis

SAME = {"group": "ways", "rate": 1000, "governor": "menu", "cpufreq": "schedutil", "client": "main"}


def saved(none: list[float], staged: list[float]) -> dict[str, Any]:
    """The saving by windows whose CPUs burn so many watts; all else burns 1 W."""
    watts = {"none": none, "staged": staged}
    points = [
        {**SAME, "point": way, "way": way, "power_w": 1 + sum(own) / len(own), "cpus_w": sum(own) / len(own)}
        for way, own in watts.items()
    ]
    windows = [
        {"point": way, "window": number, "power_w": 1 + value, "cpus_w": value}
        for way, own in watts.items()
        for number, value in enumerate(own)
    ]
    tables = analysis._savings(pa.Table.from_pylist(points), pa.Table.from_pylist(windows))
    (row,) = tables["savings"].to_pylist()
    return dict(row)


def test_power_that_rises_in_both_ways_widens_no_interval() -> None:
    row = saved([1.0, 2.0, 3.0], [0.5, 1.5, 2.5])
    assert (row["cpus"], row["cpus_pm"]) == (pytest.approx(0.25), pytest.approx(0))
    assert (row["power"], row["power_pm"]) == (pytest.approx(1 / 6), pytest.approx(0))


def test_a_saving_that_differs_from_window_to_window_has_an_interval() -> None:
    row = saved([2.0, 2.0], [1.0, 1.2])
    assert row["cpus"] == pytest.approx(0.45)
    assert row["cpus_pm"] == pytest.approx(12.7062 * 0.1 / 2, rel=1e-4)


def test_one_window_has_no_interval() -> None:
    assert saved([2.0], [1.0])["cpus_pm"] is None
