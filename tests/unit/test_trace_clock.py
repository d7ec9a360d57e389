# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest

from lull.errors import UserError
from lull.trace.clock import Clock

GEM5 = Clock(
    hz=25165824, mult=83333333, shift=21, epoch_ns=78_000, epoch_count=1_000_123, monotonic_ns=500_000_000,
    monotonic_count=13_000_000,
)  # fmt: skip


def stamp(clock: Clock, count: int) -> int:
    """Return the stamp of a count, as `sched_clock_noinstr()` computes it."""
    return clock.epoch_ns + ((count - clock.epoch_count) * clock.mult >> clock.shift)


def test_every_count_comes_back_from_its_stamp() -> None:
    chance = np.random.default_rng(4)
    counts = np.concatenate([GEM5.epoch_count + np.arange(1000), GEM5.epoch_count + chance.integers(0, 10**11, 10_000)])
    stamps = np.array([stamp(GEM5, count) for count in counts.tolist()], np.uint64)
    assert (GEM5.counts(stamps, "here") == counts).all()
    assert (GEM5.ticks(stamps, "here") == counts * 39736).all(), "1e12 / 25165824, as gem5 cuts it"


@pytest.mark.parametrize("wrong", [stamp(GEM5, 2_000_000) + 1, stamp(GEM5, 2_000_000) - 1])
def test_a_stamp_that_the_clock_never_showed_is_refused(wrong: int) -> None:
    with pytest.raises(UserError, match=r"^here: has time stamps that its clock never showed"):
        GEM5.counts(np.array([stamp(GEM5, 5_000_000), wrong], np.uint64), "here")


@pytest.mark.parametrize("wrong", [GEM5.epoch_ns - 1, 1 << 62])
def test_a_stamp_from_outside_of_the_clocks_range_is_refused(wrong: int) -> None:
    with pytest.raises(UserError, match=r"^here: has time stamps from outside of its clock's range"):
        GEM5.counts(np.array([wrong], np.uint64), "here")


def test_the_marker_is_what_the_guests_program_writes() -> None:
    text = (
        "lull clock hz=25165824 mult=83333333 shift=21 epoch_ns=78000 epoch_ticks=1000123 "
        "monotonic_ns=500000000 monotonic_ticks=13000000\n"
    )
    assert Clock.of_marker(text) == GEM5
    assert Clock.of_marker("lull begin\n") is None
