# SPDX-License-Identifier: BSD-3-Clause
"""A line through points: beside numpy's, and with intervals that hold what they should."""

import math

import numpy as np
import pytest

from lull.scenario import experiments


@pytest.fixture
def line() -> object:
    from lull.files.paths import ROOT

    return experiments.analysis_in(ROOT / "benchmarks/eanem-packets").line


def test_it_is_least_squares(line) -> None:  # type: ignore[no-untyped-def]
    x, y = [0.1, 0.4, 0.7, 1.1, 1.3], [1.2, 3.8, 7.4, 10.9, 13.2]
    fit = line.fit(x, y)
    alpha, beta = np.polyfit(x, y, 1)
    assert fit["alpha"] == pytest.approx(alpha)
    assert fit["beta"] == pytest.approx(beta)
    assert fit["r2"] == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)


def test_points_on_a_line_leave_nothing(line) -> None:  # type: ignore[no-untyped-def]
    fit = line.fit([1, 2, 3, 4], [3, 5, 7, 9])
    assert (fit["alpha"], fit["beta"], fit["r2"]) == pytest.approx((2, 1, 1))
    assert fit["alpha_pm"] == pytest.approx(0, abs=1e-9)


def test_intervals_hold_the_truth_about_19_times_in_20(line) -> None:  # type: ignore[no-untyped-def]
    random = np.random.default_rng(1)
    x = np.linspace(0, 1, 8)
    fits = [line.fit(x, 3 * x + 1 + random.normal(0, 0.1, 8)) for _ in range(400)]
    for name, truth in (("alpha", 3), ("beta", 1)):
        held = sum(abs(fit[name] - truth) <= fit[f"{name}_pm"] for fit in fits)
        assert 365 <= held <= 395


def test_what_a_packet_costs_has_intervals_that_hold_the_truth(line) -> None:  # type: ignore[no-untyped-def]
    """10000 cycles and 10 µs a packet, and 20 MHz besides: alpha is 1e9 / 10000, and beta -0.02 of that."""
    random = np.random.default_rng(2)
    clock, rate = (each.ravel() for each in np.meshgrid([0.4, 0.8, 1.4], [2e3, 6e3, 10e3, 14e3]))
    load = rate * (10e-6 / clock + 10e-6) + 0.02 / clock
    fits = [line.price(rate, clock, load + random.normal(0, 0.005, load.size)) for _ in range(400)]
    truths = {"cycles": 10e3, "tau_us": 10, "base_mhz": 20, "alpha_t": 1e5, "beta_t": -2e3}
    for name, truth in truths.items():
        held = sum(abs(fit[name] - truth) <= fit[f"{name}_pm"] for fit in fits)
        assert 365 <= held <= 395, name


def test_one_place_has_no_line(line) -> None:  # type: ignore[no-untyped-def]
    assert math.isnan(line.fit([1, 1, 1], [1, 2, 3])["r2"])


def test_a_line_is_judged_by_points_that_it_was_not_put_through(line) -> None:  # type: ignore[no-untyped-def]
    judged = line.judge([0, 1, 2], [1, 3, 5], 2, 1)
    assert (judged["r2_intervals"], judged["error"]) == pytest.approx((1, 0))
    judged = line.judge([0, 1, 2], [2, 3, 4], 0, 3)
    assert judged["r2_intervals"] == pytest.approx(0)
    assert judged["error"] == pytest.approx(math.sqrt(2 / 3) / 3)
