# SPDX-License-Identifier: BSD-3-Clause
"""CPUs that may go offline, with a shadow core and without: kernel-patches/platform/README.md says why."""

import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest

BUSY = "Device or resource busy"


def offline(lull: Lull, option: str, *cpus: int) -> list[str]:
    """For each CPU in turn, what the shell says against it, if anything; at last who is online."""
    tries = "; ".join(f"(echo 0 >/sys/devices/system/cpu/cpu{cpu}/online) 2>&1 || :; echo cpu{cpu}" for cpu in cpus)
    ran = lull("boot", "-e", "qemu", option, "--exec", f"{tries}; cat /sys/devices/system/cpu/online")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()


def test_the_last_main_core_stays_although_the_shadow_is_online(lull: Lull) -> None:
    *said, last, online = offline(lull, "--shadow", 0, 1)
    assert (said[0], last, online) == ("cpu0", "cpu1", "1-2")
    assert len(said) == 2
    assert said[1].endswith(BUSY)


def test_the_shadow_goes_and_then_every_main_core_but_one(lull: Lull) -> None:
    *said, last, online = offline(lull, "--shadow", 2, 0, 1)
    assert (said[:2], last, online) == (["cpu2", "cpu0"], "cpu1", "1")
    assert said[2].endswith(BUSY)


def test_without_a_shadow_the_last_of_all_stays(lull: Lull) -> None:
    """All but the last CPU go, as upstream's `cpu-hotplug -a` asks."""
    assert offline(lull, "--no-shadow", 0) == ["cpu0", "1"]
