# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on a watch's power and response: in one boot by its windows, over boots by the boots. On made tables."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lull.figures import boots, waiting
from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull.scenario.load import load_scenario
from lull.trace import waiting_tasks
from lull.trace.clock import TICKS_PER_US
from lull_experiments.waeas_wearable import analysis, crowds


def point(way: str, cpus_w: float, p99_us: float, boot: int = 0, half: float = 0.0002) -> dict[str, Any]:
    return {
        "point": f"{boot}-{way}", "group": "boots", "way": way, "sensors": "all", "governor": "menu", "boot": boot,
        "events": 132, "median_us": 5000.0, "median_low_us": 4900.0, "median_high_us": 5100.0,
        "p99_us": p99_us, "p99_low_us": p99_us - 100, "p99_high_us": p99_us + 100,
        "power_w": cpus_w + 0.02, "power_w_pm": half, "cpus_w": cpus_w, "cpus_w_pm": half,
    }  # fmt: skip


def samples(point: str, *times: tuple[float, float]) -> list[dict[str, Any]]:
    own = {"point": point, "group": "boots", "way": "eas", "sensors": "all", "governor": "menu", "boot": 0}
    return [{**own, "sensor": "heart", "came_us": came, "response_us": response} for came, response in times]


def tables(*rows: dict[str, Any]) -> dict[str, pa.Table]:
    """Two windows of each point, one above its mean and one below."""
    windows = [
        {"point": row["point"], **{name: row[name] + off for name in ("power_w", "cpus_w")}}
        for row in rows
        for off in (-1e-5, 2e-5)
    ]
    return {"points": pa.Table.from_pylist(list(rows)), "windows": pa.Table.from_pylist(windows)}


def concluded(*rows: dict[str, Any]) -> dict[str, bool]:
    made = pa.Table.from_pylist([sample for row in rows for sample in samples(row["point"], (0, 5000))])
    found = analysis.conclude({**tables(*rows), "samples": made}, [row["point"] for row in rows])
    return {check.name.split(":")[0]: check.passed for check in found.checks}


@pytest.mark.parametrize(
    ("cpus_w", "p99_us", "holds"),
    [(0.0230, 6000, True), (0.0233, 6000, False), (0.0230, 6150, True), (0.023, 6300, False)],
)
def test_one_boot_is_judged_by_intervals(cpus_w: float, p99_us: float, holds: bool) -> None:
    assert concluded(point("eas", 0.0235, 6000), point("waeas", cpus_w, p99_us)) == {"0-waeas": holds}


def three(*watts: float) -> list[dict[str, Any]]:
    """Three boots with EAS, and WAEAS in each of them."""
    return [
        made
        for boot, cpus_w in enumerate(watts)
        for made in (point("eas", 0.0235, 6000, boot), point("waeas", cpus_w, 6000, boot))
    ]


def test_boots_are_judged_by_what_differs_between_them() -> None:
    assert concluded(*three(0.0230, 0.0231, 0.0230))["waeas, all"] is True
    assert concluded(*three(0.0230, 0.0236, 0.0230))["waeas, all"] is False, "no boot's interval says so"


def test_each_way_is_set_beside_eas_of_the_same_boot() -> None:
    rows = [point("eas", 0.02, 6000, 0), point("eas", 0.04, 6000, 1), point("waeas", 0.01, 6060, 0)]
    savings = analysis.df_savings(pa.Table.from_pylist([*rows, point("waeas", 0.03, 6060, 1)]))
    assert [row["cpus_saved"] for row in savings] == [pytest.approx(0.5), pytest.approx(0.25)]
    assert savings[0]["p99_later"] == pytest.approx(0.01)
    table = boots.df_boots(savings, analysis.SAME, analysis.OVER_BOOTS)
    assert table is not None
    assert table.to_pylist()[0]["cpus_saved_most"] == pytest.approx(0.5)


def crowded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = crowds.df_crowds(
        pa.Table.from_pylist(rows), analysis.PLACE, analysis.SAME
    ).to_pylist()
    return found


def test_samples_are_told_apart_by_what_came_shortly_before_or_after() -> None:
    one = samples("one", (0, 4000), (3000, 5000), (6000, 5500), (20000, 4200))
    rows = crowded(one + samples("other", (1000, 9000)))
    assert [(row["point"], row["company"], row["events"], row["longest_us"]) for row in rows] == [
        ("one", "alone", 1, 4200),
        ("one", "followed", 1, 4000),
        ("one", "behind", 2, 5500),
        ("other", "alone", 1, 9000),
    ]


def test_a_sample_exactly_a_crowds_time_away_is_no_company() -> None:
    apart = samples("one", (0, 4000), (crowds.CROWD_US, 4000))
    assert [row["company"] for row in crowded(apart)] == ["alone"]


