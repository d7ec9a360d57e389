# SPDX-License-Identifier: BSD-3-Clause
"""Main memory: one DRAM controller for each channel, interleaved.

The timing of a kind of DRAM is gem5's own description of a device of that kind and speed. How many devices there are,
how wide, and what currents they take, is the platform's, if it says so.
"""

from __future__ import annotations

from typing import Any

from failure import Failure
from m5 import objects
from spec import DramParts, Memory

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
        dram = interface(range=_share(base, memory, channel), enable_dram_powerdown=memory.powerdown)
        if memory.parts is not None:
            _fit(dram, memory.parts)
        controller = objects.MemCtrl(dram=dram)
        controller.port = bus.mem_side_ports
        found.append(controller)
    return found


CURRENTS = {
    "idd0": "IDD0",
    "idd2n": "IDD2N",
    "idd2p": "IDD2P1",
    "idd3n": "IDD3N",
    "idd3p": "IDD3P1",
    "idd4r": "IDD4R",
    "idd4w": "IDD4W",
    "idd5": "IDD5",
    "idd6": "IDD6",
}
"""gem5 enters power-down by the commands of fast exit alone, whose currents end in 1."""


def _fit(dram: Any, parts: DramParts) -> None:
    dram.ranks_per_channel = parts.ranks
    dram.devices_per_rank = parts.devices
    dram.device_bus_width = parts.bits
    dram.device_size = f"{parts.bytes}B"
    dram.device_rowbuffer_size = f"{parts.row_bytes}B"
    dram.tRFC = f"{parts.refresh_ps}ps"
    dram.tXP = f"{parts.powerdown_exit_ps}ps"
    dram.tXS = f"{parts.self_refresh_exit_ps}ps"
    for rail, suffix in zip(parts.rails, ("", "2"), strict=False):
        setattr(dram, f"VDD{suffix}", f"{rail.volts}V")
        for name, current in CURRENTS.items():
            setattr(dram, f"{current}{suffix}", f"{rail.amperes[name]}A")


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
