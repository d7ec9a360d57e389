# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as tables show them."""

import math

import pytest

from lull.plotting.numbers import number, with_interval


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.17153, "0.1715"),
        (151.04, "151"),
        (7769.2, "7769"),
        (51234.5, "51234"),
        (9999.6, "10000"),
        (3.2e12, "3.2e+12"),
        (3.2e-7, "3.2e-07"),
    ],
)
def test_no_power_of_ten_where_digits_will_do(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "half", "shown"),
    [
        (0.8824, 0.1192, "0.88 ± 0.12"),
        (128.04, 0.2149, "128.04 ± 0.21"),
        (51234.5, 3512.0, "51234 ± 3512"),
        (3.0, 12.7, "3 ± 13"),
        (-0.0001, 0.15, "0.00 ± 0.15"),
        (4.0, 0.0, "4 ± 0"),
        (4.0, None, "4"),
        (4.0, math.inf, "4 ± inf"),
        (1.5e-9, 2.5e-9, "1.5e-09 ± 2.5e-09"),
        (99.96, 0.0996, "99.96 ± 0.10"),
    ],
)
def test_an_interval_says_how_many_digits_count(value: float, half: float | None, shown: str) -> None:
    assert with_interval(value, half) == shown


def test_a_difference_shows_its_sign() -> None:
    assert with_interval(1.234, 0.5, "+") == "+1.23 ± 0.50"
    assert number(51234.5, sign="+") == "+51234"
