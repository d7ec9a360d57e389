# SPDX-License-Identifier: BSD-3-Clause
"""What sleep adds and a hint takes away, of made requests: by pairs, and from tables that came in pieces."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull_experiments.wake_net import analysis

COUNT = 40


def requests(name: str, latency: Callable[[int], float | None], **place: Any) -> list[dict[str, Any]]:
    """The requests of a point, by what its latency is. One without a latency was asked for twice."""
    state, way = name.split("-")
    own = {
        "point": f"states/{name}", "group": "states", "way": way, "gap_us": 10000, "state": state, "governor": "menu",
        "cpu": 4, "delay_us": 10.0, "early_us": 20, "random": 1, **place,
    }  # fmt: skip
    found = [{**own, "number": number, "latency_us": latency(number)} for number in range(COUNT)]
    return [row for row in found if row["latency_us"] is not None]


def common(number: int) -> float:
    """What the gap before a request does to its latency, in each point."""
    return 100.0 + 37 * number % 50


def test_what_all_points_share_is_no_spread() -> None:
    table = pa.Table.from_pylist(
        requests("C1-none", common)
        + requests("C4-none", lambda number: common(number) + 200)
        + requests("C4-ahead", lambda number: common(number) + 10)
    )
    (row,) = analysis.df_sleeps(table).to_pylist()
    assert (row["added_us"], row["added_us_low"], row["added_us_high"]) == pytest.approx((200, 200, 200))
    assert (row["removed"], row["removed_low"]) == pytest.approx((0.95, 0.95))
    assert [check.passed for check in analysis.checks([row])] == [True]


def test_requests_without_a_time_in_one_point_count_in_none() -> None:
    table = pa.Table.from_pylist(
        requests("C1-none", common)
        + requests("C4-none", lambda number: None if number % 3 == 0 else common(number) + 200)
    )
    (row,) = analysis.df_sleeps(table).to_pylist()
    assert row["added_us_low"] == pytest.approx(200)


def test_other_seeds_are_not_beside_each_other() -> None:
    table = pa.Table.from_pylist(requests("C1-none", common, random=2) + requests("C4-none", common))
    assert analysis.df_sleeps(table).num_rows == 0


def test_a_piece_that_came_first_gets_its_row_when_the_other_is_there() -> None:
    rows = requests("C4-none", lambda number: common(number) + 200) + requests("C1-none", common)
    tables = {
        "requests": pa.Table.from_pylist(rows),
        "counts": pa.table({"point": pa.array([], pa.string())}),
        "sleeps": pa.table({"point": pa.array([], pa.string())}),
        "points": pa.Table.from_pylist([]),
    }
    tables["points"] = pa.Table.from_pylist(
        [
            {**row, "events": COUNT, "twice": 0, "power_w": 1.0, "power_w_pm": None,
             **{f"{name}{end}_us": 1.0 for name in ("median", "p99") for end in ("", "_low", "_high")}}
            for row in rows
            if row["number"] == 0
        ]
    )  # fmt: skip
    made = analysis.conclude(tables, ["a", "b"])
    assert made.tables["sleeps"].num_rows == 1
    stored = Stored(Origin("gem5", "24", "detailed", "exynos5422"), made.tables)
    (said,) = analysis.against(stored)
    assert (said.here, said.published) == ("200", "106")
    (drawing,) = analysis.draw(stored)
    assert len(drawing.figure.axes) == 2


@pytest.mark.parametrize(("twice", "passed"), [(0, True), (1, False)])
def test_who_was_asked_twice_is_told_of(twice: int, passed: bool) -> None:
    (check,) = analysis.checks_of_points(pa.Table.from_pylist([{"point": "states/C4-none", "twice": twice}]))
    assert check.passed == passed
