# SPDX-License-Identifier: BSD-3-Clause
"""What bursts save, with an interval over windows in which the same requests come. On made tables."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lull.trace.clock import TICK_HZ
from lull_experiments.staged_bursts import analysis, package, parts, urgent

SAME = {"group": "ways", "rate": 1000, "period_us": 25000, "governor": "menu", "cpufreq": "schedutil", "client": "main",
        "terms": 12, "window_us": 50000, "windows": 4, "shadow": False, "powerdown": False, "boot": 0,
        "one_in": 0}  # fmt: skip


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
    return {**SAME, "point": name, "group": group, "way": way, "power_w": watts, "cpus_w": watts - 1,
            "power_w_pm": 0.0, "longest_us": 600.0, **other}  # fmt: skip


def tables_of(points: tuple[dict[str, Any], ...], noise: float = 0.0) -> tuple[pa.Table, pa.Table]:
    """The points, and two windows of each; the second window of bursts has some power more, and the first less."""
    windows = [
        {"point": row["point"], "window": number, "power_w": row["power_w"] + change, "cpus_w": row["cpus_w"] + change}
        for row in points
        for number, change in enumerate((-noise, noise) if row["way"] in analysis.BURSTS else (0, 0))
    ]
    return pa.Table.from_pylist(list(points)), pa.Table.from_pylist(windows)


def compared(*points: dict[str, Any]) -> dict[str, str]:
    """Which points are compared, and with which ones."""
    rows = analysis._savings(*tables_of(points))
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
    "other", [{"rate": 250}, {"terms": 24}, {"governor": "teo"}, {"cpufreq": "performance"}, {"client": "shadow"},
              {"shadow": True},
              {"powerdown": True}, {"boot": 1}, {"windows": 22}, {"window_us": 500000}, {"one_in": 10}],
)  # fmt: skip
def test_another_load_or_machine_is_not_compared(other: dict[str, Any]) -> None:
    assert compared(point("ways/none"), point("memory/staged", **other)) == {}


WAYS = (point("ways/none", 2.0), point("ways/packed", 1.8), point("ways/capped", 1.6, longest_us=50001.0),
        point("ways/released", 1.2), point("ways/staged", 1.5, longest_us=25000.0))  # fmt: skip


def test_the_best_of_today_has_the_least_power_of_those_that_keep_the_bound() -> None:
    row = analysis.df_best(*tables_of(WAYS))[-1]
    assert (row["one"], row["best"], row["ran"], row["kept"]) == ("ways/staged", "ways/packed", 3, 2)
    assert row["power"] == pytest.approx(1 - 1.5 / 1.8)
    assert row["cpus"] == pytest.approx(1 - 0.5 / 0.8)
    assert row["power_pm"] == pytest.approx(0)
    assert "| ways/staged | 3 | 2 | ways/packed | 1800" in analysis._best_text([row])
    (check,) = analysis.best_checks([row])
    assert check.passed
    assert "16.7" in check.says
    assert "ways/packed" in check.says


def test_a_saving_whose_interval_reaches_zero_is_no_saving() -> None:
    best = analysis.df_best(*tables_of(WAYS, noise=0.1))
    assert [check.passed for check in analysis.best_checks(best)] == [False]


def test_another_governor_may_be_the_best_of_today_but_no_other_load() -> None:
    more = (point("others/none", 1.7, governor="teo"), point("rates/250-none", 1.0, way="none", rate=250),
            point("memory/none", 1.0, powerdown=True))  # fmt: skip
    assert [row["best"] for row in analysis.df_best(*tables_of((*WAYS, *more)))] == ["others/none"] * 2


def test_a_shorter_period_has_a_shorter_bound() -> None:
    late = (point("ways/proxy", 1.4, longest_us=26000.0), point("periods/6250", 1.3, way="staged", period_us=6250))
    found = {row["one"]: row["best"] for row in analysis.df_best(*tables_of((*WAYS, *late)))}
    assert found["ways/staged"] == "ways/proxy"
    assert found["periods/6250"] == "ways/packed"


def test_where_nothing_else_has_run_there_is_no_best_of_today() -> None:
    assert analysis.df_best(*tables_of((WAYS[0], WAYS[-1]))) == []
    assert analysis._best_text([]) == ""


def test_one_in_a_thousand_needs_a_thousand_requests() -> None:
    many = np.arange(1.0, 1001.0)
    assert analysis.rarest(many)["p999_us"] == pytest.approx(999.001)
    assert analysis.rarest(many)["p999_low_us"] < 999.001 <= analysis.rarest(many)["p999_high_us"]
    assert set(analysis.rarest(many[:999]).values()) == {None}


def test_what_a_point_is_too_old_or_too_short_for_is_left_out() -> None:
    row = point("ways/none", events=219, service_us=185.0, bursts=0, early=0, cpus_w_pm=0.1,
                **{f"{name}{end}_us": 500.0 for name in ("median", "p99") for end in ("", "_low", "_high")}
                )  # fmt: skip
    longer = row | {"busy": 0.0154, "p999_us": 900.0, "p999_low_us": 800.0, "p999_high_us": 950.0}
    old, new = (analysis._points_text(pa.Table.from_pylist([each])).splitlines()[-1] for each in (row, longer))
    assert old.startswith("| ways/none | 219 | - | 185 | 500 [500, 500] | 500 [500, 500] | - | 600 |")
    assert new.startswith("| ways/none | 219 | 1.54 | 185 | 500 [500, 500] | 500 [500, 500] | 900 [800, 950] | 600 |")


def test_power_is_divided_by_what_it_is_spent_on() -> None:
    search: dict[str, Any] = {"component": "execution", "state": "active", "cause": "task:search-server/111"}
    expected: dict[str, list[dict[str, Any]]] = {
        "search": [{**search, "cpu": 0}, {**search, "cpu": 5}],
        "receiver": [{**search, "cpu": 0, "state": "exit"}, {**search, "cpu": 0, "cause": "irq:arch_timer"}],
        "work": [{**search, "cpu": 1, "cause": "softirq:RCU"}],
        "transitions": [{**search, "cpu": 1, "state": state} for state in ("entry", "exit", "switch")],
        "sleep": [{**search, "cpu": 1, "state": "C4", "cause": "idle"}],
        "caches": [{"cpu": None, "component": "l2", "state": "off", "cause": "active"}],
        "memory": [{"cpu": None, "component": "dram-background", "state": "standby", "cause": "platform"}],
        "rest": [{"cpu": None, "component": "interconnect", "state": "on", "cause": "platform"}],
    }
    assert tuple(sorted(expected)) == tuple(sorted(parts.PARTS))
    for part, rows in expected.items():
        assert [parts.part_of(row, receiver=0) for row in rows] == [part] * len(rows)
    assert parts.part_of({**search, "cpu": 12, "cause": "softirq:RCU"}, receiver=12) == "receiver"


def test_the_package_sleeps_only_while_all_cpus_do() -> None:
    first, second = np.array([[0, 40], [50, 200]]), np.array([[30, 120], [130, 145]])
    found = package.awake([first, second], np.array([20, 100, 140]))
    assert found["awake"] == pytest.approx(1 - (10 + 70 + 10) / 120)
    assert found["wakes_hz"] == pytest.approx(2 * TICK_HZ / 120), "at 40 and 120; at 145 no window is open"


def test_a_package_that_sleeps_with_the_cpus_adds_to_what_bursts_save() -> None:
    none, staged = point("ways/none", 2.0), point("ways/staged", 1.9)
    saved = [{"one": "ways/staged", "other": "ways/none"}]
    awake = pa.Table.from_pylist([{"point": "ways/none", "awake": 0.5, "wakes_hz": 300.0},
                                  {"point": "ways/staged", "awake": 0.1, "wakes_hz": 40.0}])  # fmt: skip
    rows = package.df_with_package(saved, pa.Table.from_pylist([none, staged]), awake)
    assert [row["package_w"] for row in rows] == list(package.PACKAGES_W)
    assert rows[1]["power"] == pytest.approx(1 - (1.9 + 0.26) / (2.0 + 1.3))
    text = package.text(awake, rows)
    assert "| ways/none | 50 | 300 | - | - | - |" in text
    assert f"| ways/staged | 10 | 40 | {100 * rows[0]['power']:.3g} | 34.5 |" in text


def test_a_saving_is_averaged_over_boots_of_one_machine_only() -> None:
    boots = [point(f"{group}/{way}", watts, boot=boot, client="shadow", power_w_pm=0.0)
             for group, boot, by_bursts in (("a", 0, 1.6), ("b", 1, 1.8))
             for way, watts in (("none", 2.0), ("staged", by_bursts))]  # fmt: skip
    result = analysis.df_boots(analysis._savings(*tables_of((*boots, *WAYS))))
    assert result is not None
    (row,) = result.to_pylist()
    assert (row["way"], row["client"], row["boots"]) == ("staged", "shadow", 2)
    assert row["power"] == pytest.approx(0.15)


def requests_of(urgent_us: list[float], others_us: list[float]) -> list[dict[str, Any]]:
    return [
        {"point": "deadlines/heeded", "urgent": kind, "response_us": value}
        for kind, values in ((True, urgent_us), (False, others_us))
        for value in values
    ]


def table_of(requests: list[dict[str, Any]], way: str = "heeded") -> pa.Table:
    about = {"point": f"deadlines/{way}", "way": way, "one_in": 10, "deadline_us": 50000}
    return pa.Table.from_pylist([about | row for row in urgent.of_requests(requests)])


def test_urgent_requests_stand_beside_the_others() -> None:
    table = table_of(requests_of([100.0, 200.0, 300.0], [1000.0, 2000.0]))
    ours, others = table.to_pylist()
    assert (ours["kind"], ours["events"], ours["median_us"], ours["longest_us"]) == ("urgent", 3, 200, 300)
    assert (others["kind"], others["events"], others["median_us"], others["longest_us"]) == ("others", 2, 1500, 2000)
    assert "| deadlines/heeded | 10 | 50000 | urgent | 3 | 200 [100, 300] |" in urgent.text(table)
    (check,) = urgent.checks(table)
    assert check.passed
    assert "3 urgent requests" in check.says


def test_urgent_requests_that_take_as_long_as_others_are_a_miss() -> None:
    (check,) = urgent.checks(table_of(requests_of([1000.0, 2000.0], [1000.0, 2000.0])))
    assert not check.passed


def test_where_no_deadline_is_heeded_nothing_is_checked() -> None:
    assert urgent.checks(table_of(requests_of([1.0], [2.0]), way="staged")) == []
    assert urgent.checks(table_of(requests_of([], [2.0]))) == []
    assert urgent.checks(None) == []
    assert urgent.text(None) == ""
