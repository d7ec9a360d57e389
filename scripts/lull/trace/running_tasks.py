# SPDX-License-Identifier: BSD-3-Clause
"""When the tasks of one program ran, by a run's trace: on which CPU, after which wake-up, and until they slept."""

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
"""What happens to a task. Of two things at one tick, the smaller number was first."""
_ASLEEP = 0xFF
"""The states of a task that sleeps, in `sched_switch`. Linux notes a task that was pushed off its CPU as 256 or more,
and one that gave its CPU up as 0."""


@dataclass(frozen=True)
class TaskRuns:
    """One task's, in the order of time. All times are gem5's ticks."""

    start: Numbers
    end: Numbers
    cpu: Numbers
    slept: npt.NDArray[np.bool_]
    """True where the task went to sleep before it ran again."""
    woken: Numbers
    """When the task was woken from a sleep, and the next that it did was to run."""


def runs(trace: TraceFile, record: Recording, platform: Platform, comm: str) -> dict[int, TaskRuns]:
    """Return what each task ran that had this name last, by its pid. Interrupts on top of a task are no part of it."""
    pids = {code: pid for code, text in enumerate(record.names) if (pid := _pid(text, comm)) is not None}
    where = _where(record, platform, pids)
    happened = _happened(trace, record, np.array(list(pids.values()), np.int64))
    return {pid: task_runs(*where[code], happened[:, happened[0] == pid][1:]) for code, pid in pids.items()}


def _pid(cause: str, comm: str) -> int | None:
    name, _, pid = cause.rpartition("/")
    return int(pid) if name == f"{TASK}{comm}" else None


def _where(record: Recording, platform: Platform, pids: dict[int, int]) -> dict[int, tuple[Numbers, Numbers, Numbers]]:
    """Starts, ends and CPUs of the spans in which each task ran."""
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
    """Rows of pids, ticks and what happened to the task then."""
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
    """Of one task: the spans in which it ran, and rows of ticks and of what happened to it then."""
    ticks, kind = happened[:, np.lexsort((happened[1], happened[0]))]
    sleeps = ticks[kind == SLEEPS]
    passed = np.append(np.searchsorted(sleeps, start, side="right"), sleeps.size)
    woken = (kind[:-2] == SLEEPS) & (kind[1:-1] == WAKING) & (kind[2:] == RUNS)
    return TaskRuns(start, end, cpu, np.diff(passed) > 0, ticks[1:-1][woken])
