# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's command line: what an engine needs, and what keeps a shadow core free."""

from lull.platform.schema import Platform


def complete(of_engine: str, platform: Platform) -> str:
    """Return what the engine needs, and for a machine with a shadow core the parameters that isolate the shadow.

    The shadow is the last CPU. kernel-patches/platform/README.md says why these parameters and no others.
    """
    if not platform.shadow.enabled:
        return of_engine
    shadow = platform.cpu_count - 1
    return f"{of_engine} isolcpus=domain,managed_irq,{shadow} irqaffinity=0-{shadow - 1}"
