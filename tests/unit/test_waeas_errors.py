# SPDX-License-Identifier: BSD-3-Clause
"""The errors of predictions, for loads whose answer is known by hand."""

import pytest

from lull.figures.load_trackers import HALF_LIFE, ONE, WINDOW
from lull.files.paths import ROOT
from tests.waeas_errors import RECORDINGS, errors, periodic, recorded, upstream
from tests.waeas_load import Worked

MS = 1000


def left(ms: float) -> float:
    """What is left of a load after so long."""
    return 2 ** (-ms * MS / HALF_LIFE)


def test_pelt_halves_in_32_periods_and_comes_up_as_it_goes_down() -> None:
    pieces = (Worked(0, HALF_LIFE, ONE),)
    assert upstream(pieces, HALF_LIFE).pelt == pytest.approx(ONE / 2)
    assert upstream(pieces, 2 * HALF_LIFE).pelt == pytest.approx(ONE / 4)
    assert upstream(pieces, 2 * HALF_LIFE).util_est == pytest.approx(ONE / 2), "as at the end of its last run"


def test_util_est_follows_up_at_once_and_down_by_a_quarter() -> None:
    once, half = HALF_LIFE, ONE / 2
    long_sleep = 40 * HALF_LIFE
    short = Worked(long_sleep, long_sleep + once // 32, ONE)
    small = ONE * (1 - 2 ** (-1 / 32))
    assert upstream((Worked(0, once, ONE), short), 2 * long_sleep).util_est == pytest.approx(half + (small - half) / 4)
    back = Worked(2 * long_sleep, 2 * long_sleep + once, ONE)
    assert upstream((Worked(0, once, ONE), short, back), 3 * long_sleep).util_est == pytest.approx(half)


def test_windows_are_right_about_a_load_that_is_the_same_in_each_of_them() -> None:
    off = errors(periodic(WINDOW, 6 * MS))
    highest = ONE * (1 - left(6)) / (1 - left(20))
    assert off["walt"] == off["bes"] == pytest.approx(0, abs=1e-9)
    assert off["pelt"] == pytest.approx(0.3 * ONE - highest * left(14), rel=1e-3), "it wakes with the least load"
    assert off["util_est"] == pytest.approx(highest - 0.3 * ONE, rel=1e-3), "it keeps the highest one"


def test_windows_remember_a_task_that_sleeps_for_a_second_and_pelt_does_not() -> None:
    off = errors(periodic(1000 * MS, 6 * MS))
    assert off["walt"] == off["bes"] == pytest.approx(0, abs=1e-9)
    assert off["pelt"] == pytest.approx(0.3 * ONE, rel=0.01)
    assert off["util_est"] == pytest.approx(0.3 * ONE - ONE * (1 - left(6)), rel=0.01)


def test_windows_are_half_off_when_an_edge_cuts_the_work_in_two() -> None:
    off = errors(periodic(1000 * MS, 6 * MS, at=17 * MS))
    assert off["walt"] == off["bes"] == pytest.approx(0.15 * ONE)


def test_bes_follows_a_load_that_falls_faster_than_the_mean() -> None:
    falling = tuple(
        Worked(start, start + work, ONE)
        for start, work in ((WINDOW * at, (10 if at <= 40 else 2) * MS) for at in range(1, 81))
    )
    off = errors(falling)
    # From the step on, by hand: the mean of five windows, and half of what was and half of what came.
    mean = [10, 8.4, 6.8, 5.2, 3.6]
    halves = [10, 6, 4, 3, 2.375]
    share = ONE / 20 / 40
    assert off["walt"] == pytest.approx(share * sum(was - 2 for was in mean))
    assert off["bes"] == pytest.approx(share * sum(was - 2 for was in halves))


@pytest.mark.parametrize(("hertz", "at_ms"), [(1, 0), (1, 17), (5, 0), (20, 0), (40, 0)])
def test_the_table_of_the_system_is_what_comes_out(hertz: int, at_ms: int) -> None:
    off = {
        name: f"{100 * error / ONE:.1f}" for name, error in errors(periodic(10**6 // hertz, 6000, at_ms * MS)).items()
    }
    row = f"| {hertz} | {at_ms} | {off['walt']} | {off['bes']} | {off['pelt']} | {off['util_est']} |"
    assert row in (ROOT / "kernel-patches" / "waeas" / "README.md").read_text().splitlines()


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir()))
def test_the_table_of_the_recordings_is_what_comes_out(name: str) -> None:
    off = recorded(name)
    cells = [f"{100 * own['off']:.3f} ({100 * own['above']:+.3f})" for own in off]
    row = f"| `{name}` | {off[0]['wakes']} | {100 * off[0]['came']:.3f} | {' | '.join(cells)} |"
    assert row in (ROOT / "kernel-patches" / "waeas" / "README.md").read_text().splitlines()
