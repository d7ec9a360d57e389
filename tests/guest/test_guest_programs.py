# SPDX-License-Identifier: BSD-3-Clause
"""Guest programs that are used wrongly, or in which something fails: a sentence, a status, and nothing changed."""

import pytest

from tests.conftest import Lull
from tests.machines import DISABLED

pytestmark = pytest.mark.guest


def test_bad_words_to_the_guest_programs_change_nothing(lull: Lull) -> None:
    refused = {
        "wake-latency --state C9": "wake-latency: C9: No such file or directory",
        "wake-latency --state C1 --cpus 99": "wake-latency: the list of CPUs",
        "wake-latency --state C1 --count 0": "wake-latency: '0' is not a number from 1 to 1000000",
        "wake-latency --count 1": "usage: wake-latency",
        "wake-latency --state": "usage: wake-latency",
        "platform-check --state C9": "platform-check: C9: No such file or directory",
        "platform-check": "usage: platform-check",
        "steady-power --plan run": "usage: steady-power",
        "steady-power --plan idle --loop none": "usage: steady-power",
        "steady-power --plan steps --state C9": "steady-power: steps, C9: No such file or directory",
    }
    script = "".join(f'said=$({command} 2>&1) && echo accepted; echo "$said" | head -n 1\n' for command in refused)
    ran = lull("boot", "-e", "qemu", "--exec", f"{script}{DISABLED} | paste -s")
    *said, disabled = ran.stdout.splitlines()
    for line, sentence in zip(said, refused.values(), strict=True):
        assert line.startswith(sentence)
    assert disabled.split() == list("0111") * 3


def test_what_fails_within_a_guest_program_fails_it(lull: Lull) -> None:
    """A loop in the background, and a file that has no room for what is written to it."""
    script = """\
mkdir /tmp/bin && printf '#!/bin/sh\\nexit 3\\n' >/tmp/bin/lull-loop && chmod +x /tmp/bin/lull-loop || exit 1
PATH=/tmp/bin:$PATH placement-check 2 1
echo $?
platform-check --state C2 --count 1 --sleep-ms 1 --out /dev/full 2>&1
echo $?
lull-selftest soak --entries 1 --state C2 --out /dev/full | tail -n 1
"""
    ran = lull("boot", "-e", "qemu", "--exec", script)
    assert ran.stdout.splitlines() == [
        "3",
        "platform-check: No space left on device",
        "1",
        "Bail out! cannot write all of /dev/full",
    ]
