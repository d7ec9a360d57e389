# SPDX-License-Identifier: BSD-3-Clause
"""What Linux 6.12 keeps of a task's load, in floating point: PELT and util_est. And the numbers of WAEAS's windows.

Linux 6.12 has rules that are left out here. util_est is not updated if PELT's numbers have not changed since the task
woke, which they do about once in 1024 µs. It does not fall where the task had to wait for its CPU, or where the load is
more than the CPU's capacity. Linux's clock for PELT catches up when the CPU idles, and here when the task sleeps.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

ONE = 1024
"""The fastest CPU at its fastest, all the time."""
REMEMBERED = 5
WINDOW = 20000
"""The length of a window in µs, and also how far ahead is predicted."""
HALF_LIFE = 32 * 1024
"""PELT halves a load in 32 periods of 1024 µs."""
MARGIN = ONE / 100
"""util_est follows a load downwards if it falls by more than this."""
TRACKERS = ("walt", "bes", "pelt", "util_est")


def decayed(load: float, us: float) -> float:
    """What is left of a load after so long."""
    return load * 2 ** (-us / HALF_LIFE)


class Tracked(NamedTuple):
    """What Linux keeps of a task at the end of a piece."""

    util: float
    """`util_avg`."""
    behind: float
    """By how many µs PELT's clock is behind."""
    kept: float
    """`util_est`."""


def tracked(pieces: Iterable[tuple[float, float, float, bool]]) -> Iterator[Tracked]:
    """Yield what Linux keeps after each piece of work, in their order: start and end in µs, the CPU's speed of `ONE`,
    and whether the task went to sleep then, or had to leave its CPU, or its CPU changed its speed.

    PELT's clock is as slow as the CPU while the task is awake. So a task that works all the time has the load 1024 on
    any CPU, in the end.
    """
    util, kept, time, behind, speed, slept = 0.0, 0.0, 0.0, 0.0, float(ONE), True
    for start, end, new_speed, sleeps in pieces:
        if slept:
            util, behind = decayed(util, start - time + behind), 0.0
        else:
            util = decayed(util, (start - time) * speed / ONE)
            behind += (start - time) * (1 - speed / ONE)
        util = ONE + decayed(util - ONE, (end - start) * new_speed / ONE)
        behind += (end - start) * (1 - new_speed / ONE)
        time, speed, slept = end, new_speed, sleeps
        if slept and kept <= util:
            kept = util
        elif slept and kept - util >= MARGIN:
            kept += (util - kept) / 4
        yield Tracked(util, behind, kept)
