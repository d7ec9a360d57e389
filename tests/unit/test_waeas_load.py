# SPDX-License-Identifier: BSD-3-Clause
"""The tables that the kernel's predictions of loads are compared with are those that floating point gives."""

from itertools import pairwise

import pytest

from lull.figures.load_trackers import ONE
from tests.waeas_load import CASES, CHANGES, TABLES, Load, Worked, drawn, predicted, tables


def test_the_tables_of_the_kernel_are_what_floating_point_gives() -> None:
    assert TABLES.read_text() == tables(), "write tests.waeas_load.tables() into the file"


def test_all_kinds_of_loads_are_drawn() -> None:
    loads = [drawn(seed) for seed in range(CASES)]
    answers = [predicted(load) for load in loads]
    assert {load.window for load in loads} == {1000, 20000, 100000}
    assert {load.idle_counts for load in loads} == {False, True}
    assert {load.alpha > 0 for load in loads} == {False, True}
    assert len({round(answer) for answer in answers}) > CASES / 2
    assert all(0 <= answer <= ONE for answer in answers)


def test_the_speed_changes_while_a_task_works_at_most_as_often_as_a_cpu_remembers() -> None:
    assert all(piece.slept for seed in range(CASES) for piece in drawn(seed).pieces)
    changes = {0}
    for seed in range(CASES):
        pieces = drawn(seed, changes=True).pieces
        assert all(earlier.end == later.start for earlier, later in pairwise(pieces) if not earlier.slept)
        ends = [at for at, piece in enumerate(pieces) if piece.slept]
        changes |= {later - earlier - 1 for earlier, later in pairwise([-1, *ends])}
    assert changes == set(range(CHANGES + 1))


def load_of(ms: list[int], alpha: int, speed: int = ONE) -> Load:
    """Windows of 20 ms, from the second on, each with so much work; then the next begins."""
    pieces = tuple(Worked(20000 * at, 20000 * at + 1000 * part, speed) for at, part in enumerate(ms, 1) if part)
    return Load(20000, alpha, False, pieces, 20000 * (len(ms) + 1))


@pytest.mark.parametrize(
    ("ms", "alpha", "expected_ms"),
    [
        ([6, 5, 4, 3, 2], 0, 4),  # the mean
        ([1, 2, 3, 4, 10], 0, 10),  # never less than the last
        ([6, 5, 4, 3, 2], 512, 2.921875),  # (6 + 5) / 2, then half of each and half of what was, by hand
        ([0, 9, 0, 3], 0, 6),  # a task's sleep is no window
        ([9, 9, 9, 6, 5, 4, 3, 2], 0, 4),  # five are remembered
    ],
)
def test_the_reference_is_the_papers(ms: list[int], alpha: int, expected_ms: float) -> None:
    assert predicted(load_of(ms, alpha)) == pytest.approx(expected_ms / 20 * ONE)
    assert predicted(load_of(ms, alpha, ONE // 2)) == pytest.approx(expected_ms / 40 * ONE)
