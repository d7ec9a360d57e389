# SPDX-License-Identifier: BSD-3-Clause
"""The checks of the phase, on made rows."""

from typing import Any

from lull_experiments.esm_phase import analysis


def poll(after_us: int, median_us: float, series: str = "pull 16 ms") -> dict[str, Any]:
    return {"series": series, "after_us": after_us, "median_us": median_us}


def less(after_us: int, power_w: float, half: float, suffix: str = "") -> dict[str, Any]:
    return {
        "series": f"ESM{suffix}", "against": f"pull 16 ms{suffix}", "after_us": after_us, "power_w": power_w,
        "power_w_pm": half,
    }  # fmt: skip


def test_a_poll_answers_when_the_next_look_is_due() -> None:
    """An event that comes with a look belongs to this look, and one 4 ms later waits for 12 ms."""
    (check,) = analysis.waits_for_the_look([poll(0, 180.0), poll(4000, 12200.0)])
    assert check.passed
    assert "180 µs after the look is due at 0" in check.says
    for wrong in (poll(4000, 28200.0), poll(0, 16100.0), poll(4000, 11900.0)):
        (check,) = analysis.waits_for_the_look([poll(8000, 8200.0), wrong])
        assert not check.passed
    assert not analysis.waits_for_the_look([poll(4000, 12200.0, "ESM")])


def test_the_saving_at_random_times_lies_between_those_at_fixed_ones() -> None:
    fixed = [less(0, -0.0012, 0.0001), less(8000, -0.0020, 0.0001)]
    (check,) = analysis.as_at_random([*fixed, less(0, -0.0016, 0.0001, ", at random")])
    assert check.passed
    assert check.says.startswith("at random 1.60 ± 0.10 mW; least 1.20")
    for saved in (-0.0025, -0.0008):
        (check,) = analysis.as_at_random([*fixed, less(0, saved, 0.0001, ", at random")])
        assert not check.passed
    assert not analysis.as_at_random(fixed)
