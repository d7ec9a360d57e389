# SPDX-License-Identifier: BSD-3-Clause
"""The energy of a trip into an idle state and back: the numbers that a what-if may set."""

from collections.abc import Mapping

from lull.energy import states

SWITCH_LEAKAGE, DIRTY, RAIL = "switch_leakage", "dirty_share", "rail_nf_per_mm2"
OF_ALL = (SWITCH_LEAKAGE, DIRTY, RAIL)
MOST = {RAIL: 100.0}
"""For a square millimetre of silicon. The others are shares."""


def factor(which: str, numbers: Mapping[str, float]) -> float:
    """The number that is set, beside the model's."""
    usual: float = getattr(states.load().transition, which).value
    return numbers.get(f"transition.{which}", usual) / usual
