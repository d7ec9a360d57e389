# SPDX-License-Identifier: BSD-3-Clause
"""The verdict on a watch's power and response: in one boot by its windows, over boots by the boots. On made tables."""

from typing import Any

import pyarrow as pa
import pytest

from lull.figures import boots
from lull_experiments.waeas_wearable import analysis


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


def concluded(*rows: dict[str, Any]) -> dict[str, bool]:
    made = pa.Table.from_pylist([sample for row in rows for sample in samples(row["point"], (0, 5000))])
    tables = {"points": pa.Table.from_pylist(list(rows)), "samples": made}
    found = analysis.conclude(tables, [row["point"] for row in rows])
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
    assert concluded(*three(0.0230, 0.0231, 0.0230))["all"] is True
    assert concluded(*three(0.0230, 0.0236, 0.0230))["all"] is False, "no boot's interval says so"


def test_each_way_is_set_beside_eas_of_the_same_boot() -> None:
    rows = [point("eas", 0.02, 6000, 0), point("eas", 0.04, 6000, 1), point("waeas", 0.01, 6060, 0)]
    savings = analysis.df_savings(pa.Table.from_pylist([*rows, point("waeas", 0.03, 6060, 1)]))
    assert [row["cpus_saved"] for row in savings] == [pytest.approx(0.5), pytest.approx(0.25)]
    assert savings[0]["p99_later"] == pytest.approx(0.01)
    table = boots.df_boots(savings, analysis.SAME, analysis.OVER_BOOTS)
    assert table is not None
    assert table.to_pylist()[0]["cpus_saved_most"] == pytest.approx(0.5)


def test_samples_are_told_apart_by_what_came_shortly_before() -> None:
    one = samples("one", (0, 4000), (3000, 5000), (6000, 5500), (20000, 4200))
    rows = analysis.df_crowds(pa.Table.from_pylist(one + samples("other", (1000, 9000)))).to_pylist()
    assert [(row["point"], row["others"], row["events"], row["longest_us"]) for row in rows] == [
        ("one", 0, 2, 4200),
        ("one", 1, 2, 5500),
        ("other", 0, 1, 9000),
    ]


def test_samples_that_take_longer_than_any_with_eas_are_counted() -> None:
    waeas = [{**row, "way": "waeas"} for row in samples("other", (0, 5000), (20000, 4300), (40000, 4100))]
    alone = samples("one", (0, 4000), (20000, 4200))
    rows = analysis.df_crowds(pa.Table.from_pylist(alone + waeas)).to_pylist()
    assert [(row["point"], row["beyond_eas"]) for row in rows] == [("one", 0), ("other", 2)]
    (row,) = analysis.df_crowds(pa.Table.from_pylist(waeas)).to_pylist()
    assert row["beyond_eas"] is None
