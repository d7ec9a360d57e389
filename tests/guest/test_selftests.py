# SPDX-License-Identifier: BSD-3-Clause
"""Every selftest of the image passes on QEMU. `tests.selftests` reads their TAP, here and on gem5."""

import pytest

from lull.platform.load import load_platform
from tests.conftest import Lull
from tests.selftests import judge, names, on_larger, skipped

pytestmark = pytest.mark.guest


@pytest.mark.parametrize("name", names())
def test_selftest(lull: Lull, name: str) -> None:
    judge(lull("boot", "-e", "qemu", "--exec", f"lull-selftest {name}"))


def test_wearables_are_placed_on_four_little_cpus_and_two_big_ones(lull: Lull) -> None:
    judge(lull("boot", "-e", "qemu", *on_larger("waeas"), "--exec", "lull-selftest waeas 10"))


def test_bursts_spread_over_the_cpus_of_two_sockets(lull: Lull) -> None:
    """The default platform has too few CPUs for that."""
    ran = lull("boot", "-e", "qemu", *on_larger("bursts"), "--exec", "lull-selftest bursts")
    judge(ran)
    assert "spread: 11 tasks of one CPU wake on 11 CPUs" in ran.stdout
    assert skipped(ran) == []


@pytest.mark.slow
def test_of_four_big_cpus_one_wakes_for_the_end_of_a_wait(lull: Lull) -> None:
    """The default platform has one big CPU. Eight CPUs that take turns need nearly three times as long as its three."""
    ran = lull("boot", "-e", "qemu", "-p", "exynos5422", "--exec", "lull-selftest quiescence")
    judge(ran)
    assert "and none of the 3 other big CPUs does" in ran.stdout


def test_quiescence_has_no_big_cpus_where_all_are_equal(lull: Lull) -> None:
    script = "cd /sys/kernel/lull; echo 1 >hotplug/enabled; echo big >quiescence/hold; echo 1 >quiescence/enabled"
    ran = lull("boot", "-e", "qemu", "-p", "server", "--exec", script)
    assert ran.returncode == 1
    assert "Operation not supported" in ran.stdout + ran.stderr


def test_idle_states_of_clusters_of_several_cpus(lull: Lull) -> None:
    judge(lull("boot", "-e", "qemu", "-p", "rk3399", "--exec", "lull-selftest cstates"))


@pytest.mark.parametrize("platform", ["exynos5422", "exynos7420", "rk3399"])
def test_energy_aware_scheduling_is_on_wherever_cores_differ(lull: Lull, platform: str) -> None:
    """The selftest checks where tasks go, on the default platform: here nothing takes as long as on the machine."""
    govern = "for policy in /sys/devices/system/cpu/cpufreq/policy*; do echo schedutil >$policy/scaling_governor; done"
    script = f"{govern}; sleep 1; cat /proc/sys/kernel/sched_energy_aware; ls /sys/kernel/debug/energy_model"
    ran = lull("boot", "-e", "qemu", "-p", platform, "--exec", script)
    aware, *models = ran.stdout.split()
    assert aware == "1", f"{ran.stdout}{ran.stderr}"
    assert len(models) == len(load_platform(platform).resolved_clusters())


def test_an_unknown_selftest_is_one_sentence(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--exec", "lull-selftest; lull-selftest nothing")
    assert ran.returncode == 2
    *listed, sentence = ran.stdout.splitlines()
    assert listed == names()
    assert sentence == "lull-selftest: there is no selftest 'nothing'; lull-selftest lists them"
