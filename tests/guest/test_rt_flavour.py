# SPDX-License-Identifier: BSD-3-Clause
"""PREEMPT_RT with lock nesting checked, 32-bit programs, memory cgroups and suspend: nothing of it breaks what is here.

That the kernel builds without a warning is its own matter: `rt.config` has WERROR.
"""

import re
from pathlib import Path

import pytest

from tests.complaints import complaints
from tests.conftest import Lull
from tests.selftests import SLOW, judge, names, on_larger, reached_its_end

pytestmark = [pytest.mark.guest, pytest.mark.slow]

NOT_JUDGED = {"eas", "routing", "routed", "timings"}
"""Selftests of what work weighs and of who sleeps at a moment. With checkers on the weight is another, and the thread
of an interrupt's handler wakes the CPU that routing lets sleep: these have to end, with whatever result."""

CUT_BY_WINDOWS = (
    "by windows, EAS places a task where its last work fits",
    "a new task begins with its parent's demand",
    "a task gets the big CPU in the lightest state",
    "a large task is given a big CPU",
)
"""Cases of WAEAS's selftest that failed in this kernel while their work began by CLOCK_MONOTONIC. Windows begin by the
scheduler's clock. Where that is 7.5 ms ahead (measured on `rk3399`), the end of a window cut the work in two, and
rightly the work counted for less. Since commit 0a94d21a work begins by the scheduler's clock, and all four passed in
the rt kernel. So they should no longer be named here. But this kernel has not been judged without the names yet."""

PACKED_ELSEWHERE = (
    "not where one runs",
    "a task that was a real-time task takes only what it brought",
)
"""Cases of WAEAS's selftest that failed in this kernel while they counted how often any task is packed. In the rt
kernel, tasks are packed on other CPUs meanwhile, where the threads of timers work. Now each case counts where its own
task ran. This task never came to the CPU that it has to keep off: 0 of 50 times, in each of 5 runs of the first case,
and in each of 8 rounds of the second, which began at other moments of a window. So both cases should pass, and no
longer be named here. But the changed cases have not run in this kernel yet."""

MAY_FAIL = {"waeas": (*CUT_BY_WINDOWS, *PACKED_ELSEWHERE)}
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
    command = f"lull-selftest {SLOW.get(name, name)}"
    ran = lull("boot", "-e", "qemu", *on_larger(name), "--flavour", "rt", "--out", "run", "--exec", command)
    if name in NOT_JUDGED:
        reached_its_end(ran)
    else:
        judge(ran, may_fail=MAY_FAIL.get(name, ()))
    assert complaints((tmp_path / "run" / "console.log").read_text()) == []
