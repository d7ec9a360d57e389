# SPDX-License-Identifier: BSD-3-Clause
"""The Foundation platform's devices as this machine uses them, and the event timers that it adds.

The console goes to a file in the output directory and nothing listens on a socket. The display, the keyboard and the
mouse are there, because the platform's map has them, and do nothing.
"""

from __future__ import annotations

from typing import Any

import interrupts
from m5 import objects
from m5.params import NULL
from spec import EventTimer

M5OPS_BASE = 0x1001_0000
"""The address at which the guest reaches m5 operations by loads."""

COUNTER_HZ = 0x180_0000
"""The system counter's frequency, gem5's own default: the unit of the guest's and the firmware's clocks."""

REAL_TIME = "01/01/2026"
"""Every simulation starts on the same day."""


def platform() -> Any:
    realview = objects.VExpress_GEM5_Foundation()
    realview.clcd.vnc = NULL
    realview.clcd.enable_capture = False
    realview.kmi0.ps2.vnc = NULL
    realview.kmi1.ps2.vnc = NULL
    realview.rtc.time = REAL_TIME
    realview.sys_counter.freqs = [COUNTER_HZ]
    return realview


def console() -> Any:
    """The terminal of the first UART."""
    return objects.Terminal(outfile="file")


def add_event_timers(realview: Any, timers: tuple[EventTimer, ...], bus: Any) -> list[Any]:
    """Dual timers at the places that the map has for them; both halves raise the same interrupt."""
    found = []
    for number, timer in enumerate(timers):
        device = objects.Sp804(
            pio_addr=timer.base,
            int0=interrupts.spi(timer.spi),
            int1=interrupts.spi(timer.spi),
            clock0=f"{timer.clock_hz}Hz",
            clock1=f"{timer.clock_hz}Hz",
        )
        setattr(realview, f"event_timer{number}", device)
        device.pio = bus.mem_side_ports
        found.append(device)
    return found
