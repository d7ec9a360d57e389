# SPDX-License-Identifier: BSD-3-Clause
"""When the idle loop began, from which a governor counts the time to the next timer.

After an interrupt it begins with the interrupt's end, which an event tells. After a task it begins some microseconds
after the switch, of which no event tells. From there to the entry a CPU takes about as long as it does from an
interrupt's end, so that the median of those ways in is taken away from the time of the entry. A governor that has
100 us to the tick at the switch has 93 us when it chooses, and a state that is worth 100 us is then too deep.
"""

from itertools import product

import numpy as np

from lull.whatif.sleeps import Sleeps

FEWEST = 4
"""Ways in that make a median."""


def tell(own: Sleeps) -> None:
    """Each of a CPU's choices after a task when it began. Ways in on which the tick is stopped are compared among
    themselves, because stopping it takes time."""
    for stopped, stops in product((False, True), repeat=2):
        alike = (own["stopped"] == stopped) & (own["stops"] == stops)
        others, late = alike & ~own["after_task"], alike & own["after_task"]
        ways = own["start"][others] - own["now"][others]
        if ways.size >= FEWEST:
            own["began"][late] = np.maximum(own["now"][late], own["start"][late] - int(np.median(ways)))
