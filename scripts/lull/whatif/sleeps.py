# SPDX-License-Identifier: BSD-3-Clause
"""A choice of an idle state that a trace tells, and many of them in few bytes."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from lull.errors import UserError
from lull.host import memory
from lull.whatif.library import NEVER

_ROOM = 1500
"""Bytes of a sleep: what is read of it, and tables of which it is a wake-up."""
Sleeps = npt.NDArray[np.void]
"""The sleeps of one CPU, in their order: rows of SLEEP."""


@dataclass(slots=True)
class ChosenSleep:
    """A choice, what it was made by, and how the sleep went."""

    cpu: int
    now: int
    """The idle loop's begin, or the end of the last interrupt in it."""
    start: int
    """The event of entering the state."""
    state: int
    tick: int
    hrtimer: int
    wheel: int
    qos: int
    stopped: bool
    """The tick was stopped before the choice."""
    stops: bool = False
    """The tick was stopped after the choice."""
    end: int = NEVER
    refused: bool = False
    got_tick: bool = False
    """The tick's handler ran at the end of the sleep."""
    late_tick: bool = False
    """The tick's handler ran in a later interrupt, before a task did: the governor is told that the tick ended it."""
    leaves: bool = False
    """The CPU left its idle loop for a task after the sleep."""
    timer: int = NEVER
    """When the timer was due whose handler ran first after the sleep; NEVER if another interrupt ended it."""
    sent_by: int = -1
    """The CPU that sent the IPI that ended the sleep."""
    sent_at: int = NEVER
    after_task: bool = False
    """The choice followed a task, and not an interrupt in the idle loop."""
    restarted: bool = False
    """The tick was started again after the sleep."""
    left_after: int = NEVER
    """From the end of the last interrupt in the idle loop to the task that ran after the sleep; NEVER without both."""
    fixed_hrtimer: int = NEVER
    """As `hrtimer`, of the timers that do not drift."""
    set_by: int = 0
    """The drifting timer that ended the sleep, alone or with the tick."""
    set_at: int = NEVER
    """The entry of the sleep after which a program set this timer; NEVER if no drifting timer ended the sleep."""
    beside: int = NEVER
    """When another timer was due whose handler ran in the same interrupt as the tick's; NEVER if there was none."""
    handler: int = 0
    """The time of ticks' handlers from the end of the sleep to the next entry, each up to the tick's next start."""
    softirqs: int = 0
    """The same of what followed such an interrupt, but for timers of the wheel."""
    began: int = NEVER
    """When the idle loop began, where that is told better than by `now`; NEVER if it is not."""


_TIMES = (
    "now", "start", "tick", "hrtimer", "wheel", "qos", "end", "timer", "sent_at", "left_after", "fixed_hrtimer",
    "set_by", "set_at", "beside", "handler", "softirqs", "began",
)  # fmt: skip
_NUMBERS = ("state", "sent_by")
_FLAGS = ("stopped", "stops", "refused", "got_tick", "late_tick", "leaves", "after_task", "restarted")
_COLUMNS = (*_TIMES, *_NUMBERS, *_FLAGS)
_PACK = Struct(f"={len(_TIMES)}q{len(_NUMBERS)}b{len(_FLAGS)}?").pack
_values = attrgetter(*_COLUMNS)
SLEEP = np.dtype(
    [(name, np.int64) for name in _TIMES]
    + [(name, np.int8) for name in _NUMBERS]
    + [(name, np.bool_) for name in _FLAGS]
)


def check_room(path: Path, many: int) -> None:
    """Refuse a trace with so many sleeps if a what-if would not fit into this machine's memory."""
    need, free = many * _ROOM, memory.available()
    if free is not None and need > free:
        raise UserError(
            f"{path}: has {many} sleeps, for which a what-if needs about {need / 1e9:.2g} GB, and {free / 1e9:.2g} GB "
            "are free; record a shorter run, or ask on a machine with more memory"
        )


def pack(into: bytearray, one: ChosenSleep) -> None:
    """Append a sleep: 146 bytes, where the object takes four times as many."""
    into += _PACK(*_values(one))


def unpacked(rows: bytearray) -> Sleeps:
    return np.frombuffer(rows, SLEEP)


def packed(sleeps: Iterable[ChosenSleep]) -> Sleeps:
    rows = bytearray()
    for one in sleeps:
        pack(rows, one)
    return unpacked(rows)


def chosen_at(sleeps: "Sleeps | Columns") -> npt.NDArray[np.int64]:
    """The time from which the governor counts, of each sleep."""
    found: npt.NDArray[np.int64] = np.where(sleeps["began"] == NEVER, sleeps["now"], sleeps["began"])
    return found


@dataclass(frozen=True)
class Columns:
    """Sleeps, and after them perhaps one more, of which the trace has no end. Only the column that is asked for is
    made."""

    rows: Sleeps
    last: ChosenSleep | None = None

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        own: npt.NDArray[Any] = self.rows[name]
        return own if self.last is None else np.append(own, own.dtype.type(getattr(self.last, name)))

    def __len__(self) -> int:
        return int(self.rows.size) + (self.last is not None)
