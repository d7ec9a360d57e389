# SPDX-License-Identifier: BSD-3-Clause
"""The kernel with every checker on: KUnit passes, and neither lockdep nor KASAN has anything to say."""

import re
from pathlib import Path

import pytest

from tests.complaints import complaints
from tests.conftest import Lull
from tests.selftests import SLOW, judge, names, reached_its_end

pytestmark = [pytest.mark.guest, pytest.mark.slow]

COMMANDS = {**SLOW, "hotplug": "hotplug 20"}
"""Selftests that by default do less than a checker needs to see, or more than a slow kernel can."""

NOT_JUDGED = {"eas", "routed", "timings"}
"""Selftests of what work weighs, which is another with checkers on: they have to end, with whatever result."""


def test_kunit_passes_and_no_checker_complains(lull: Lull, tmp_path: Path) -> None:
    work = "for cpu in 1 2; do for on in 0 1; do echo $on > /sys/devices/system/cpu/cpu$cpu/online; done; done; nproc"
    ran = lull("boot", "-e", "qemu", "--flavour", "debug", "--out", "run", "--exec", work)
    assert (ran.returncode, ran.stdout) == (0, "2\n"), "two main CPUs, and the shadow for what is pinned to it"
    console = (tmp_path / "run" / "console.log").read_text()
    results = re.findall(r"^\[[^]]*\]\s+(not ok|ok) \d+ (\S+)$", console, re.MULTILINE)
    platform = ("cstates", "energy-ctrl", "events", "probes", "routing")
    systems = (
        "esm-fifo", "esm-matches", "hotplug", "hotplug-governor", "hotplug-hrtimers", "anticipation", "predict", "ssd",
        "bursts-locks", "bursts-stage", "waeas-choose", "waeas-load", "quiescence", "eanem-control",
    )  # fmt: skip
    assert {("ok", "lull"), *(("ok", f"lull-{part}") for part in (*platform, *systems))} <= set(results)
    assert [name for verdict, name in results if verdict != "ok"] == []
    assert complaints(console) == []


@pytest.mark.parametrize("name", names())
def test_no_checker_complains_of_what_a_selftest_does(lull: Lull, tmp_path: Path, name: str) -> None:
    command = f"lull-selftest {COMMANDS.get(name, name)}"
    ran = lull("boot", "-e", "qemu", "--flavour", "debug", "--out", "run", "--exec", command)
    (reached_its_end if name in NOT_JUDGED else judge)(ran)
    assert complaints((tmp_path / "run" / "console.log").read_text()) == []
