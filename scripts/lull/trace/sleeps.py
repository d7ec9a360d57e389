# SPDX-License-Identifier: BSD-3-Clause
"""A CPU's sleeps as Linux sees them: from the request for an idle state until the CPU is back."""

from typing import NamedTuple

import numpy as np

from lull.trace.activity import Changes
from lull.trace.events import Numbers

NEVER = 1 << 62


class Sleeps(NamedTuple):
    """The sleeps of a CPU, ordered by time. `state` is Linux's index. The end of an unfinished sleep is NEVER."""

    start: Numbers
    end: Numbers
    state: Numbers


def sleeps(changes: Changes) -> Sleeps:
    start = np.flatnonzero(changes.state >= 0)
    end = np.append(changes.time, NEVER)[start + 1]
    return Sleeps(changes.time[start], end, changes.state[start])
