# SPDX-License-Identifier: BSD-3-Clause
"""Confidence intervals by the bootstrap, which assumes no distribution: latencies have steps and long tails.

`scipy.stats.bootstrap` gives the same kind of interval. It is not used, because SciPy is large (`student` says more),
and because another order of random numbers would change the published intervals.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lull.statistics.student import LEVEL

RESAMPLES = 1000
SEED = 20260101
"""The seed is fixed, so that the same data gives the same interval."""
_AT_ONCE = 100

Numbers = npt.NDArray[np.float64]


def quantiles(values: Numbers, shares: Sequence[float]) -> list[tuple[float, float, float]]:
    """Return each quantile with the ends of its interval, by the percentile bootstrap."""
    points = np.quantile(values, shares)
    return [
        (float(point), *interval(draw))
        for point, draw in zip(points, draws(values, shares, np.random.default_rng(SEED)), strict=True)
    ]


def draws(values: Numbers, shares: Sequence[float], generator: np.random.Generator) -> Numbers:
    """Return the quantiles of `RESAMPLES` resamples, one row per share."""
    found = np.empty((len(shares), RESAMPLES))
    for start in range(0, RESAMPLES, _AT_ONCE):
        picked = values[generator.integers(0, len(values), (_AT_ONCE, len(values)))]
        found[:, start : start + _AT_ONCE] = np.quantile(picked, shares, axis=1)
    return found


def mean(values: Numbers) -> tuple[float, float]:
    """Return the ends of the mean's interval."""
    generator = np.random.default_rng(SEED)
    return interval(
        np.concatenate(
            [
                values[generator.integers(0, len(values), (_AT_ONCE, len(values)))].mean(axis=1)
                for _ in range(RESAMPLES // _AT_ONCE)
            ]
        )
    )


def band(count: int) -> float:
    """Return the distance of an empirical from the true distribution, by Dvoretzky, Kiefer and Wolfowitz."""
    return math.sqrt(math.log(2 / (1 - LEVEL)) / (2 * count))


def medians(groups: Sequence[Numbers]) -> Numbers:
    """Return the medians of groups, each resampled separately: a row per group, a column per draw."""
    generator = np.random.default_rng(SEED)
    return np.vstack([draws(group, [0.5], generator) for group in groups])


def paired_medians(groups: Sequence[Numbers]) -> Numbers:
    """Return medians as `medians`, for groups whose values at one index belong to one event: each draw takes the same
    indices from all groups."""
    return np.vstack([draws(group, [0.5], np.random.default_rng(SEED)) for group in groups])


def interval(values: Numbers) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
