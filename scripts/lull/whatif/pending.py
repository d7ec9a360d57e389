# SPDX-License-Identifier: BSD-3-Clause
"""Timers of high resolution that were started before the trace began: no event of a start tells of them.

The first event of such a timer is that it expires, which says when it was due, or that it is cancelled. Of a cancelled
one no event says when it was due. It is taken to be as long ahead of the trace's begin as the longest start of the same
function is. Each CPU has such a timer: the fair scheduler's, which is started 950 ms ahead and cancelled by the CPU's
next task.
"""

from pathlib import Path

from lull.trace.clock import Clock
from lull.whatif import clues
from lull.whatif.clues import Columns


def of_trace(columns: Columns, clock: Clock, path: Path, tick: int, begin: int) -> dict[int, tuple[int, int]]:
    """Of each such timer but the tick's, the function `tick`: its CPU, and when it is due. `begin`: of the trace."""
    started, ahead = _starts(columns, clock, path)
    found: dict[int, tuple[int, int, int]] = {}
    """When its first event is, on which CPU, when it was due."""
    for cpu, stamps, (timers, functions, now) in columns["hrtimer_expire_entry"]:
        for timer, function, stamp, due in clues.rows(timers, functions, stamps, now):
            if function != tick:
                found[timer] = min(found.get(timer, (stamp, cpu, due)), (stamp, cpu, due))
    for cpu, stamps, (timers,) in columns["hrtimer_cancel"]:
        for timer, stamp in clues.rows(timers, stamps):
            _, function = started.get(timer, (0, tick))  # of a timer that is never started, no event tells more
            if function != tick:
                own = stamp, cpu, begin + ahead[function]
                found[timer] = min(found.get(timer, own), own)
    return {
        timer: (cpu, due)
        for timer, (stamp, cpu, due) in found.items()
        if timer not in started or stamp < started[timer][0]
    }


def _starts(columns: Columns, clock: Clock, path: Path) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    """Stamp and function of each timer's first start, and how long ahead each function is started at most."""
    started: dict[int, tuple[int, int]] = {}
    ahead: dict[int, int] = {}
    for _, stamps, (timers, expiries, functions) in columns["hrtimer_start"]:
        longest = expiries - clues.monotonic(clock, stamps, path)
        for timer, function, stamp, long in clues.rows(timers, functions, stamps, longest):
            started[timer] = min(started.get(timer, (stamp, function)), (stamp, function))
            ahead[function] = max(ahead.get(function, 0), long)
    return started, ahead
