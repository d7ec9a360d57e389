# SPDX-License-Identifier: BSD-3-Clause
"""RunSpecs of tests."""

from lull.runspec.settings import resolve
from lull.runspec.spec import Limits, RunSpec


def spec(*settings: str, platform: str = "tiny", **changes: object) -> RunSpec:
    """A run of `true` on QEMU with these settings, and other fields changed as they are."""
    asked = resolve(platform, settings)
    plain = RunSpec(
        engine="qemu", cpu=None, platform=asked.platform, told_at_boot=asked.told_at_boot, policy=asked.policy,
        flavour="default", command="true", limits=Limits(simulated_s=1, wall_s=1),
    )  # fmt: skip
    return plain.model_copy(update=changes)
