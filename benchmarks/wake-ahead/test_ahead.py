# SPDX-License-Identifier: BSD-3-Clause
"""Whether a CPU was ready in time, on made wake-ups."""

import pytest

from lull_experiments.wake_ahead import analysis


def wake(early_us: float, before: bool = False) -> dict[str, object]:
    return {"cpu": 1, "woken_before": before, "early_us": early_us}


def test_a_cpu_that_something_else_woke_says_nothing_of_its_exit() -> None:
    found = analysis.readiness([wake(3.0), wake(5.0), wake(-2.0), wake(650.0, before=True)])
    assert (found["slept"], found["woken_before"]) == (3, 1)
    assert found["slept_early_us"] == pytest.approx(4.0)
    assert (found["slept_early_most_us"], found["slept_late_us"]) == (5.0, 2.0)


def test_without_a_sleep_nothing_is_known() -> None:
    found = analysis.readiness([wake(650.0, before=True)])
    assert (found["slept_early_us"], found["slept_early_most_us"], found["slept_late_us"]) == (None, None, 0.0)
