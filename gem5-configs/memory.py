# SPDX-License-Identifier: BSD-3-Clause
"""Main memory: one DRAM controller for each channel, interleaved.

The timing of a kind of DRAM is gem5's own description of a device of that kind and speed.
"""

from __future__ import annotations

from typing import Any

from failure import Failure
from m5 import objects
from spec import Memory

INTERFACES = {
    "ddr3-1600": "DDR3_1600_8x8",
    "ddr4-2400": "DDR4_2400_8x8",
    "lpddr3-1600": "LPDDR3_1600_1x32",
}

STRIPE_BITS = 8
"""Channels take turns every 256 bytes: four cache lines, within a DRAM row of every kind."""


def whole(base: int, memory: Memory) -> Any:
    """Main memory as one range."""
    return objects.AddrRange(start=base, size=memory.size_bytes)


def controllers(base: int, memory: Memory, bus: Any) -> list[Any]:
    """The channels, connected to the interconnect."""
    interface = getattr(objects, INTERFACES[memory.kind], None)
    if interface is None:
        raise Failure(f"this gem5 lacks {INTERFACES[memory.kind]} for memory of kind {memory.kind}; use another kind")
    if memory.size_bytes % (memory.channels << STRIPE_BITS):
        raise Failure(f"{memory.size_bytes} bytes do not divide by {memory.channels} channels; change the size")
    found = []
    for channel in range(memory.channels):
        controller = objects.MemCtrl(dram=interface(range=_share(base, memory, channel)))
        controller.port = bus.mem_side_ports
        found.append(controller)
    return found


def _share(base: int, memory: Memory, channel: int) -> Any:
    bits = memory.channels.bit_length() - 1
    if bits == 0:
        return whole(base, memory)
    return objects.AddrRange(
        start=base,
        size=memory.size_bytes,
        intlvHighBit=STRIPE_BITS + bits - 1,
        intlvBits=bits,
        intlvMatch=channel,
    )
