# SPDX-License-Identifier: BSD-3-Clause
"""Schedules: what they stand for, and the sentence for each that is refused.

The kernel's tests (`event_schedule_test.c`) hold the same events for the same text, and refuse the same lines.
"""

import itertools
import math
from pathlib import Path

import pytest

from lull.errors import UserError
from lull.runspec.load import load_spec
from lull.runspec.schedule import EVENTS_MAX, TEXT_MAX, Event, expand, exponential, load_schedule, random_numbers
from lull.runspec.spec import SCRIPT_MAX, Limits, RunSpec

MERGED = """\
# all three
poisson 1000 5000 6 42 1 272 1
\tperiodic 0  4000 4 2 0 3 # to the right
500 1 30 1
500 1 30 0

end
"""


def test_what_a_text_stands_for() -> None:
    assert expand(MERGED, "text") == [
        Event(0, 3, 2, 0, 3),
        Event(500_000, 4, 1, 30, 1),
        Event(500_000, 5, 1, 30, 0),
        Event(2_494_963, 2, 1, 272, 1),
        Event(4_000_000, 3, 2, 0, 3),
        Event(8_000_000, 3, 2, 0, 3),
        Event(11_660_671, 2, 1, 272, 0),
        Event(12_000_000, 3, 2, 0, 3),
        Event(18_050_541, 2, 1, 272, 1),
        Event(23_383_337, 2, 1, 272, 0),
        Event(39_730_214, 2, 1, 272, 1),
        Event(40_436_718, 2, 1, 272, 0),
    ]


def test_random_numbers_are_splitmix64s() -> None:
    assert list(itertools.islice(random_numbers(0), 2)) == [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]


@pytest.mark.parametrize("random", [0, 1, 2, 3, 1 << 32, 1 << 63, 0x1234_5678_9ABC_DEF0, (1 << 64) - 1])
def test_the_logarithm_is_right_to_nine_digits(random: int) -> None:
    assert exponential(random) / 2**32 == pytest.approx(-math.log(max(random, 1) / 2**64), abs=1e-8)


