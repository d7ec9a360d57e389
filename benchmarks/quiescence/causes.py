# SPDX-License-Identifier: BSD-3-Clause
"""Who was on the user's path: as the trace of all wake-ups has it afterwards, and as the kernel's tracker had it then.

Afterwards, one can go back from the end: who woke the task that the user sees last, who woke that one before, and so
on. A task that an interrupt woke had waited for something outside; it was there because of an earlier wake-up, so one
goes on with that.

A task that is awake is not woken, so a trace does not show who tells it something then. The release of a key wakes the
user interface. If the load is not over by then, the last process may find it awake, and the way back ends where it
begins. Such a load says nothing about the tracker.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from lull.plotting.markdown import markdown_table
from lull.rundir.folder import TRACE
from lull.rundir.run import Run
from lull.trace import events as events_of
from lull.trace.datfile import TraceFile

IN_INTERRUPT = 0x08 | 0x10
"""Of an event's flags: in the handler of an interrupt, or in what is left of it (softirq)."""

WAKES = ("sched_waking", "sched_wakeup_new")
"""Events of a task that is woken. The second one is a new task's first, and its cause is the parent."""

RELEASE_NS = 3000000
"""From the release of a key to the next press, in runs of a `browser.c` that did not write `released_ns` yet."""

Row = dict[str, Any]


class Waking(NamedTuple):
    """`by`: the task that caused it, or None for an interrupt."""

    time: int
    task: int
    by: int | None


@dataclass(frozen=True)
class Action:
    """A key press that `consumer` has read, until the next one; whom the kernel took for the path."""

    begin: int
    end: int
    consumer: int
    chain: frozenset[int]


def critical(wakes: Sequence[Waking], action: Action) -> frozenset[int]:
    """The tasks on the way back from the last wake-up of the consumer by a task; `wakes` in the order of time.

    None if nobody has woken the consumer: then the action was its own.
    """
    own = [wake for wake in wakes if action.begin <= wake.time < action.end]
    found = {action.consumer}
    task, before = action.consumer, action.end
    while True:
        own = [wake for wake in own if wake.time < before]
        wake = next((wake for wake in reversed(own) if wake.task == task and _tells(wake, action, own)), None)
        if wake is None:
            return frozenset(found)
        before = wake.time
        if wake.by is not None:
            task = wake.by
            found.add(task)


def _tells(wake: Waking, action: Action, own: Sequence[Waking]) -> bool:
    """Whether a wake-up is of the path. The consumer's by interrupts are those of keys, and of its own timers."""
    return wake.by is not None or wake.task != action.consumer


def compare(wakes: Sequence[Waking], actions: Sequence[Action]) -> Row:
    """How often the tracker named the right tasks, over all actions: `right` tasks, how many of them were `found`, and
    how many on its chain were `needless`."""
    row = {"actions": 0, "right": 0, "found": 0, "needless": 0}
    for action in actions:
        right = critical(wakes, action)
        row["actions"] += 1
        row["right"] += len(right)
        row["found"] += len(right & action.chain)
        row["needless"] += len(action.chain - right)
    return row


def over_in_time(loads: Sequence[Mapping[str, int]]) -> list[bool]:
    """Of each load but the last: whether it was over when its key was released."""
    return [
        load["loaded_ns"] < load.get("released_ns", after["pressed_ns"] - RELEASE_NS) for load, after in pairwise(loads)
    ]


def df_chains(runs: Sequence[Run], place: Callable[[Run], Row], file: str) -> pa.Table | None:
    """A row per run in which the tracker was on, over its loads that were over in time. `file` has all loads."""
    found = []
    for run in runs:
        trace = TraceFile(run.path / TRACE)
        actions = _actions(trace)
        if actions:
            with run.understanding(file):
                over = over_in_time(run.lines(file))
                actions = [action for action, told in zip(actions, over, strict=True) if told]
            found.append({**place(run), **compare(_wakes(trace), actions)})
    return pa.Table.from_pylist(found) if found else None


def text(chains: pa.Table | None) -> str:
    if chains is None:
        return ""
    rows = [(row["point"], row["actions"], row["right"], row["found"], row["needless"]) for row in chains.to_pylist()]
    return (
        "\n\n## The tracker's chain\n\nRight: tasks that the trace of all wake-ups has on the way to what the user "
        "sees, summed over key presses. Found: those of them that the tracker had. Needless: others that it had.\n\n"
        + markdown_table(("point", "key presses", "right", "found", "needless"), rows)
    )


def _wakes(trace: TraceFile) -> list[Waking]:
    found = []
    for cpu in trace.cpus:
        for batch in events_of.batches(trace, cpu):
            for name in WAKES:
                which = batch.of(name)
                if not which.size:
                    continue
                tasks, by, flags = (
                    batch.numbers(name, field, which) for field in ("pid", "common_pid", "common_flags")
                )
                outside = ((flags & IN_INTERRUPT) != 0) | (by == 0)
                found += [
                    Waking(int(time), int(task), None if interrupt else int(waker))
                    for time, task, waker, interrupt in zip(batch.time[which], tasks, by, outside, strict=True)
                ]
    return sorted(found)


def _numbers(trace: TraceFile, name: str, fields: Sequence[str]) -> list[tuple[int, ...]]:
    """The events of a name in the order of time: when, and these fields."""
    found: list[tuple[int, ...]] = []
    for cpu in trace.cpus:
        for batch in events_of.batches(trace, cpu):
            which = batch.of(name)
            if which.size:
                columns = [batch.time[which].astype(np.int64), *(batch.numbers(name, field, which) for field in fields)]
                found += zip(*(column.tolist() for column in columns), strict=True)
    return sorted(found)


def _actions(trace: TraceFile) -> list[Action]:
    """The actions that have an end. The first task of each is its consumer."""
    begun = _numbers(trace, "lull_quiet_action", ["pid"])
    joined = _numbers(trace, "lull_quiet_join", ["pid"])
    return [
        Action(begin, end, consumer, frozenset({consumer, *(task for time, task in joined if begin <= time < end)}))
        for (begin, consumer), (end, _) in pairwise(begun)
    ]
