# SPDX-License-Identifier: BSD-3-Clause
"""Means of a few repetitions, and Student's distribution.

Assumed: repetitions are independent, and their spread is normal, as that of means of many values is.

SciPy has the distribution (`scipy.stats.t`). It is not used, because only a quantile is needed, and SciPy has about
100 MB and is slow to import. A test compares the quantile with values of tables and of SciPy.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
"""The confidence level of every interval."""


def mean(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean, and half its confidence interval; None instead of the half for one repetition."""
    numbers = np.asarray(values, np.float64)
    if numbers.size < 2:
        return float(numbers.mean()), None
    error = float(numbers.std(ddof=1)) / math.sqrt(numbers.size)
    return float(numbers.mean()), error * quantile(int(numbers.size) - 1)


def growth(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the slope of the running total of values that follow each other, and half its confidence interval.

    For values that differ because something whole falls into one of them or into the next, such as a burst of packets
    into intervals of time. The total is then never off by more than one such thing, so the slope is known better than
    the mean of as many independent values. Assumed: neighbours do differ for this reason (see `neighbours`).
    """
    totals = np.concatenate([[0.0], np.cumsum(np.asarray(values, np.float64))])
    times = np.arange(totals.size) - (totals.size - 1) / 2
    slope = float(times @ totals / (times @ times))
    freedom = totals.size - 2
    if freedom < 2:
        return slope, None
    left = totals - totals.mean() - slope * times
    return slope, math.sqrt(float(left @ left) / freedom / float(times @ times)) * quantile(freedom)


def neighbours(values: Sequence[float]) -> float | None:
    """Return the correlation of each value with the next one: about -0.5 where `growth` applies, 0 if independent.

    None: all values are equal, or there are fewer than three.
    """
    numbers = np.asarray(values, np.float64)
    apart = numbers - numbers.mean()
    if numbers.size < 3 or not apart.any():
        return None
    return float(apart[:-1] @ apart[1:] / (apart @ apart))


def ends(middle: float, half: float | None) -> tuple[float, float]:
    """Return the ends of an interval. For one repetition they are infinite, so that they reach no goal."""
    reach = math.inf if half is None else half
    return middle - reach, middle + reach


def prediction(values: Sequence[float], count: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the mean of these repetitions, and half the interval around it that holds the mean of `count` more."""
    numbers = np.asarray(values, np.float64)
    spread = float(numbers.std(ddof=1)) * math.sqrt(1 / numbers.size + 1 / count)
    return float(numbers.mean()), spread * quantile(int(numbers.size) - 1, level)


def ratio(one: float, others: Sequence[float]) -> tuple[float, float, float]:
    """Return one value over the mean of others, and the ends of the ratio's interval, by Fieller's theorem.

    Assumed: the one value spreads as the others do, because a single value has no spread of its own. The interval has
    no ends where the others are fewer than two, or where their mean may be 0.
    """
    numbers = np.asarray(others, np.float64)
    middle = float(numbers.mean())
    point = one / middle if middle else math.inf
    if numbers.size < 2:
        return point, -math.inf, math.inf
    reach = (float(numbers.std(ddof=1)) * quantile(int(numbers.size) - 1)) ** 2
    below = middle * middle - reach / numbers.size
    if below <= 0:
        return point, -math.inf, math.inf
    half = math.sqrt(reach * (one * one / numbers.size + below))
    return point, (one * middle - half) / below, (one * middle + half) / below


def quotient(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """Return the second mean over the first, and the ends of the ratio's interval, by Fieller's theorem.

    Assumed: the two are independent, each with a spread of its own (Welch's degrees of freedom). The interval has no
    ends where one of them has fewer than two values, or where the first mean may be 0.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    under, over = float(a.mean()), float(b.mean())
    if not under or min(a.size, b.size) < 2:
        return over / under if under else math.inf, -math.inf, math.inf
    point = over / under
    below, above = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
    both = above + point * point * below
    if not both:
        return point, point, point
    freedom = both**2 / (above**2 / (b.size - 1) + (point * point * below) ** 2 / (a.size - 1))
    reach = quantile(freedom) ** 2
    least = under * under - reach * below
    if least <= 0:
        return point, -math.inf, math.inf
    half = math.sqrt(reach * (below * over * over + above * under * under - reach * below * above))
    return point, (under * over - half) / least, (under * over + half) / least


def paired(first: Sequence[float], second: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean of the second values minus the first, pair by pair, and half its interval.

    The interval is narrower than that of `difference` if the values of a pair vary together, for example because of the
    same events. If one side has more values, the surplus does not count.
    """
    return mean([b - a for a, b in zip(first, second, strict=False)])


def difference(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """Return the second mean minus the first, and the ends of its interval, by Welch's t.

    Without any spread, the interval has no width. With only one value on a side, the ends are infinite.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    gap = float(b.mean() - a.mean())
    if min(a.size, b.size) < 2:
        return gap, -math.inf, math.inf
    return (gap, *welch(a, b)[:2]) if a.var() + b.var() else (gap, gap, gap)


def welch(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the interval of the second mean minus the first, and the p-value, by Welch's t.

    The p-value is the probability of means at least this far apart if the true means are equal. It is below 5 % if 0 is
    outside of the interval.
    """
    a, b = first.var(ddof=1) / len(first), second.var(ddof=1) / len(second)
    gap, error = float(second.mean() - first.mean()), math.sqrt(a + b)
    freedom = float((a + b) ** 2 / (a**2 / (len(first) - 1) + b**2 / (len(second) - 1)))
    half = error * quantile(freedom)
    return gap - half, gap + half, beyond(gap / error, freedom)


@cache
def quantile(degrees: float, level: float = LEVEL) -> float:
    """Return the number of standard errors that contain `level` of Student's distribution with these degrees."""
    low, high = 0.0, 1.0
    while 1 - beyond(high, degrees) < level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - beyond(middle, degrees) < level else (low, middle)
    return high


def beyond(t: float, degrees: float) -> float:
    """Return the share of the distribution farther from 0 than t, on both sides."""
    return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    ) / a  # fmt: skip
    tiny = 1e-300
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    c, value = 1.0, d
    for m in range(1, 500):
        step = 1.0
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            step = c * d
            value *= step
        if abs(step - 1) < 1e-14:
            break
    return front * value
