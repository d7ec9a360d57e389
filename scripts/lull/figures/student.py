# SPDX-License-Identifier: BSD-3-Clause
"""Means of a few repetitions. Assumed: repetitions are independent and their spread is normal, as means of many are."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

LEVEL = 0.95


def mean(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean, and half its confidence interval: none is known of one repetition."""
    numbers = np.asarray(values, np.float64)
    if numbers.size < 2:
        return float(numbers.mean()), None
    error = float(numbers.std(ddof=1)) / math.sqrt(numbers.size)
    return float(numbers.mean()), error * quantile(int(numbers.size) - 1)


@cache
def quantile(degrees: int, level: float = LEVEL) -> float:
    """How many standard errors hold `level` of Student's distribution with so many degrees of freedom."""
    low, high = 0.0, 1.0
    while _within(high, degrees) < level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < level else (low, middle)
    return high


def _within(t: float, degrees: int) -> float:
    """The share between -t and t: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = total = (cosine if odd else 1.0) * (degrees > 1)
    for number in range(2 + odd, degrees - 1, 2):
        term *= cosine**2 * (number - 1) / number
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
