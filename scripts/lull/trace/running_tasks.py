# SPDX-License-Identifier: BSD-3-Clause
"""Finds when the tasks of one program ran, by a run's trace: CPU, wake-up before, and sleep after."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lull.platform.schema import Platform
from lull.trace import events, spans
from lull.trace.datfile import TraceFile
from lull.trace.events import Numbers
from lull.trace.origins import TASK
from lull.trace.recording import Recording
from lull.trace.spans import ACTIVE

SLEEPS, LEAVES, WAKING, RUNS = range(4)
"""What happens to a task. If two things happen at one tick, the smaller number was first."""
_ASLEEP = 0xFF
"""A mask of the states of sleeping tasks in `sched_switch`. A preempted task has 256 or more, a task that gave its CPU
up has 0."""


@dataclass(frozen=True)
class TaskRuns:
    """The spans in which one task ran, ordered by time. All times are gem5's ticks."""

    start: Numbers
    end: Numbers
    cpu: Numbers
    slept: npt.NDArray[np.bool_]
    """True if the task went to sleep before it ran again."""
    woken: Numbers
    """The times at which the task was woken from a sleep and then ran."""


def runs(trace: TraceFile, record: Recording, platform: Platform, comm: str) -> dict[int, TaskRuns]:
    """Return the runs of each task whose last name this is, by pid. Interrupts during a task do not count."""
    pids = {code: pid for code, text in enumerate(record.names) if (pid := _pid(text, comm)) is not None}
    where = _where(record, platform, pids)
    happened = _happened(trace, record, np.array(list(pids.values()), np.int64))
    return {pid: task_runs(*where[code], happened[:, happened[0] == pid][1:]) for code, pid in pids.items()}


def _pid(cause: str, comm: str) -> int | None:
    name, _, pid = cause.rpartition("/")
    return int(pid) if name == f"{TASK}{comm}" else None


def _where(record: Recording, platform: Platform, pids: dict[int, int]) -> dict[int, tuple[Numbers, Numbers, Numbers]]:
    """Return starts, ends and CPUs of the spans in which each task ran."""
    parts: list[Numbers] = []
    for part in spans.by_cpu(record, platform):
        own = np.flatnonzero((part.state == part.states.index(ACTIVE)) & np.isin(part.cause, list(pids)))
        cpu = np.full(own.size, part.cpu, np.int64)
        parts.append(np.stack([part.cause[own], part.start[own], part.end[own], cpu]))
    every = np.concatenate(parts, axis=1)
    every = every[:, np.lexsort((every[1], every[0]))]
    found = {}
    for code in pids:
        begin, end = np.searchsorted(every[0], [code, code + 1]).tolist()
        found[code] = (every[1, begin:end], every[2, begin:end], every[3, begin:end])
    return found


def _happened(trace: TraceFile, record: Recording, pids: Numbers) -> Numbers:
    """Return three rows: pids, ticks, and what happened to the task at the tick."""
    found: list[Numbers] = [np.empty((3, 0), np.int64)]
    for cpu in trace.cpus:
        for batch in events.batches(trace, cpu):
            for event, field, kind in (
                ("sched_waking", "pid", WAKING),
                ("sched_switch", "prev_pid", LEAVES),
                ("sched_switch", "next_pid", RUNS),
            ):
                which = batch.of(event)
                pid = batch.numbers(event, field, which) if which.size else which
                own = np.isin(pid, pids)
                which, pid = which[own], pid[own]
                kinds = np.full(which.size, kind, np.int64)
                if kind == LEAVES and which.size:
                    kinds[batch.numbers(event, "prev_state", which) & _ASLEEP != 0] = SLEEPS
                found.append(np.stack([pid, record.clock.ticks(batch.time[which], trace.path), kinds]))
    return np.concatenate(found, axis=1)


def task_runs(start: Numbers, end: Numbers, cpu: Numbers, happened: Numbers) -> TaskRuns:
    """Return the runs of one task, from its spans, and from the ticks at which something happened to it."""
    ticks, kind = happened[:, np.lexsort((happened[1], happened[0]))]
    sleeps = ticks[kind == SLEEPS]
    passed = np.append(np.searchsorted(sleeps, start, side="right"), sleeps.size)
    woken = (kind[:-2] == SLEEPS) & (kind[1:-1] == WAKING) & (kind[2:] == RUNS)
    return TaskRuns(start, end, cpu, np.diff(passed) > 0, ticks[1:-1][woken])
