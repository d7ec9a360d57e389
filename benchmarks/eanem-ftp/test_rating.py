# SPDX-License-Identifier: BSD-3-Clause
"""The second level in C: applications that send few heartbeats are rated once the answer is certain."""

from pathlib import Path

import pytest

from lull_experiments.eanem_ftp.modelled import ModelledMachine, linear, program_in


@pytest.fixture(scope="module")
def program(native: Path) -> Path:
    return program_in(native)


FEW = (0.5, 1, 3, 8, 15, 16)
"""Beats that an application with this goal sends in 50 intervals, after which the others do not wait for it."""
CAP_S = 5.0


def ratings(goal: float, count: int) -> int:
    """Intervals of so many ratings of an application that sends 16 beats in twice the time that its goal allows."""
    return int(count * 2 * 16 / goal * 10) + 100


@pytest.mark.parametrize("few", FEW)
def test_one_that_beats_rarely_is_made_fast_enough(program: Path, few: float) -> None:
    """All cores at their slowest clock, where it begins, give it 0.44 times its goal."""
    goal = few / CAP_S
    top = linear((4, 4, 2, 3))
    with ModelledMachine(program, lambda state: 2 * goal * linear(state) / top, [(goal, 1.1 * goal)]) as machine:
        machine.run(ratings(goal, 6))
        assert "too slow" in [why for _, why, _ in machine.decisions]
        assert machine.law(machine.state) >= goal
        assert all(machine.law(state) < goal for state in machine.slow), machine.slow


@pytest.mark.parametrize("few", FEW)
def test_one_that_beats_rarely_and_as_often_as_it_should_is_left_alone(program: Path, few: float) -> None:
    """Whichever part of a beat's time an interval begins at."""
    rate = few / CAP_S
    with ModelledMachine(program, lambda _: rate, [(0.95 * rate, 1.05 * rate)]) as machine:
        machine.run(ratings(rate, 6))
        assert [why for _, why, _ in machine.decisions] == ["application came"]


@pytest.mark.parametrize("few", FEW)
def test_one_that_beats_rarely_is_not_given_up_for_one_that_is_too_fast(program: Path, few: float) -> None:
    """The second beats rarely, as often as it should. The first beats three times as often as it should."""
    rate = few / CAP_S
    with ModelledMachine(
        program,
        lambda _: 300.0,
        [(100.0, 110.0), (0.95 * rate, 1.05 * rate)],
        share=lambda number: rate / 300 if number else 1.0,
    ) as machine:
        machine.run(ratings(rate, 4))
        assert [why for _, why, _ in machine.decisions] == ["application came"]


@pytest.mark.parametrize("few", [1, 3, 8])
def test_power_is_saved_when_one_that_beats_rarely_is_too_fast_too(program: Path, few: float) -> None:
    goal = few / CAP_S
    least = linear((4, 4, 0, 0))
    with ModelledMachine(
        program,
        linear,
        [(least / 3, least / 2.7), (goal, 1.1 * goal)],
        share=lambda number: 3 * goal / least if number else 1.0,
    ) as machine:
        machine.run(ratings(goal, 6))
        assert "less power" in [why for _, why, _ in machine.decisions]
        assert linear(machine.state) >= least / 3


def test_one_that_beats_rarely_lets_others_be_made_faster(program: Path) -> None:
    """It could not be rated in this time."""
    goal = 0.5 * linear((4, 4, 2, 3))
    with ModelledMachine(
        program, linear, [(goal, 1.1 * goal), (0.001, 0.002)], share=lambda number: 1e-6 if number else 1.0
    ) as machine:
        machine.run(200)
        assert linear(machine.state) >= goal
