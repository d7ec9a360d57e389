# SPDX-License-Identifier: BSD-3-Clause
"""Events from the input core to a reader: the work that gem5 counts does the same on QEMU."""

import json

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest


def test_each_event_is_read_before_the_next_is_sent(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "-p", "tiny", "--exec", "lull-input -c 1 -n 100 -r 3")
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    assert json.loads(ran.stdout) == {"cpu": 1, "runs": 3, "events": 100}


def test_a_cpu_that_is_not_there_is_one_sentence(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "-p", "tiny", "--exec", "lull-input -c 63 2>&1")
    assert (ran.returncode, ran.stdout) == (1, "lull-input: cannot run on this CPU: Invalid argument\n")
