# SPDX-License-Identifier: BSD-3-Clause
"""Estimates the begin of the idle loop, from which a governor counts the time to the next timer.

The begin matters: a governor that has 100 us to the tick at the switch from a task has only 93 us when it chooses, so a
state with a residency of 100 us is too deep. After an interrupt, the idle loop begins with the interrupt's end, for
which there is an event. After a task, it begins some microseconds after the switch, without an event. A CPU takes about
the same time from there to the entry as from an interrupt's end to the entry. So the median of these times is
subtracted from the time of the entry.
"""

from itertools import product

import numpy as np

from lull.whatif.sleeps import Sleeps

FEWEST = 4
"""The smallest number of entries for a median."""


def tell(own: Sleeps) -> None:
    """Write the begin of the idle loop for each of a CPU's choices after a task. Entries that stop the tick are
    compared only with each other, because to stop it takes time."""
    for stopped, stops in product((False, True), repeat=2):
        alike = (own["stopped"] == stopped) & (own["stops"] == stops)
        others, late = alike & ~own["after_task"], alike & own["after_task"]
        ways = own["start"][others] - own["now"][others]
        if ways.size >= FEWEST:
            own["began"][late] = np.maximum(own["now"][late], own["start"][late] - int(np.median(ways)))
