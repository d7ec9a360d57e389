# SPDX-License-Identifier: BSD-3-Clause
"""When the idle loop began, from which a governor counts the time to the next timer.

After an interrupt it begins with the interrupt's end, which an event tells. After a task it begins some microseconds
after the switch, of which no event tells. From there to the entry a CPU takes about as long as it does from an
interrupt's end, so that the median of those ways in is taken away from the time of the entry. A governor that has
100 us to the tick at the switch has 93 us when it chooses, and a state that is worth 100 us is then too deep.
"""

from collections.abc import Sequence

import numpy as np

from lull.whatif.sleeps import ChosenSleep

FEWEST = 4
"""Ways in that make a median."""

_Kind = tuple[bool, bool]
"""Whether the tick was stopped before the choice, and after it: stopping it takes time."""


def tell(own: Sequence[ChosenSleep]) -> None:
    """Each of a CPU's choices after a task when it began."""
    ways: dict[_Kind, list[int]] = {}
    for one in own:
        if not one.after_task:
            ways.setdefault(_kind(one), []).append(one.start - one.now)
    usual = {kind: int(np.median(took)) for kind, took in ways.items() if len(took) >= FEWEST}
    for one in own:
        if one.after_task and _kind(one) in usual:
            one.began = max(one.now, one.start - usual[_kind(one)])


def _kind(one: ChosenSleep) -> _Kind:
    return one.stopped, one.stops
