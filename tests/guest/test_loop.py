# SPDX-License-Identifier: BSD-3-Clause
"""The loop that shows what a frequency does."""

import json

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_a_loop_says_where_it_ran_and_how_fast(lull: Lull) -> None:
    script = "lull-loop -c 1 -n 1000 -r 3; lull-cpus | sed -n 2p"
    ran = lull("boot", "-e", "qemu", "-p", "tiny", "--exec", script)
    assert ran.returncode == 0, ran.stderr
    *runs, cpu = map(json.loads, ran.stdout.splitlines())
    assert [(run["cpu"], run["khz"], run["iterations"]) for run in runs] == [(1, cpu["clock_khz"], 1000)] * 3
    # 5 instructions of an iteration, one of which is a nanosecond on QEMU.
    assert [run["ticks"] * 1e9 / run["counter_hz"] for run in runs] == pytest.approx([5000] * 3, rel=0.1)


def test_a_loop_refuses_nonsense(lull: Lull) -> None:
    refusals = {
        "-n 0": "lull-loop: '0' is not a number from 1 to 4294967295 2",
        "-n 5x": "lull-loop: '5x' is not a number from 1 to 4294967295 2",
        "-c -1": "lull-loop: '-1' is not a number from 0 to 63 2",
        "-c 63": "lull-loop: cannot run on this CPU: Invalid argument 1",
        "-c 0 -s 1": "usage: lull-loop [-c CPU | -s CPU] [-n ITERATIONS] [-p PERIOD_US] [-r RUNS] 2",
        "extra": "usage: lull-loop [-c CPU | -s CPU] [-n ITERATIONS] [-p PERIOD_US] [-r RUNS] 2",
    }
    one = 'said=$(lull-loop {} 2>&1); status=$?; echo "$(echo "$said" | head -n 1) $status"'
    ran = lull("boot", "-e", "qemu", "-p", "tiny", "--exec", "\n".join(one.format(words) for words in refusals))
    assert ran.stdout.splitlines() == list(refusals.values())
