# SPDX-License-Identifier: BSD-3-Clause
"""Our own statistics, against what tables and SciPy give."""

import numpy as np
import pytest

from lull.statistics import bootstrap, student


@pytest.mark.parametrize(
    ("degrees", "level", "expected"),
    [
        # Two-sided, as every printed table of Student's t has them; scipy.stats.t.ppf((1 + level) / 2, degrees).
        (1, 0.95, 12.706204736), (2, 0.95, 4.302652730), (3, 0.95, 3.182446305), (4, 0.95, 2.776445105),
        (5, 0.95, 2.570581836), (9, 0.95, 2.262157163), (10, 0.95, 2.228138852), (30, 0.95, 2.042272456),
        (120, 0.95, 1.979930405), (1, 0.99, 63.656741162), (4, 0.99, 4.604094871), (30, 0.99, 2.749995654),
        (1, 0.5, 1.0), (10, 0.5, 0.699812061), (1_000_000, 0.95, 1.959966356),
    ],
)  # fmt: skip
def test_quantiles_of_students_t(degrees: float, level: float, expected: float) -> None:
    assert student.quantile(degrees, level) == pytest.approx(expected, rel=2e-9)


def test_the_mean_of_more_repetitions_is_predicted() -> None:
    """By hand: a spread of 1 times sqrt(1/3 + 1/m), times the t of two degrees."""
    for more, expected in ((1, 4.302652730 * np.sqrt(4 / 3)), (3, 4.302652730 * np.sqrt(2 / 3))):
        mean, apart = student.prediction([1, 2, 3], more)
        assert (mean, apart) == pytest.approx((2.0, expected), rel=1e-8)
    assert student.prediction([7, 7], 1) == (7.0, 0.0)


def test_a_ratio_has_the_interval_of_fieller() -> None:
    """Known: the ends are where the one value differs from so many times the mean by just the critical t."""
    others = [0.99, 1.0, 1.01, 1.02]
    point, low, high = student.ratio(2.0, others)
    mean, spread = float(np.mean(others)), float(np.std(others, ddof=1))
    assert point == pytest.approx(2.0 / mean)
    assert low < point < high
    for end in (low, high):
        t = abs(2.0 - end * mean) / (spread * (1 + end**2 / 4) ** 0.5)
        assert t == pytest.approx(3.182446, rel=1e-6)


def test_an_interval_of_a_ratio_holds_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(5)
    trials = 2000
    draws = generator.normal([3.0, *[1.0] * 5], 0.1, (trials, 6))
    held = sum(low <= 3.0 <= high for _, low, high in (student.ratio(row[0], row[1:]) for row in draws))
    assert held / trials == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("others", [[1.0], [1.0, -1.0], [0.1, 2.0]])
def test_a_ratio_to_too_little_has_no_ends(others: list[float]) -> None:
    assert student.ratio(2.0, others)[1:] == (-np.inf, np.inf)


def test_a_quotient_of_means_is_that_of_one_value_s_where_only_one_spreads() -> None:
    """Closed forms: with an exact first mean, the second's interval over it; with an exact second, its reciprocal."""
    others = [0.99, 1.0, 1.01, 1.02]
    mean, half = student.mean(others)
    assert half is not None
    assert student.quotient([2.0, 2.0], others) == pytest.approx((mean / 2, (mean - half) / 2, (mean + half) / 2))
    assert student.quotient(others, [2.0, 2.0]) == pytest.approx((2 / mean, 2 / (mean + half), 2 / (mean - half)))


def test_an_interval_of_a_quotient_holds_the_truth_as_often_as_it_says() -> None:
    generator = np.random.default_rng(5)
    trials = 200
    first, second = (generator.normal(mean, 0.2, (trials, 4)) for mean in (2.0, 3.0))
    ends = [student.quotient(one, two)[1:] for one, two in zip(first.tolist(), second.tolist(), strict=True)]
    held = sum(low <= 1.5 <= high for low, high in ends)
    assert 0.93 <= held / trials <= 0.99, "Welch's degrees of freedom are few with four values, and intervals wide"


@pytest.mark.parametrize(("first", "second"), [([1.0], [1.0, 2.0]), ([1.0, 2.0], [1.0]), ([1.0, -1.0], [1.0, 2.0])])
def test_a_quotient_of_too_little_has_no_ends(first: list[float], second: list[float]) -> None:
    assert student.quotient(first, second)[1:] == (-np.inf, np.inf)


def test_values_in_pairs_are_compared_one_by_one() -> None:
    """The pairs differ by far more than the two of a pair do. A value without its other does not count."""
    gap, half = student.paired([100.0, 900.0, 400.0], [111.0, 910.0, 409.0, 7000.0])
    assert gap == pytest.approx(10)
    assert half == pytest.approx(4.3027 / 3**0.5, rel=1e-4)


