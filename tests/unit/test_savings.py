# SPDX-License-Identifier: BSD-3-Clause
"""Curves of what is saved: which points a curve has, and which curves are drawn."""

from typing import Any

import numpy as np
from matplotlib.container import ErrorbarContainer

from lull.figures import savings

SAME = ("rate", "period", "way")


def row(rate: int, saved: float, **others: Any) -> dict[str, Any]:
    return {"rate": rate, "period": 25, "way": "staged", "saved": saved, "saved_pm": 0.01, **others}


def test_a_curve_has_the_points_that_differ_in_nothing_else() -> None:
    usual = row(1000, 0.2)
    rows = [row(2000, 0.1), usual, row(250, 0.3), row(500, 0.9, period=50), row(500, 0.8, way="released")]
    assert savings.over(rows, usual, "rate", SAME, "saved") == [(250, 0.3, 0.01), (1000, 0.2, 0.01), (2000, 0.1, 0.01)]


def test_the_axis_may_be_another_column_of_the_same_points() -> None:
    usual = row(1000, 0.2, busy=4.0)
    curve = savings.over([row(2000, 0.1, busy=7.5), usual], usual, "rate", SAME, "saved", "busy")
    assert curve == [(4.0, 0.2, 0.01), (7.5, 0.1, 0.01)]


def test_a_point_alone_is_no_curve() -> None:
    alone = savings.Curves("rate", {"machine": [(1000, 0.2, None)], "cpus": []})
    assert savings.plot("title", [alone, savings.Curves("period", {})]) is None


def test_curves_are_in_percent_with_intervals() -> None:
    figure = savings.plot(
        "title",
        [
            savings.Curves("rate", {"machine": [(1, 0.1, 0.02), (2, 0.2, None)], "cpus": [(1, 0.4, 0.1)]}),
            savings.Curves("period", {"machine": [(1, 0.1, 0.02)]}),
        ],
    )
    assert figure is not None
    (axis,) = figure.axes
    machine, cpus = (container for container in axis.containers if isinstance(container, ErrorbarContainer))
    line, bars = machine.lines[0], machine.lines[2][0]
    assert np.array_equal(line.get_ydata(), [10, 20])
    assert np.array_equal(bars.get_segments(), [[[1, 8], [1, 12]], [[2, 20], [2, 20]]])
    assert np.array_equal(cpus.lines[0].get_ydata(), [40])
    assert axis.get_xlabel() == "rate"
