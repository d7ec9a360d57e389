# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on predicted reads, on made points: a goal is reached by the ends of the intervals."""

from typing import Any

import pyarrow as pa
import pytest

from lull_experiments.wake_ssd import analysis


def point(way: str, p99_us: float, power_w: float) -> dict[str, Any]:
    return {
        "point": f"gaps/1000-{way}", "group": "gaps", "way": way, "drive": "sata-850-pro", "gap_us": 1000,
        "governor": "menu", "exit_us": None, "median_us": p99_us - 2, "p99_us": p99_us, "p99_low_us": p99_us - 1,
        "p99_high_us": p99_us + 1, "power_w": power_w, "power_w_pm": 0.01,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("p99_us", "power_w", "passed"),
    [(105, 2.0, [True, True]), (108.5, 2.0, [False, True]), (105, 2.035, [True, False])],
)
def test_goals_are_judged_by_intervals(p99_us: float, power_w: float, passed: list[bool]) -> None:
    rows = [point("busy", 100, 2.5), point("none", 200, 2.0), point("ahead", p99_us, power_w)]
    assert [check.passed for check in analysis.checks(pa.Table.from_pylist(rows))] == passed


def window(way: str, number: int, power_w: float, gap_us: int = 1000) -> dict[str, Any]:
    place = {"point": f"gaps/{gap_us}-{way}", "group": "gaps", "way": way, "drive": "sata-850-pro", "gap_us": gap_us}
    return {**place, "window": number, "power_w": power_w, "cpus_w": power_w - 1.9}


def test_power_is_compared_window_by_window() -> None:
    """What the first window takes more in both ways is no difference between them."""
    ahead = [window("ahead", number, power) for number, power in enumerate((2.01, 1.96, 1.96))]
    none = [window("none", number, power) for number, power in enumerate((2.11, 2.05, 2.07))]
    other = [window("none", number, 2.0, 0) for number in range(3)]
    every, later = analysis.df_pairs(pa.Table.from_pylist([*none, *ahead, *other])).to_pylist()
    assert (every["point"], every["ahead"], every["part"]) == ("gaps/1000-none", "gaps/1000-ahead", "all")
    assert (every["windows"], later["windows"], later["part"]) == (3, 2, "later")
    assert every["power_w"] == pytest.approx(0.1)
    assert every["power_w_pm"] == pytest.approx(4.303 * 0.01 / 3**0.5, rel=1e-3), "although the windows spread by more"
    assert later["cpus_w"] == pytest.approx(0.1)
    assert later["ahead_power_w"] == pytest.approx(1.96)


def test_a_slower_clock_is_judged_beside_its_own_like() -> None:
    slow = [{**point(way, p99, 2.0), "group": "clocks", "cpufreq": "powersave"}
            for way, p99 in (("busy", 300), ("none", 500), ("ahead", 310))]  # fmt: skip
    rows = [point("busy", 100, 2.5), point("none", 200, 2.0), point("ahead", 105, 2.0), *slow]
    checks = analysis.checks(pa.Table.from_pylist([{"cpufreq": None, **row} for row in rows]))
    assert [check.passed for check in checks] == [True] * 4
    assert "1000 µs between reads, powersave" in checks[2].name
