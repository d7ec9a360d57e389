# SPDX-License-Identifier: BSD-3-Clause
"""Each setting of each kernel system, in the kernel: its default after boot, and every value taken and read back."""

import pytest

from lull.systems import folder
from lull.systems.manifest import Setting
from tests.conftest import Lull

pytestmark = pytest.mark.guest

# The platform with every device, and a shadow core, so that its kernel takes every system's settings.
ALL_DEVICES = ("-p", "exynos5422", "--set", "shadow.enabled=true")


def words(key: str, setting: Setting) -> str:
    """All values and then the default, in one call of lull-policy each."""
    values = [*setting.examples(), str(setting.default)]
    return "\n".join(f"lull-policy file={key}:{setting.path}:{value} || failed=1" for value in values)


def test_every_default_is_what_the_kernel_has_after_boot(lull: Lull) -> None:
    paths = [setting.path for setting in folder.settings().values()]
    ran = lull("boot", "-e", "qemu", *ALL_DEVICES, "--exec", f"cat {' '.join(paths)}")
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    assert ran.stdout.split() == [str(setting.default) for setting in folder.settings().values()]


def test_every_value_is_taken_and_read_back(lull: Lull) -> None:
    script = "\n".join(words(key, setting) for key, setting in folder.settings().items())
    ran = lull("boot", "-e", "qemu", *ALL_DEVICES, "--exec", f"{script}\n[ -z $failed ] && echo all of them")
    assert (ran.returncode, ran.stdout) == (0, "all of them\n"), ran.stderr


def test_a_setting_is_in_force_when_the_command_starts(lull: Lull) -> None:
    ask = "cd /sys/kernel/lull/esm; cat dispatch fifo enabled"
    settings = ("--set", "esm.enabled=1", "--set", "esm.dispatch=thread", "--set", "esm.fifo=9")
    ran = lull("boot", "-e", "qemu", *settings, "--exec", ask)
    assert (ran.returncode, ran.stdout.split()) == (0, ["thread", "9", "1"]), ran.stderr


def test_a_value_that_the_kernel_refuses_ends_the_run_with_a_sentence(lull: Lull) -> None:
    """The machine has no shadow core, which the manifest cannot know."""
    settings = ("--no-shadow", "--set", "platform.routing.policy=always-shadow")
    ran = lull("boot", "-e", "qemu", *settings, "--exec", "echo not reached")
    path = "/sys/kernel/lull/routing/policy"
    sentence = f"lull: platform.routing.policy=always-shadow: {path} refuses always-shadow\n"
    assert (ran.returncode, ran.stdout) == (125, sentence)
