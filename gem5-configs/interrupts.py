# SPDX-License-Identifier: BSD-3-Clause
"""Interrupt numbers, and the controller of the Foundation platform: GICv3 without an ITS.

The controller counts the CPUs that were created before it, in the order of their names; `cluster0` comes before
`realview`, and each CPU's number in the controller is its number in the device tree.
"""

from __future__ import annotations

from typing import Any

from failure import Failure
from m5 import objects

FIRST_SPI = 32
"""The controller's number of shared peripheral interrupt 0."""


def spi(number: int) -> Any:
    """A shared peripheral interrupt, by the number that a device tree gives it."""
    return objects.ArmSPI(num=FIRST_SPI + number)


def check_room(realview: Any, cpus: int) -> None:
    """Each CPU takes one redistributor."""
    room = int(realview.gic.cpu_max)
    if cpus > room:
        raise Failure(f"the platform has {cpus} CPUs, and the interrupt controller serves {room}; use fewer CPUs")
