# SPDX-License-Identifier: BSD-3-Clause
"""Finds timers of high resolution that were started before the trace began, so that their start is not in the trace.

The first event of such a timer is its expiry, which says when it was due, or its cancellation, which does not. A
cancelled timer is assumed to be due after the trace's begin by the longest time for which its function is ever started.
For example, each CPU has such a timer of the fair scheduler. It is started for 950 ms, and cancelled by the CPU's next
task.
"""

from pathlib import Path

from lull.trace.clock import Clock
from lull.whatif import clues
from lull.whatif.clues import Columns


def of_trace(columns: Columns, clock: Clock, path: Path, tick: int, begin: int) -> dict[int, tuple[int, int]]:
    """Return CPU and due time of each such timer, except the tick's (function `tick`). `begin` is the trace's."""
    started, ahead = _starts(columns, clock, path)
    found: dict[int, tuple[int, int, int]] = {}
    """For each timer: time of its first event, CPU, and time at which it was due."""
    for cpu, stamps, (timers, functions, now) in columns["hrtimer_expire_entry"]:
        for timer, function, stamp, due in clues.rows(timers, functions, stamps, now):
            if function != tick:
                found[timer] = min(found.get(timer, (stamp, cpu, due)), (stamp, cpu, due))
    for cpu, stamps, (timers,) in columns["hrtimer_cancel"]:
        for timer, stamp in clues.rows(timers, stamps):
            _, function = started.get(timer, (0, tick))  # no event has the function of a timer without a start
            if function != tick:
                own = stamp, cpu, begin + ahead[function]
                found[timer] = min(found.get(timer, own), own)
    return {
        timer: (cpu, due)
        for timer, (stamp, cpu, due) in found.items()
        if timer not in started or stamp < started[timer][0]
    }


def _starts(columns: Columns, clock: Clock, path: Path) -> tuple[dict[int, tuple[int, int]], dict[int, int]]:
    """Return stamp and function of each timer's first start, and the longest time ahead of each function's starts."""
    started: dict[int, tuple[int, int]] = {}
    ahead: dict[int, int] = {}
    for _, stamps, (timers, expiries, functions) in columns["hrtimer_start"]:
        longest = expiries - clues.monotonic(clock, stamps, path)
        for timer, function, stamp, long in clues.rows(timers, functions, stamps, longest):
            started[timer] = min(started.get(timer, (stamp, function)), (stamp, function))
            ahead[function] = max(ahead.get(function, 0), long)
    return started, ahead
