# SPDX-License-Identifier: BSD-3-Clause
"""PREEMPT_RT with lock nesting checked, 32-bit programs, memory cgroups and suspend: nothing of it breaks what is here.

That the kernel builds without a warning is its own matter: `rt.config` has WERROR.
"""

import re
from pathlib import Path

import pytest

from tests.complaints import complaints
from tests.conftest import Lull
from tests.selftests import (
    CUT_BY_WINDOWS,
    NOT_EXPLAINED,
    PACKED_ELSEWHERE,
    PLATFORMS,
    SLOW,
    judge,
    names,
    reached_its_end,
)

pytestmark = [pytest.mark.guest, pytest.mark.slow]

NOT_JUDGED = {"eas", "routing", "routed", "timings"}
"""Selftests of what work weighs and of who sleeps at a moment. With checkers on the weight is another, and the thread
of an interrupt's handler wakes the CPU that routing lets sleep: these have to end, with whatever result."""

MAY_FAIL = {"waeas": (*CUT_BY_WINDOWS, *PACKED_ELSEWHERE, *NOT_EXPLAINED)}
"""Cases of a selftest that may fail in this kernel, with their reasons there. All others have to pass."""


def test_it_is_preempt_rt_and_kunit_passes(lull: Lull, tmp_path: Path) -> None:
    asked = "uname -v | grep -o PREEMPT_RT; zcat /proc/config.gz | grep -cE '^CONFIG_(COMPAT|MEMCG|SUSPEND)=y'"
    ran = lull("boot", "-e", "qemu", "--flavour", "rt", "--out", "run", "--exec", asked)
    console = (tmp_path / "run" / "console.log").read_text()
    assert (ran.returncode, ran.stdout) == (0, "PREEMPT_RT\n3\n"), f"{ran.stdout}{ran.stderr}"
    assert re.search(r"^\[[^]]*\]\s+ok \d+ lull-events$", console, re.MULTILINE)
    assert re.findall(r"^\[[^]]*\]\s+not ok \d+ .*", console, re.MULTILINE) == []
    assert complaints(console) == []


@pytest.mark.parametrize("name", names())
def test_no_checker_complains_of_what_a_selftest_does(lull: Lull, tmp_path: Path, name: str) -> None:
    place = ("-p", PLATFORMS[name], "--sim-limit", "200") if name in PLATFORMS else ()
    command = f"lull-selftest {SLOW.get(name, name)}"
    ran = lull("boot", "-e", "qemu", *place, "--flavour", "rt", "--out", "run", "--exec", command)
    if name in NOT_JUDGED:
        reached_its_end(ran)
    else:
        judge(ran, may_fail=MAY_FAIL.get(name, ()))
    assert complaints((tmp_path / "run" / "console.log").read_text()) == []
