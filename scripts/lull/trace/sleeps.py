# SPDX-License-Identifier: BSD-3-Clause
"""A CPU's sleeps as Linux sees them: from asking for an idle state to being back."""

from typing import NamedTuple

import numpy as np

from lull.trace.activity import Changes
from lull.trace.events import Numbers

NEVER = 1 << 62


class Sleeps(NamedTuple):
    """The sleeps of a CPU in the order of time. `state` is Linux's index. A sleep that goes on ends NEVER."""

    start: Numbers
    end: Numbers
    state: Numbers


def sleeps(changes: Changes) -> Sleeps:
    start = np.flatnonzero(changes.state >= 0)
    end = np.append(changes.time, NEVER)[start + 1]
    return Sleeps(changes.time[start], end, changes.state[start])
