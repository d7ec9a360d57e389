# SPDX-License-Identifier: BSD-3-Clause
"""The time in which each core ran, was in WFI, or was turned off, by gem5's power states.

After a restore, a CPU's first window has a surplus: the time between its last change of state before the checkpoint and
the checkpoint itself. The surplus is subtracted from the state at the checkpoint. This was ON if the core's clock
ticked less often than ON says; otherwise it was CLK_GATED.
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
    """Return the times of a CPU in a window. Raise an error if they do not sum to the window. gem5 leaves out states in
    which a CPU was not. `restored` is true for the first window after a restore. `period` is ticks per cycle."""
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
