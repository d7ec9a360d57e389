# SPDX-License-Identifier: BSD-3-Clause
"""The first level in C: what counts as traffic, and that traffic which comes and goes does not move packets often."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE = 3
MODEL = """\
cluster little 0 4 60000 100 0 0.09 0
cluster big 4 4 150000 200 0 0.31 0
opp little 400 900
opp little 800 1100
opp little 1400 1275
opp big 400 900
opp big 1000 1000
opp big 2000 1312
limit 4.48
"""
SIZE, INTERVALS_A_SECOND = 1000, 10
FACTOR = 8
"""A target counts at most as so many times what came: traffic.h."""


@dataclass(frozen=True)
class FtpSocket:
    """What one socket received in an interval."""

    packets_s: int
    target_packets_s: int = 0
    pid: int = 100

    def line(self) -> str:
        packets = self.packets_s // INTERVALS_A_SECOND
        return f"socket {self.pid} {self.target_packets_s * SIZE} {packets * SIZE} {packets}"


@dataclass(frozen=True)
class Decided:
    why: str
    steers: bool
    place: str
    packets_s: float
    left_out: int
    cpus: int
    threads: set[int]


@pytest.fixture(scope="module")
def program(native: Path) -> Path:
    """Its model is the file beside it."""
    found = native / "first-print"
    found.with_suffix(".model").write_text(MODEL)
    return found


def answers(program: Path, intervals: Sequence[Sequence[FtpSocket | str]]) -> list[Decided]:
    """A text among the sockets is said as it is."""
    said = [[each if isinstance(each, str) else each.line() for each in sockets] for sockets in intervals]
    lines = [line for each in said for line in (*each, "step")]
    ran = subprocess.run(
        [program, program.with_suffix(".model"), str(PATIENCE)], input="\n".join(lines) + "\n", text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    found = []
    for line in ran.stdout.splitlines():
        why, steers, place, packets, left_out, cpus, threads = line.split("|")
        numbers = set(map(int, threads.split()))
        found.append(Decided(why, steers == "1", place, float(packets), int(left_out), int(cpus, 16), numbers))
    return found


def reasons(found: Sequence[Decided]) -> list[str]:
    return [each.why for each in found if each.why != "-"]


SOME = [FtpSocket(20_000)]
SLOW, FAST = [FtpSocket(3_000)], [FtpSocket(150_000)]
NONE: list[FtpSocket] = []


@pytest.mark.parametrize(
    ("socket", "packets_s"),
    [
        (FtpSocket(0, 2**40 // SIZE), 0),
        (FtpSocket(100, 2**40 // SIZE), FACTOR * 100),
        (FtpSocket(5_000, 20_000), 20_000),
        (FtpSocket(20_500, 20_000), 20_000),
        (FtpSocket(5_000), 5_000),
    ],
    ids=["idle", "hardly anything", "it begins", "it has its target", "no target"],
)
def test_a_target_counts_as_far_as_something_comes(program: Path, socket: FtpSocket, packets_s: int) -> None:
    (answer,) = answers(program, [[socket]])
    assert answer.packets_s == packets_s
    assert answer.steers == (packets_s > 0)


def test_an_interval_is_looked_at_once(program: Path) -> None:
    """The manager may look more often than the kernel counts."""
    lines = []
    for number in range(12):
        lines += [(SLOW if number >= 3 else FAST)[0].line(), f"interval {number // 3 + 1}", "step"]
    ran = subprocess.run(
        [program, program.with_suffix(".model"), str(PATIENCE)],
        input="\n".join(lines) + "\n",
        text=True,
        capture_output=True,
        check=True,
    )
    whys = [line.split("|")[0] for line in ran.stdout.splitlines()]
    decided = {number: why for number, why in enumerate(whys) if why != "-"}
    assert decided == {0: "traffic began", 9: "less power"}, "better in three intervals, not in three looks"


def test_idle_sockets_hide_no_other(program: Path) -> None:
    idle = [FtpSocket(0, 1000, pid) for pid in range(1000, 3000)]
    (answer,) = answers(program, [[*idle, FtpSocket(20_000, pid=7)]])
    assert (answer.packets_s, answer.threads, answer.left_out) == (20_000, {7}, 0)


def test_the_busiest_processes_are_steered_and_the_others_are_counted(program: Path) -> None:
    small = [FtpSocket(10, pid=pid) for pid in range(1000, 1100)]
    (answer,) = answers(program, [[*small, FtpSocket(20_000, pid=7)]])
    assert answer.packets_s == 21_000
    assert 7 in answer.threads
    assert answer.left_out >= 100 - len(answer.threads)


def test_what_stays_is_decided_once(program: Path) -> None:
    assert reasons(answers(program, [SOME] * 50)) == ["traffic began"]
    assert answers(program, [SOME])[0].why == "traffic began", "at once"


def test_pauses_are_no_ends(program: Path) -> None:
    found = answers(program, [SOME, NONE] * 20 + [SOME, NONE, NONE] * 20)
    assert reasons(found) == ["traffic began"]
    found = answers(program, [SOME] + [NONE] * PATIENCE)
    assert [each.why for each in found] == ["traffic began", "-", "-", "traffic ended"]
    assert not found[-1].steers


def test_after_an_end_traffic_begins_when_it_lasts(program: Path) -> None:
    burst = [SOME, *[NONE] * PATIENCE]
    assert reasons(answers(program, burst * 20)) == ["traffic began", "traffic ended"]
    found = answers(program, [*burst, *[SOME] * PATIENCE])
    assert [each.why for each in found[-PATIENCE:]] == ["-", "-", "traffic began"]
    found = answers(program, [*burst, *[NONE] * 10 * PATIENCE, SOME])
    assert found[-1].why == "traffic began", "after a long rest at once"


def test_too_little_is_mended_at_once_and_power_is_saved_when_it_lasts(program: Path) -> None:
    assert reasons(answers(program, [SLOW, FAST] * 20)) == ["traffic began", "too little"]
    found = answers(program, [SLOW, FAST, *[SLOW] * PATIENCE])
    assert [each.why for each in found] == ["traffic began", "too little", "-", "-", "less power"]
    assert found[-1].place == found[0].place != found[1].place


def test_a_load_that_nothing_suffices_for_is_told_once(program: Path) -> None:
    found = answers(program, [[FtpSocket(5_000_000)]] * 10)
    assert reasons(found) == ["traffic began"]
    found = answers(program, [SOME, *[[FtpSocket(5_000_000)]] * 10])
    assert reasons(found) == ["traffic began", "nothing suffices"]


def test_other_threads_are_steered_when_they_last(program: Path) -> None:
    one, other = [FtpSocket(20_000, pid=1)], [FtpSocket(20_000, pid=2)]
    assert reasons(answers(program, [one, other] * 20)) == ["traffic began"]
    found = answers(program, [one, *[other] * PATIENCE])
    assert [each.why for each in found] == ["traffic began", "-", "-", "other threads"]
    assert (found[-1].threads, found[-1].place) == ({2}, found[0].place)
    both = [FtpSocket(10_000, pid=1), FtpSocket(10_000, pid=2)]
    turned = [FtpSocket(9_000, pid=2), FtpSocket(11_000, pid=1)]
    assert reasons(answers(program, [both, turned] * 10)) == ["traffic began"], "the order says nothing"


def test_threads_that_always_change_are_followed_now_and_then(program: Path) -> None:
    found = answers(program, [[FtpSocket(20_000, pid=pid)] for pid in range(1, 31)])
    assert reasons(found) == ["traffic began", *["other threads"] * (29 // PATIENCE)]


def test_packets_go_on_with_the_cores_that_are_online(program: Path) -> None:
    """They are on the first three little cores. Then the second of these goes, and then the whole cluster."""
    load = FtpSocket(50_000)
    found = answers(program, [[load], ["online fd", load], [load], ["online f0", load], ["online ff", load]])
    assert [each.why for each in found] == ["traffic began", "-", "-", "fewer cores", "-"]
    assert [each.place.split()[0] for each in found] == ["little"] * 3 + ["big"] * 2
    assert found[0].cpus == 0b111
    assert found[1].cpus == found[2].cpus == 0b1101, "as many as before, without a decision"
    assert found[3].cpus & ~0xF0 == 0


def test_fewer_cores_than_packets_need_are_used_all(program: Path) -> None:
    load = FtpSocket(5_000_000)
    found = answers(program, [[load], ["online 3f", load], ["online 03", load], ["online 00", load], [load]])
    assert [each.why for each in found] == ["traffic began", "fewer cores", "fewer cores", "fewer cores", "-"]
    assert [each.cpus for each in found] == [0xF0, 0x30, 0x03, 0, 0]
