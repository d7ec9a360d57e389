# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long tasks of one name wait for a CPU: from their wake-up until they run.

Wake-ups of a task that has not left its CPU are left out: such a task runs on, and its wait is not known.
"""

import numpy as np

from lull.trace import events
from lull.trace.clock import TICKS_PER_US, Clock
from lull.trace.datfile import TraceFile
from lull.trace.events import Numbers

_WAKING, _LEAVES, _RUNS = range(3)
_FIELDS = {
    "sched_waking": (("comm", "pid", _WAKING),),
    "sched_switch": (("prev_comm", "prev_pid", _LEAVES), ("next_comm", "next_pid", _RUNS)),
}


def waits(trace: TraceFile, comm: str, clock: Clock) -> tuple[Numbers, np.typing.NDArray[np.float64]]:
    """Return the ticks at which tasks of this name were woken, and the microseconds until they ran."""
    found: list[Numbers] = []
    for cpu in trace.cpus:
        for batch in events.batches(trace, cpu):
            for event, fields in _FIELDS.items():
                which = batch.of(event)
                for name, number, kind in fields if which.size else ():
                    mine = which[batch.texts(event, name, which) == comm.encode()]
                    ticks = clock.ticks(batch.time[mine], trace.path)
                    found.append(np.stack([batch.numbers(event, number, mine), ticks, np.full(mine.size, kind)]))
    return paired(np.concatenate(found, axis=1) if found else np.empty((3, 0), np.int64))


def paired(rows: Numbers) -> tuple[Numbers, np.typing.NDArray[np.float64]]:
    """Return the same from rows of tasks, ticks and events. A waking counts if the task's next event is to run."""
    task, ticks, kind = rows[:, np.lexsort((rows[2], rows[1], rows[0]))]
    ran = np.flatnonzero((kind[:-1] == _WAKING) & (kind[1:] == _RUNS) & (task[:-1] == task[1:]))
    return ticks[ran], (ticks[ran + 1] - ticks[ran]) / TICKS_PER_US