def test_poisson_has_its_mean_and_its_shape() -> None:
    times = [event.time_ns for event in expand("poisson 0 1000 20000 1 2 0 1\nend\n", "text")]
    gaps = sorted(later - earlier for earlier, later in itertools.pairwise([0, *times]))
    assert sum(gaps) / len(gaps) == pytest.approx(1e6, rel=0.02)
    assert gaps[len(gaps) // 2] == pytest.approx(math.log(2) * 1e6, rel=0.03)
    assert math.dist(gaps, [1e6] * len(gaps)) / math.sqrt(len(gaps)) == pytest.approx(1e6, rel=0.03)


def test_a_file_is_returned_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.schedule"
    file.write_text(MERGED)
    assert load_schedule(file) == MERGED


REFUSED = {
    "": r"line 1: the text stops without `end`; add it",
    "0 2 0 1\n": r"line 1: the text stops without `end`; add it",
    "0 2 0 1\nend": r"line 2: `end` must stand alone",
    "0 2 0 1\n end\n": r"line 2: `end` must stand alone",
    "end\n": r"line 1: no event before `end`; add one",
    "0 2 0 1\nend\n0 2 0 1\n": r"line 3: follows the end; delete it",
    "0 2 0 1\n0 2 0\nend\n": r"line 2: has 3 words; write `TIME_US TYPE CODE VALUE`",
    "periodic 0 1 1 2 0\nend\n": r"line 1: has 6 words; write `periodic START_US",
    "-1 2 0 1\nend\n": r"line 1: TIME_US is '-1'; write a whole number from 0 to 86400000000",
    "+1 2 0 1\nend\n": r"TIME_US is '\+1'; write",
    "1.5 2 0 1\nend\n": r"TIME_US is '1\.5'; write",
    "0 2 0 1\r\nend\n": r"VALUE is '1\\r'; write",
    "86400000001 2 0 1\nend\n": r"TIME_US is '86400000001'; write",
    "periodic 0 1 262145 2 0 1\nend\n": r"COUNT is '262145'; write a whole number from 1 to 262144",
    "periodic 0 1 262144 2 0 1\n0 2 0 1\nend\n": r"line 2: more than 262144 events; split",
    "periodic 0 0 1 2 0 1\nend\n": r"PERIOD_US is '0'; write a whole number from 1",
    "poisson 0 1 0 1 2 0 1\nend\n": r"COUNT is '0'; write",
    "poisson 0 1 1 18446744073709551616 2 0 1\nend\n": r"SEED is '18446744073709551616'; write",
    "periodic 0 86400000000 3 2 0 1\nend\n": r"line 1: goes on for more than 24 hours; lower COUNT",
    "0 3 0 1\nend\n": r"no event of TYPE 3 and CODE 0; write",
    "0 1 274 1\nend\n": r"no event of TYPE 1 and CODE 274; write",
    "0 2 0 2147483648\nend\n": r"VALUE is '2147483648'; write",
    "0 2 0 0\nend\n": r"a motion by 0 is no event; write",
    "0 1 30 2\nend\n": r"VALUE is 2 for a key; write 1 to press or 0 to release",
    "periodic 0 1 1 1 30 0\nend\n": r"VALUE is 0 for a key; write 1: the key",
    "5 2 0 1\n4 2 0 1\nend\n": r"line 2: time goes back from 5 to 4; sort",
    "0 1 30 0\nend\n": r"line 1: key 30 is released already at 0 us; press it first",
    "periodic 5 10 2 1 30 1\n6 1 30 1\nend\n": r"line 2: key 30 is pressed already at 6 us; release it first",
    " " * 128 + "\nend\n": r"line 1: longer than 127 characters; shorten it",
    "0 2 0 1\0\nend\n": r"line 1: has a NUL character; use plain text",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.schedule"
    file.write_bytes(text.encode())
    with pytest.raises(UserError, match=rf"^{file}: .*{REFUSED[text]}") as caught:
        load_schedule(file)
    assert "\n" not in str(caught.value)


def test_a_run_takes_a_good_schedule_and_refuses_a_bad_one_on_the_host(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text("0 2 0 1\nend\n")
    bad.write_text("0 2 0 1\n5 9 9 9\nend\n")

    def spec(file: Path) -> RunSpec:
        limits = Limits(simulated_s=1, wall_s=1)
        return load_spec("tiny", (), "lull-events /run/schedule", engine="qemu", schedule=file, limits=limits)

    assert spec(good).schedule == "0 2 0 1\nend\n"
    with pytest.raises(UserError, match=f"^{bad}: line 2: there is no event of TYPE 9 and CODE 9;"):
        spec(bad)


def test_a_schedule_that_the_guest_has_no_room_for_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "long"
    file.write_text("0 2 0 1\n" * (SCRIPT_MAX // 8) + "end\n")
    with pytest.raises(UserError, match="--schedule: the guest takes a script of at most 1 MiB; use periodic and poi"):
        load_spec("tiny", (), "true", engine="qemu", schedule=file, limits=Limits(simulated_s=1, wall_s=1))


def test_files_that_are_no_schedules_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"none: cannot read it \(No such file or directory\); give the path of a schedule file$"
    ):
        load_schedule(tmp_path / "none")
    binary = tmp_path / "binary"
    binary.write_bytes(b"0 2 0 1\n\xff\nend\n")
    with pytest.raises(UserError, match=r"binary: line 2: not plain ASCII text; leave such characters out$"):
        load_schedule(binary)
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(TEXT_MAX + 1)
    with pytest.raises(UserError, match=r"large: larger than 16 MiB; shorten it"):
        load_schedule(large)


def test_as_many_events_as_fit() -> None:
    assert len(expand(f"periodic 0 1 {EVENTS_MAX} 2 8 -1\nend\n", "text")) == EVENTS_MAX
