# SPDX-License-Identifier: BSD-3-Clause
"""What bursts save, with an interval over windows in which the same requests come. On made tables."""

from typing import Any

import pyarrow as pa
import pytest

from lull.figures import waiting
from lull_experiments.staged_bursts import analysis

SAME = {"group": "ways", "rate": 1000, "period_us": 25000, "governor": "menu", "cpufreq": "schedutil", "client": "main",
        "window_us": 50000, "windows": 4, "shadow": False, "powerdown": False}  # fmt: skip


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
    rows = analysis._savings(pa.Table.from_pylist(points), pa.Table.from_pylist(windows))
    (row,) = rows
    return row


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


def point(name: str, watts: float = 2.0, **other: Any) -> dict[str, Any]:
    group, _, way = name.partition("/")
    return {**SAME, "point": name, "group": group, "way": way, "power_w": watts, "cpus_w": watts - 1, **other}


def compared(*points: dict[str, Any]) -> dict[str, str]:
    """Which points are compared, and with which ones."""
    windows = [
        {"point": row["point"], "window": number, "power_w": row["power_w"], "cpus_w": row["cpus_w"]}
        for row in points
        for number in range(2)
    ]
    rows = analysis._savings(pa.Table.from_pylist(list(points)), pa.Table.from_pylist(windows))
    return {row["one"]: row["other"] for row in rows}


def test_a_group_without_its_own_none_is_compared_with_that_of_the_ways() -> None:
    shorter = point("periods/6250", way="staged", period_us=6250)
    released = point("released/1000", way="released")
    assert compared(point("ways/none"), shorter, released) == {
        "periods/6250": "ways/none",
        "released/1000": "ways/none",
    }


def test_the_none_of_the_own_group_comes_first() -> None:
    points = [point(f"{group}/{way}") for group in ("ways", "again") for way in ("none", "staged")]
    assert compared(*points) == {"ways/staged": "ways/none", "again/staged": "again/none"}


@pytest.mark.parametrize(
    "other", [{"rate": 250}, {"governor": "teo"}, {"cpufreq": "performance"}, {"client": "shadow"}, {"shadow": True},
              {"powerdown": True}, {"windows": 22}, {"window_us": 500000}],
)  # fmt: skip
def test_another_load_or_machine_is_not_compared(other: dict[str, Any]) -> None:
    assert compared(point("ways/none"), point("memory/staged", **other)) == {}


def test_points_older_than_a_setting_had_the_usual_one() -> None:
    old = [{name: value for name, value in point(f"ways/{way}").items() if name not in analysis.USUAL}
           for way in ("none", "staged")]  # fmt: skip
    table = waiting.with_defaults(pa.Table.from_pylist(old), analysis.USUAL)
    assert compared(*table.to_pylist(), point("periods/6250", way="staged"))["periods/6250"] == "ways/none"