def test_a_difference_without_spread_is_what_it_is() -> None:
    assert student.difference([1.0, 1.0], [3.0, 3.0]) == (2.0, 2.0, 2.0)
    assert student.difference([1.0], [3.0, 4.0]) == (2.5, -np.inf, np.inf)
    gap, low, high = student.difference([1.0, 2.0, 3.0], [4.0, 5.0, 7.0])
    assert (low, high) == pytest.approx(student.welch(np.array([1.0, 2, 3]), np.array([4.0, 5, 7]))[:2])
    assert gap == pytest.approx((low + high) / 2)


def test_an_interval_of_one_value_reaches_every_goal_and_none() -> None:
    assert student.ends(1.0, None) == (-np.inf, np.inf)
    assert student.ends(1.0, 0.5) == (0.5, 1.5)


def test_growth_of_bursts_that_fall_into_one_interval_or_the_next() -> None:
    """7.62 bursts in each interval: the slope's interval holds the truth, and is far narrower than the mean's."""
    bursts, held, times = 7.62, 0, 200
    draw = np.random.default_rng(1)
    for start in draw.random(times):
        counts = np.diff(np.floor(start + bursts * np.arange(12)))
        slope, half = student.growth(counts)
        assert half is not None
        assert half < 0.5 * (student.mean(counts)[1] or 0)
        held += abs(slope - bursts) <= half
    assert held >= 0.95 * times
    assert (student.neighbours(counts) or 0) < -0.3


def test_growth_of_equal_values_and_of_too_few() -> None:
    assert student.growth([2.0] * 5) == pytest.approx((2.0, 0.0))
    assert student.growth([2.0, 3.0])[1] is None
    assert student.neighbours([2.0] * 5) is None
    assert student.neighbours([1.0, 2.0]) is None
    assert student.neighbours([1.0, 2.0, 1.0, 2.0]) == pytest.approx(-0.75)


def test_medians_of_pairs_are_resampled_together() -> None:
    values = np.random.default_rng(3).exponential(10, 40)
    one, other = bootstrap.paired_medians([values, values + 5])
    assert np.allclose(other - one, 5), "what all events have in common has no spread"
    one, other = bootstrap.medians([values, values + 5])
    assert np.ptp(other - one) > 1


def test_tails_of_students_t() -> None:
    """Closed forms: of one degree of freedom (Cauchy) and of two."""
    for t in (0.1, 1.0, 3.0, 50.0):
        assert student.beyond(t, 1) == pytest.approx(1 - 2 * np.arctan(t) / np.pi, rel=1e-10)
        assert student.beyond(t, 2) == pytest.approx(1 - t / np.sqrt(2 + t * t), rel=1e-9)


def test_the_incomplete_beta_function() -> None:
    """I_x(1, b) = 1 - (1 - x)^b, and I_x(a, b) = 1 - I_{1-x}(b, a)."""
    for x in (0.01, 0.3, 0.7, 0.99):
        assert student.incomplete_beta(x, 1, 2.5) == pytest.approx(1 - (1 - x) ** 2.5, rel=1e-12)
        assert student.incomplete_beta(x, 3, 7) == pytest.approx(1 - student.incomplete_beta(1 - x, 7, 3), rel=1e-12)
    assert (student.incomplete_beta(0, 2, 3), student.incomplete_beta(1, 2, 3)) == (0.0, 1.0)


def test_the_interval_of_a_mean() -> None:
    """For 1 to 5, the standard error is sqrt(2.5 / 5), and t of four degrees of freedom is 2.776445."""
    assert student.mean([1, 2, 3, 4, 5]) == pytest.approx((3.0, 2.776445105 * np.sqrt(0.5)), rel=1e-8)
    assert student.mean([7.0]) == (7.0, None)


def test_the_bootstrap_of_a_mean_is_as_wide_as_theory_says() -> None:
    """For many values the interval is the normal one: 1.96 standard errors on either side."""
    values = np.random.default_rng(3).exponential(2.0, 4000)
    low, high = bootstrap.mean(values)
    error = values.std() / np.sqrt(values.size)
    assert (low + high) / 2 == pytest.approx(values.mean(), abs=0.3 * error)
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.08)


def test_the_bootstrap_of_a_quantile_holds_the_truth_as_often_as_it_says() -> None:
    """For 200 samples from a known distribution, 95 % of the intervals for the median hold its median."""
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        ((_, low, high),) = bootstrap.quantiles(generator.exponential(1.0, 101), [0.5])
        held += low <= np.log(2) <= high
    assert 180 <= held <= 199


def test_the_band_of_a_distribution() -> None:
    """Dvoretzky, Kiefer, Wolfowitz: for 95 % and 100 values 0.1358, as tables of Kolmogorov's statistic have it."""
    assert bootstrap.band(100) == pytest.approx(0.1358, abs=5e-5)
