# SPDX-License-Identifier: BSD-3-Clause
"""Steps of made intervals: error with its interval, how far beyond the target, and when the step is over."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from lull.results.drawing import Stored
from lull.rundir.origin import Origin
from lull_experiments.eanem_control import analysis


def intervals(after: Sequence[float], before: float = 100.0, target: float = 200.0) -> pa.Table:
    """Of a step, by the bandwidth of the intervals after it."""
    rows = [(0, 0, before, before), *((1, number, target, mbit_s) for number, mbit_s in enumerate(after))]
    return pa.Table.from_pylist(
        [
            {"point": "rtt-1/200000", "group": "rtt-1", "delay_us": 500, "delta_us": 0, "interval_us": 10000,
             "phase": phase, "number": number, "target_mbit_s": goal, "mbit_s": mbit_s, "window_bytes": 1}
            for phase, number, goal, mbit_s in rows
        ]
    )  # fmt: skip


def step(after: Sequence[float], before: float = 100.0, target: float = 200.0) -> dict[str, Any]:
    """The row of a step."""
    found: list[dict[str, Any]] = analysis.df_points(intervals(after, before, target)).to_pylist()
    return found[0]


def test_a_step_up_that_shoots_over() -> None:
    row = step([150, 260, 230, 205, 198, 200, 202, 198])
    assert row["beyond"] == pytest.approx(0.3)
    assert row["over_after"] == 3
    assert row["error"] == pytest.approx(1e-3)
    assert row["spread"] == pytest.approx(0.01 * (2 / 3) ** 0.5)


def test_what_is_not_yet_there_is_not_beyond() -> None:
    assert step([150, 180, 196, 199, 199, 199, 199])["beyond"] == 0
    row = step([80, 60, 45, 50, 50, 50, 50], 100.0, 50.0)
    assert row["beyond"] == pytest.approx(0.1), "a step down is beyond its target below it"


def test_a_step_that_is_never_over() -> None:
    row = step([200, 200, 200, 200, 200, 200, 260])
    assert row["over_after"] is None
    assert step([200] * 7)["over_after"] == 0


def test_intervals_that_swing_do_not_tell_when_a_step_is_over() -> None:
    """An interval of 7 or of 8 windows is no step."""
    row = step([200] * 6 + [182, 207, 182, 207, 207])
    assert row["spread"] > analysis.BAND
    assert row["over_after"] is None
    assert analysis._over_text({**row, "interval_us": 10000}) == ("not known", "-")
    assert analysis._over_text({**row, "spread": 0.01}) == ("never", "-")


@pytest.mark.parametrize(
    ("after", "passed"),
    [
        ((200.1, 199.9, 200.2), True),
        ((150, 250, 200), False),
        ((206, 206.1, 205.9), False),
        ((200, 200), False),
        ((182, 207, 207, 207, 207, 182, 207, 207, 207, 182, 207), True),
        ((193, 194, 195, 197, 199, 201, 203, 205, 206, 207, 207), False),
        ((199, 199, 199.5, 199.5, 200, 200, 200.5, 200.5, 201, 201), True),
    ],
    ids=[
        "near",
        "near on average",
        "off",
        "two intervals",
        "windows fall into one or the next",
        "drifts",
        "drifts little",
    ],
)
def test_the_goal_is_reached_by_the_whole_interval(after: Sequence[float], passed: bool) -> None:
    (check,) = analysis.checks(pa.Table.from_pylist([step([200] * 5 + list(after))]))
    assert check.passed == passed


def test_steps_and_targets_are_drawn() -> None:
    table = intervals([150, 200, 200, 200, 200, 200, 201])
    stored = Stored(
        Origin("gem5", "24", "detailed", "exynos5422"), {"intervals": table, "points": analysis.df_points(table)}
    )
    assert [drawing.name for drawing in analysis.draw(stored)] == ["targets", "steps"]
    (said,) = analysis.against(stored)
    assert (said.here, said.published) == ("0.25", "tracks it")
