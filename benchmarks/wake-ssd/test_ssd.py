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


def test_a_slower_clock_is_judged_beside_its_own_like() -> None:
    slow = [{**point(way, p99, 2.0), "group": "clocks", "cpufreq": "powersave"}
            for way, p99 in (("busy", 300), ("none", 500), ("ahead", 310))]  # fmt: skip
    rows = [point("busy", 100, 2.5), point("none", 200, 2.0), point("ahead", 105, 2.0), *slow]
    checks = analysis.checks(pa.Table.from_pylist([{"cpufreq": None, **row} for row in rows]))
    assert [check.passed for check in checks] == [True] * 4
    assert "1000 µs between reads, powersave" in checks[2].name
