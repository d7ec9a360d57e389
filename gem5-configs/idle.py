# SPDX-License-Identifier: BSD-3-Clause
"""What a sleeping CPU is on this machine.

CLK_GATED is a CPU in WFI. OFF is a CPU that firmware has turned off through the power controller: it loses its state
and starts again at the reset address. gem5 can also call a CPU OFF that merely waits long enough, which changes the
statistics and nothing else. That stays disabled, so that OFF means one thing.
"""

from __future__ import annotations

from typing import Any


def configure(cpu: Any) -> None:
    """Residency statistics of a CPU that mean what the C-states mean."""
    cpu.power_gating_on_idle = False
    cpu.power_state.possible_states = ["ON", "CLK_GATED", "OFF"]
