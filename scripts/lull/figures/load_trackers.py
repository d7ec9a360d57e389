# SPDX-License-Identifier: BSD-3-Clause
"""Computes PELT and util_est as Linux 6.12 does, in floating point. Also has the constants of WAEAS's windows.

Some rules of Linux 6.12 are left out. Linux does not update util_est if PELT's numbers have not changed since the task
woke; they change about once in 1024 µs. Linux does not lower util_est if the task had to wait for its CPU, or if the
load is above the CPU's capacity. In Linux, PELT's clock catches up when the CPU idles; here, when the task sleeps.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

ONE = 1024
"""The load of a task that always runs on the fastest CPU at its highest clock."""
REMEMBERED = 5
WINDOW = 20000
"""The length of a window in µs. Predictions are for the same length of time."""
HALF_LIFE = 32 * 1024
"""The µs in which PELT halves a load: 32 periods of 1024 µs."""
MARGIN = ONE / 100
"""util_est follows a falling load only if it falls by at least this."""
TRACKERS = ("walt", "bes", "pelt", "util_est")


def decayed(load: float, us: float) -> float:
    """Return the rest of a load after `us` µs of sleep."""
    return load * 2 ** (-us / HALF_LIFE)


class Tracked(NamedTuple):
    """Linux's numbers for a task at the end of a piece of work."""

    util: float
    """`util_avg`."""
    behind: float
    """How far PELT's clock is behind, in µs."""
    kept: float
    """`util_est`."""


def tracked(pieces: Iterable[tuple[float, float, float, bool]]) -> Iterator[Tracked]:
    """Yield Linux's numbers after each piece of work.

    A piece is its start and end in µs, the CPU's speed (`ONE` is the fastest), and true if the task then went to sleep;
    false if it left its CPU, or the CPU changed its speed. While a task is awake, PELT's clock is slowed down to the
    CPU's speed. So the load of a task that always works approaches 1024 on any CPU.
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
