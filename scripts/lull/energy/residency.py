# SPDX-License-Identifier: BSD-3-Clause
"""The time that each core ran, stood in WFI or was turned off, by gem5's power states.

After a restore a CPU's first window also holds the time between its last change of state before the checkpoint and the
checkpoint itself. It was in that state when the run began, so the surplus is the state's: ON, if the core's clock did
not tick as often as ON says, else CLK_GATED.
"""

from dataclasses import dataclass

from lull.energy.occupancy import ClosureError
from lull.energy.windows import Window

POWER_STATE = "power_state.pwrStateResidencyTicks::"
CYCLES = "numCycles"
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Residency:
    """The times of one CPU in one window, in ticks."""

    on: float
    gated: float
    off: float


def residency(window: Window, cpu: str, period: float, restored: bool) -> Residency:
    """gem5 leaves out states that a CPU was not in; those that it was in sum to the window, or it raises.

    `restored`: the window is the first after a restore; `period`: ticks of a cycle.
    """
    on, gated, off = (window.get(f"{cpu}.{POWER_STATE}{state}", 0.0) for state in ("ON", "CLK_GATED", "OFF"))
    surplus = on + gated + off - window.ticks
    if restored and surplus > 0:
        clocked = window.get(f"{cpu}.{CYCLES}", 0.0) * period
        if surplus <= on and (surplus > gated or abs(on - surplus - clocked) < abs(on - clocked)):
            on -= surplus
        else:
            gated -= surplus
    whole = on + gated + off
    if abs(whole - window.ticks) > TOLERANCE * window.ticks or gated < 0:
        raise ClosureError(
            f"window {window.number}, {cpu}: power states sum to {whole:.0f} of {window.ticks} ticks; the statistics "
            "were reset in between or are of another gem5 than 24 or 25, so record the run again"
        )
    return Residency(on, gated, off)
