# SPDX-License-Identifier: BSD-3-Clause
"""A choice of an idle state and the sleep after it, as read from a trace; many of them are stored in few bytes."""

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
"""The bytes that a what-if needs for each sleep, including its wake-up in tables."""
Sleeps = npt.NDArray[np.void]
"""The sleeps of one CPU, in their order: rows of SLEEP."""


@dataclass(slots=True)
class ChosenSleep:
    """A choice, its inputs, and the sleep after it."""

    cpu: int
    now: int
    """The idle loop's begin, or the end of the last interrupt in it."""
    start: int
    """The time of the event of entering the state."""
    state: int
    tick: int
    hrtimer: int
    wheel: int
    qos: int
    stopped: bool
    """True if the tick was stopped before the choice."""
    stops: bool = False
    """True if the tick was stopped after the choice."""
    end: int = NEVER
    refused: bool = False
    got_tick: bool = False
    """True if the tick's handler ran at the end of the sleep."""
    late_tick: bool = False
    """True if the tick's handler ran in a later interrupt, before a task: the governor takes the tick for the cause."""
    leaves: bool = False
    """True if the CPU left its idle loop for a task after the sleep."""
    timer: int = NEVER
    """The due time of the timer whose handler ran first after the sleep; NEVER if another interrupt ended it."""
    sent_by: int = -1
    """The CPU that sent the IPI that ended the sleep."""
    sent_at: int = NEVER
    after_task: bool = False
    """True if the choice followed a task, not an interrupt in the idle loop."""
    restarted: bool = False
    """True if the tick was started again after the sleep."""
    left_after: int = NEVER
    """From the end of the last interrupt in the idle loop to the task that ran after the sleep; NEVER without both."""
    fixed_hrtimer: int = NEVER
    """As `hrtimer`, but only timers that do not drift."""
    set_by: int = 0
    """The drifting timer that ended the sleep, alone or with the tick."""
    set_at: int = NEVER
    """The entry of the sleep after which a program set this timer; NEVER if no drifting timer ended the sleep."""
    beside: int = NEVER
    """The due time of another timer whose handler ran in the same interrupt as the tick's; NEVER if there was none."""
    handler: int = 0
    """The time of ticks' handlers from the end of the sleep to the next entry, each up to the tick's next start."""
    softirqs: int = 0
    """The time of the work after such interrupts, without timers of the wheel."""
    began: int = NEVER
    """The begin of the idle loop, if a better value than `now` is known; else NEVER."""


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
    """Raise a UserError if a what-if of a trace with this number of sleeps would not fit into this machine's memory."""
    need, free = many * _ROOM, memory.available()
    if free is not None and need > free:
        raise UserError(
            f"{path}: has {many} sleeps, for which a what-if needs about {need / 1e9:.2g} GB, and {free / 1e9:.2g} GB "
            "are free; record a shorter run, or ask on a machine with more memory"
        )


def pack(into: bytearray, one: ChosenSleep) -> None:
    """Append a sleep as 146 bytes. The object takes four times as much memory."""
    into += _PACK(*_values(one))


def unpacked(rows: bytearray) -> Sleeps:
    return np.frombuffer(rows, SLEEP)


def packed(sleeps: Iterable[ChosenSleep]) -> Sleeps:
    rows = bytearray()
    for one in sleeps:
        pack(rows, one)
    return unpacked(rows)


def chosen_at(sleeps: "Sleeps | Columns") -> npt.NDArray[np.int64]:
    """Return for each sleep the time from which the governor counts."""
    found: npt.NDArray[np.int64] = np.where(sleeps["began"] == NEVER, sleeps["now"], sleeps["began"])
    return found


@dataclass(frozen=True)
class Columns:
    """Sleeps as columns, and perhaps one more sleep that does not end in the trace. A column is made on demand."""

    rows: Sleeps
    last: ChosenSleep | None = None

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        own: npt.NDArray[Any] = self.rows[name]
        return own if self.last is None else np.append(own, own.dtype.type(getattr(self.last, name)))

    def __len__(self) -> int:
        return int(self.rows.size) + (self.last is not None)
