# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's command line: what an engine needs, and what keeps a shadow core free."""

from lull.platform.schema import Platform


def complete(engine: str, platform: Platform) -> str:
    """The engine's part, and for a machine with a shadow core what isolates it.

    The shadow is the last CPU. kernel-patches/platform/README.md says why these parameters and no others.
    """
    if not platform.shadow.enabled:
        return engine
    shadow = platform.cpu_count - 1
    return f"{engine} isolcpus=domain,managed_irq,{shadow} irqaffinity=0-{shadow - 1}"
