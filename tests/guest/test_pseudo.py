# SPDX-License-Identifier: BSD-3-Clause
"""Pseudo CPU hotplug on a machine of two clusters, and for long. `test_selftests.py` has its selftest as all others."""

import re
from pathlib import Path

import pytest

from tests.complaints import complaints
from tests.conftest import Lull
from tests.selftests import judge

pytestmark = pytest.mark.guest

CPUS = "/sys/devices/system/cpu"


@pytest.mark.parametrize("selftest", ["pseudo 60", "governor"])
def test_two_clusters(lull: Lull, selftest: str) -> None:
    judge(lull("boot", "-e", "qemu", "-p", "exynos7420", "--exec", f"lull-selftest {selftest}"))


def test_the_governor_by_settings(lull: Lull) -> None:
    settings = ("--set", "hotplug.enabled=1", "--set", "hotplug.governor.enabled=1")
    ran = lull("boot", "-e", "qemu", "-p", "exynos7420", *settings, "--exec", f"sleep 1; cat {CPUS}/pseudo_offline")
    assert (ran.returncode, ran.stdout) == (0, "1-7\n"), ran.stderr


def test_a_scenario_s_words_for_it(lull: Lull) -> None:
    script = f"echo 4-7 >{CPUS}/pseudo_offline; cat {CPUS}/pseudo_offline {CPUS}/cpu4/pseudo_online; nproc"
    ran = lull("boot", "-e", "qemu", "-p", "exynos7420", "--set", "hotplug.enabled=1", "--exec", script)
    assert (ran.returncode, ran.stdout.split()) == (0, ["4-7", "0", "8"]), ran.stderr


@pytest.mark.parametrize("option", ["--shadow", "--no-shadow"])
def test_the_shadow_is_no_cpu_to_go_to(lull: Lull, option: str) -> None:
    script = f"(echo 0-1 >{CPUS}/pseudo_offline) 2>&1 || :; echo 1 >{CPUS}/pseudo_offline; cat {CPUS}/pseudo_offline"
    ran = lull("boot", "-e", "qemu", option, "--set", "hotplug.enabled=1", "--exec", script)
    *said, out = ran.stdout.splitlines()
    assert (ran.returncode, out) == (0, "1"), ran.stderr
    assert [line.rpartition(": ")[2] for line in said] == ["Device or resource busy"]


@pytest.mark.slow
@pytest.mark.parametrize("flavour", ["default", "debug"])
def test_ten_thousand_changes(lull: Lull, tmp_path: Path, flavour: str) -> None:
    flags = ("--flavour", flavour, "--sim-limit", "2500", "--wall-limit", "2700", "--out", "run")
    judge(lull("boot", "-e", "qemu", *flags, "--exec", "lull-selftest pseudo 10000"))
    assert complaints((tmp_path / "run" / "console.log").read_text()) == []


@pytest.mark.slow
def test_ten_thousand_changes_while_rcu_is_tortured(lull: Lull, tmp_path: Path) -> None:
    """rcutorture reports every minute. Without `!!!` no reader saw what was freed, and each grace period ended.

    The changes take less than a minute, so that one report is about all of them, and about RCU afterwards.
    """
    flags = ("--flavour", "torture", "--sim-limit", "2500", "--wall-limit", "2700", "--out", "run")
    script = "lull-selftest pseudo --stress 10000; status=$?; sleep 60; exit $status"
    judge(lull("boot", "-e", "qemu", *flags, "--exec", script))
    console = (tmp_path / "run" / "console.log").read_text()
    reports = re.findall(r"rcu-torture: rtc: .* ver: (\d+) ", console)
    assert reports
    assert int(reports[-1]) > 0, "grace periods go by"
    assert "!!!" not in console
    assert complaints(console) == []
