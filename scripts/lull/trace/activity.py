# SPDX-License-Identifier: BSD-3-Clause
"""The activity of a CPU after each event: asleep in an idle state, or at work for an interrupt, a softirq or a task.

Work is in layers: a task, a softirq above it, an interrupt above both, and an IPI's handler inside the interrupt. The
time counts for the uppermost layer. Interrupts do not nest on arm64.
"""

from dataclasses import dataclass, field

import numpy as np

from lull.trace.events import Batch, Numbers

AWAKE = -1
UNKNOWN = -2
IDLE = "idle"
SOFTIRQS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU")
"""The names of the softirqs, in the order of `linux/interrupt.h`."""

_EXIT = 0xFFFFFFFF


_COLUMNS = ("time", "state", "cause")


class Names:
    """Codes (small numbers) for texts, the same for all CPUs of a trace."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._codes: dict[str, int] = {}
        self._renamed: dict[int, int] = {}

    def code(self, text: str) -> int:
        if text not in self._codes:
            self._codes[text] = len(self.texts)
            self.texts.append(text)
        return self._codes[text]

    def task(self, pid: int, name: str, time: int) -> int:
        """Return the code of a task under its last name: a shell's work before it becomes a program counts for the
        program."""
        code = self.code(f"task {pid}")
        if time >= self._renamed.get(code, 0):
            self._renamed[code] = time
            self.texts[code] = f"task:{name}/{pid}"
        return code

    def codes(self, keys: Numbers, text_of: dict[int, str]) -> Numbers:
        """Return the code of each key's text."""
        distinct, inverse = np.unique(keys, return_inverse=True)
        return np.array([self.code(text_of[int(key)]) for key in distinct], np.int64)[inverse]


@dataclass
class Layer:
    """A layer of work: a name that holds from its event to the next, or `nothing` if no handler runs."""

    now: int
    values: list[tuple[Numbers, Numbers]] = field(default_factory=list)

    def put(self, where: Numbers, values: Numbers) -> None:
        self.values.append((where, values))

    def over(self, length: int) -> Numbers:
        """Return the value after each event of a batch. The last value is kept for the next batch."""
        source = np.zeros(length, np.int64)
        value = np.full(length, self.now, np.int64)
        for where, values in self.values:
            source[where] = where + 1
            value[where] = values
        self.values.clear()
        latest = np.maximum.accumulate(source)
        found = np.where(latest > 0, value[np.maximum(latest - 1, 0)], self.now)
        if length:
            self.now = int(found[-1])
        return found


@dataclass(frozen=True)
class Changes:
    """The state and the cause from each time on. Times are of the trace's clock. A state is Linux's index, or AWAKE. A
    cause is a code."""

    time: Numbers
    state: Numbers
    cause: Numbers


class Activity:
    """The activity of one CPU, batch after batch."""

    NOTHING = -1

    def __init__(self, names: Names) -> None:
        self._names = names
        self._idle_name = names.code(IDLE)
        self._task = Layer(UNKNOWN)
        self._idle = Layer(UNKNOWN)
        self._softirq, self._irq, self._ipi = (Layer(self.NOTHING) for _ in range(3))
        self._changes: list[Changes] = []
        self._last = (UNKNOWN - 1, UNKNOWN)
        self._first_task: int | None = None
        self._slept_first: bool | None = None

    def take(self, batch: Batch, irq_names: dict[int, str], ipi_reasons: dict[int, str]) -> None:
        self._take_switches(batch)
        self._take_sleeps(batch)
        for layer, kind, key, texts in (
            (self._irq, "irq_handler", "irq", irq_names),
            (self._ipi, "ipi", "reason", ipi_reasons),
            (self._softirq, "softirq", "vec", dict(enumerate(f"softirq:{name}" for name in SOFTIRQS))),
        ):
            entries, exits = batch.of(f"{kind}_entry"), batch.of(f"{kind}_exit")
            if entries.size:
                layer.put(entries, self._names.codes(batch.numbers(f"{kind}_entry", key, entries), texts))
            layer.put(exits, np.full(exits.size, self.NOTHING))
        self._note(batch)

    def changes(self) -> Changes:
        """Return the changes of all batches. State and task before the first event are inferred from the first
        events."""
        parts = self._changes or [Changes(*[np.empty(0, np.int64)] * 3)]
        time, state, cause = (np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS)
        if not self._slept_first:
            state[state == UNKNOWN] = AWAKE
        cause[cause == UNKNOWN] = self._idle_name if self._first_task is None else self._first_task
        return Changes(time, state, cause)

    def _take_switches(self, batch: Batch) -> None:
        switches = batch.of("sched_switch")
        if not switches.size:
            return
        if self._first_task is None:
            self._first_task = int(self._tasks(batch, "prev", switches[:1])[0])
        self._tasks(batch, "prev", switches)  # only to learn the tasks' names
        self._task.put(switches, self._tasks(batch, "next", switches))

    def _tasks(self, batch: Batch, which: str, switches: Numbers) -> Numbers:
        """Return the codes of the tasks that leave the CPU (`prev`) or come to it (`next`)."""
        pids = batch.numbers("sched_switch", f"{which}_pid", switches)
        distinct, last, inverse = np.unique(pids[::-1], return_index=True, return_inverse=True)
        last = switches[switches.size - 1 - last]
        names = batch.texts("sched_switch", f"{which}_comm", last)
        codes = [
            self._names.task(pid, bytes(name).decode(errors="replace"), time) if pid else self._idle_name
            for pid, name, time in zip(distinct.tolist(), names, batch.time[last].tolist(), strict=True)
        ]
        return np.array(codes, np.int64)[inverse][::-1]

    def _take_sleeps(self, batch: Batch) -> None:
        sleeps = batch.of("cpu_idle")
        if not sleeps.size:
            return
        states = batch.numbers("cpu_idle", "state", sleeps)
        states[states == _EXIT] = AWAKE
        if self._slept_first is None:
            self._slept_first = bool(states[0] == AWAKE)
        self._idle.put(sleeps, states)

    def _note(self, batch: Batch) -> None:
        """Note the events that change the state or the cause."""
        length = len(batch)
        idle, task = self._idle.over(length), self._task.over(length)
        cause = task
        for layer in (self._softirq, self._irq, self._ipi):
            name = layer.over(length)
            cause = np.where(name == self.NOTHING, cause, name)
        cause = np.where(idle >= 0, self._idle_name, cause)
        before_idle = np.concatenate([[self._last[0]], idle[:-1]])
        before_cause = np.concatenate([[self._last[1]], cause[:-1]])
        changed = np.flatnonzero((idle != before_idle) | (cause != before_cause))
        if length:
            self._last = (int(idle[-1]), int(cause[-1]))
        self._changes.append(Changes(batch.time[changed].astype(np.int64), idle[changed], cause[changed]))