def test_samples_that_take_longer_than_any_with_eas_are_counted() -> None:
    waeas = [{**row, "way": "waeas"} for row in samples("other", (0, 5000), (20000, 4300), (40000, 4100))]
    alone = samples("one", (0, 4000), (20000, 4200))
    assert [(row["point"], row["beyond_eas"]) for row in crowded(alone + waeas)] == [("one", 0), ("other", 2)]
    (row,) = crowded(waeas)
    assert row["beyond_eas"] is None


def test_samples_are_compared_with_those_of_the_same_company() -> None:
    waeas = [{**row, "way": "waeas"} for row in samples("other", (0, 4500), (3000, 4900))]
    together = samples("one", (0, 4000), (3000, 5000))
    rows = crowded(together + waeas)
    assert [(row["company"], row["beyond_eas"]) for row in rows[2:]] == [("followed", 1), ("behind", 0)]


def verdict(*rows: dict[str, Any]) -> list[dict[str, Any]]:
    made = tables(*rows)
    return analysis.df_verdict(waiting.with_defaults(made["points"], analysis.DEFAULTS), made["windows"])


def test_waeas_is_beside_the_cheapest_way_of_today_that_is_not_later() -> None:
    ways = [point("eas", 0.0240, 6000), point("two", 0.0230, 6100), point("one", 0.0200, 9000)]
    (row,) = verdict(*ways, point("waeas", 0.0220, 6200))
    assert (row["best_way"], row["ran"], row["kept"]) == ("two", 3, 2)
    assert row["cpus_saved"] == pytest.approx(1 - 22 / 23, abs=1e-4)
    assert row["cpus_saved_pm"] > 0
    assert row["p99_later"] == pytest.approx(6200 / 6100 - 1)


def test_one_way_of_today_is_no_choice() -> None:
    assert verdict(point("eas", 0.0240, 6000), point("waeas", 0.0220, 6200)) == []


@pytest.mark.parametrize(("watts", "holds"), [((0.0220, 0.0221, 0.0220), True), ((0.0220, 0.0240, 0.0225), False)])
def test_the_verdict_is_over_boots(watts: tuple[float, ...], holds: bool) -> None:
    ways = [(boot, way, cpus_w) for boot, own in enumerate(watts)
            for way, cpus_w in (("eas", 0.0240), ("two", 0.0230), ("waeas", own))]  # fmt: skip
    rows = [point(way, cpus_w, 6000, boot) for boot, way, cpus_w in ways]
    made = pa.Table.from_pylist([sample for row in rows for sample in samples(row["point"], (0, 5000))])
    found = analysis.conclude({**tables(*rows), "samples": made}, [row["point"] for row in rows])
    (check,) = [check for check in found.checks if "today" in check.name]
    assert check.passed == holds
    assert "Beside the best of today's Linux" in found.summary
    assert "The same over boots" in found.summary


def test_other_parameters_are_other_ways() -> None:
    rows = [point("eas", 0.0240, 6000), point("waeas", 0.0220, 6200), point("waeas", 0.0210, 6900)]
    for row, percent, wake_us in zip(rows, (80, 80, 95), (90.0, 120.0, 110.0), strict=True):
        row |= {"point": f"{row['way']}-{percent}", "pack_percent": percent, "wake_p99_us": wake_us}
    made = pa.Table.from_pylist([sample for row in rows for sample in samples(row["point"], (0, 5000))])
    found = analysis.conclude({**tables(*rows), "samples": made}, [row["point"] for row in rows])
    pareto = {row["label"]: (row["best_by_p99_us"], row["best_by_wake_p99_us"])
              for row in found.tables["pareto"].to_pylist()}  # fmt: skip
    assert pareto == {"eas": (True, True), "waeas": (True, False), "waeas pack_percent=95": (True, True)}
    stored = Stored(Origin("gem5", "24", "detailed", "rk3399"), found.tables)
    assert [drawing.name for drawing in analysis.draw(stored)] == ["ways", "pareto"]


def test_published_points_have_the_defaults_of_the_scenario() -> None:
    parameters = load_scenario("waeas-wearable").parameters
    assert {name: parameters[name].default for name in analysis.DEFAULTS} == analysis.DEFAULTS
    assert set(analysis.TODAY) < set(parameters["way"].choices)


def test_a_task_waits_from_its_waking_until_it_runs() -> None:
    waking, leaves, runs = range(3)
    rows = [(7, 10, waking), (7, 30, runs), (7, 40, waking), (7, 50, leaves), (8, 12, waking), (8, 15, runs)]
    at, waits = waiting_tasks.paired(np.array(rows[::-1], np.int64).T)
    assert (at.tolist(), (waits * TICKS_PER_US).tolist()) == ([10, 12], pytest.approx([20, 3]))
