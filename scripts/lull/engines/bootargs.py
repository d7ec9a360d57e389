# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's command line: an engine's own parameters, and those that isolate a shadow core."""

from lull.platform.schema import Platform


def complete(of_engine: str, platform: Platform) -> str:
    """Return the kernel's command line: the engine's parameters, plus those that isolate the shadow core, if any.

    The shadow is the last CPU. kernel-patches/platform/README.md says why these parameters and no others.
    """
    if not platform.shadow.enabled:
        return of_engine
    shadow = platform.cpu_count - 1
    return f"{of_engine} isolcpus=domain,managed_irq,{shadow} irqaffinity=0-{shadow - 1}"
