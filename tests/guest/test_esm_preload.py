# SPDX-License-Identifier: BSD-3-Clause
"""Debian's evtest, unmodified, receives by the Event Stream Model what it reads from evdev otherwise."""

import re
from pathlib import Path

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest

ESM = "/sys/kernel/lull/esm"

SETUP = f"""
set -e
for name in /sys/class/input/event*/device/name; do
    [ "$(cat $name)" != lull-event ] || device=/dev/input/$(basename ${{name%/device/name}})
done
by_esm() {{
    LD_PRELOAD=/usr/lib/lull/libesm-preload.so exec evtest $device
}}
# What is not there by then does not come.
await() {{
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 500 ]
        sleep 0.01
    done
}}
waits() {{
    grep -q '^State:.E (event wait)$' /proc/$1/task/*/status
}}
# In pselect6(). Before evtest comes to that it grabs the device for a moment, and others get nothing.
listens() {{
    grep -q '^72 ' /proc/$1/syscall
}}
is_stopped() {{
    ! grep '^State:' /proc/$1/task/*/status | grep -qv 'T (stopped)$'
}}
play() {{
    printf '%s\\n' "$@" end > /sys/kernel/lull/events/schedule
    echo 1 > /sys/kernel/lull/events/enabled
    await grep -q done /sys/kernel/lull/events/state
    echo 0 > /sys/kernel/lull/events/enabled
}}
echo 1 > {ESM}/enabled
"""
"""The device, evtest with the library, and a schedule."""

BOTH = """
evtest $device > /out/evdev & plain=$!
by_esm > /out/esm 2> /out/said & esm=$!
await listens $plain
await listens $esm
"""
"""One evtest that reads evdev, and one with the library."""

END = """
await listens $plain
await listens $esm
kill -TERM $plain $esm
wait
"""
"""They have read what there is."""


def events(run: Path, name: str) -> list[str]:
    return [line for line in (run / "files" / name).read_text().splitlines() if line.startswith("Event: time")]


def time_us(line: str) -> int:
    seconds, micros = line.removeprefix("Event: time ").partition(",")[0].split(".")
    return int(seconds) * 10**6 + int(micros)


def what(line: str) -> str:
    return line.partition(",")[2]


def same(pushed: list[str], read: list[str]) -> None:
    """The library knows how far apart the clocks are to some nanoseconds, which round to a microsecond or none."""
    assert [what(line) for line in pushed] == [what(line) for line in read]
    assert all(abs(time_us(one) - time_us(other)) <= 1 for one, other in zip(pushed, read, strict=True))


def test_evtest_sees_the_same_by_esm(lull: Lull, tmp_path: Path) -> None:
    script = f"""{SETUP}{BOTH}
    await waits $esm
    play "periodic 0 1000 4 1 48 1"
    echo $esm > {ESM}/foreground
    play "periodic 0 1500 40 1 30 1" "poisson 0 900 50 7 2 0 -3" "periodic 700 3000 6 1 272 1"
    await waits $esm
    readlink /proc/$esm/fd/3
    readlink /proc/$plain/fd/3
    {END}"""
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", script)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    run = tmp_path / "run"
    assert (run / "files" / "said").read_text() == ""
    assert re.fullmatch(r"pipe:\[\d+\]\n/dev/input/event\d+\n", ran.stdout), "evtest's own file is not evdev's"
    read, pushed = events(run, "evdev"), events(run, "esm")
    background = [line for line in read if "KEY_B" in line]
    assert len(background) == 4
    after = read.index(background[-1]) + 2
    assert len(pushed) == 96 * 5, "serial, raw time, wall clock, event and the end of the packet, for each"
    same(pushed, read[after:])
    described = [(run / "files" / name).read_text().partition("Event: time")[0] for name in ("evdev", "esm")]
    assert described[0] == described[1], "what ioctl() tells of the device"


def test_what_a_stopped_program_misses_is_told(lull: Lull, tmp_path: Path) -> None:
    """128 events are 32 packets of 4: serial, raw time, wall clock and motion."""
    script = f"""{SETUP}
    echo 128 > {ESM}/fifo
    {BOTH}
    await waits $esm
    echo $esm > {ESM}/foreground
    kill -STOP $esm
    await is_stopped $esm
    play "periodic 0 1000 100 2 0 1"
    kill -CONT $esm
    await waits $esm
    play "periodic 0 1000 5 2 0 2"
    await waits $esm
    {END}"""
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", script)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    read, pushed = events(tmp_path / "run", "evdev"), events(tmp_path / "run", "esm")
    assert len(read) == 105 * 5
    dropped = next(index for index, line in enumerate(pushed) if "SYN_DROPPED" in line)
    same(pushed[:dropped], read[: 32 * 5])
    assert "SYN_REPORT" in pushed[dropped + 1]
    same(pushed[dropped + 2 :], read[100 * 5 :])


def test_while_the_system_is_off_a_program_reads_evdev_itself(lull: Lull, tmp_path: Path) -> None:
    script = f"""{SETUP}
    echo 0 > {ESM}/enabled
    {BOTH}
    await test -s /out/said
    await listens $esm
    play "periodic 0 1000 4 1 30 1"
    {END}"""
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", script)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    said = (tmp_path / "run" / "files" / "said").read_text()
    assert said == "libesm-preload: file 3 is read through evdev itself: Operation not supported\n"
    assert len(events(tmp_path / "run", "esm")) == 20
    assert events(tmp_path / "run", "esm") == events(tmp_path / "run", "evdev")
