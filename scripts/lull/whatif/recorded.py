# SPDX-License-Identifier: BSD-3-Clause
"""A run's choices made again by the kernel's governors: the share that comes out as recorded, and why others do not.

Two inputs are in no event and are inferred:

- Why a tick was kept for which no timer of the trace asks. Either the governor kept the tick, or the kernel did, for
  RCU for example, and then the governor was told that the sleep lasts until the tick. A row of such choices is taken
  in pieces. In each piece either may come first; each place of the change is tried, to eight choices after the piece,
  and the one that fits is kept. Of those that fit equally the one is kept in which the kernel did so least: RCU needs
  the tick for some milliseconds, and a program may keep a CPU from long sleeps for as long as it runs.
- The sleeps before the trace. Each CPU is replayed after each of a few made-up histories; the one that fits is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from ctypes import Array
from dataclasses import dataclass
from typing import NamedTuple

from lull.whatif.entries import ChosenSleep, Entries
from lull.whatif.library import NEVER, Governor, Knowledge, Lived, State

REMEMBERED = 64
"""Sleeps after which no history before the trace is seen any more: by then a factor of menu kept 1/5000 of it."""
SETTLING = 8
"""Sleeps after which menu has forgotten the intervals before; its factors last longer."""


class Past(NamedTuple):
    """A made-up history: so many short sleeps while no timer was near, then so many while the tick was."""

    far: int
    near: int

    def __str__(self) -> str:
        return f"{self.far} short sleeps without a timer, {self.near} under a tick"


PASTS = tuple(Past(far, near) for far in (0, 6, 12, 24, 48) for near in (0, 4, 8, 16, 32))
PIECE = 32
"""Choices of a row in which the reason of a kept tick changes once at most."""
SHORT_NS = 100_000

AGREES = "as recorded"
BEFORE = "sleeps before the trace are unknown"
OTHER = "not explained"


class Made(NamedTuple):
    """One choice made again."""

    entry: ChosenSleep
    choice: int
    wheel: int
    """When the wheel was taken to be due."""
    stop_tick: bool
    reason: str

    @property
    def agrees(self) -> bool:
        return self.choice == self.entry.state

    @property
    def tick_agrees(self) -> bool:
        """A tick that was let go is stopped, unless a timer is due before the next one."""
        entry = self.entry
        return entry.stopped or self.stop_tick == entry.stops or (self.stop_tick and self.wheel <= entry.tick)


@dataclass
class Again:
    made: dict[int, list[Made]]
    pasts: dict[int, Past]
    begin: int
    """Of the traced command. Before it the trace is being set up, and not all events are on."""

    def counted(self) -> list[Made]:
        return [made for own in self.made.values() for made in own if made.entry.start >= self.begin]

    def share(self) -> float:
        every = self.counted()
        return sum(made.agrees for made in every) / len(every) if every else 1.0

    def reasons(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for made in self.counted():
            found[made.reason] = found.get(made.reason, 0) + 1
        return found


def again(
    entries: Entries, governor: str, states: Mapping[int, Sequence[State]], pasts: Iterable[Past] = PASTS
) -> Again:
    """Each CPU's choices after the history that fits best; of equal ones the first."""
    fits: dict[int, float] = {}
    chosen: dict[int, Past] = {}
    for past in pasts:
        engine = Governor(governor, states)
        for cpu, own in entries.by_cpu.items():
            engine.live(cpu, _array(_history(past, _first(entries, cpu), entries.period)))
            fit = _fit(_cpu(engine, cpu, own[:REMEMBERED]))
            if cpu not in fits or fit > fits[cpu]:
                fits[cpu], chosen[cpu] = fit, past
    engine = Governor(governor, states)
    made: dict[int, list[Made]] = {}
    for cpu, own in entries.by_cpu.items():
        engine.live(cpu, _array(_history(chosen[cpu], _first(entries, cpu), entries.period)))
        made[cpu] = _cpu(engine, cpu, own)
    return Again(made, chosen, entries.begin)


def lived(entries: Entries, found: Again) -> dict[int, Array[Lived]]:
    """The sleeps of each CPU that ended before the command: the history that fits, and those that the trace has."""
    return {
        cpu: _array(
            [
                *_history(past, _first(entries, cpu), entries.period),
                *(_of_entry(one.entry, one.wheel) for one in found.made[cpu] if one.entry.end <= entries.begin),
            ]
        )
        for cpu, past in found.pasts.items()
    }


def warmed(
    governor: str,
    states: Mapping[int, Sequence[State]],
    before: Mapping[int, Array[Lived]],
    tunables: Mapping[str, int] | None = None,
) -> Governor:
    """The governor as it is when the traced command begins."""
    engine = Governor(governor, states, tunables)
    for cpu, own in before.items():
        engine.live(cpu, own)
    return engine


def _array(sleeps: Sequence[Lived]) -> Array[Lived]:
    return (Lived * len(sleeps))(*sleeps)


def _first(entries: Entries, cpu: int) -> int:
    own = entries.by_cpu[cpu]
    return own[0].now if own else 0


def _history(past: Past, until: int, period: int) -> list[Lived]:
    """Sleep as often as the history says, so that the last sleep ends before the trace begins."""
    timers = [NEVER] * past.far + [period] * past.near
    found = []
    for number, timer in enumerate(timers):
        now = until - 2 * SHORT_NS * (len(timers) - number)
        due = NEVER if timer == NEVER else now + timer
        view = Knowledge(now, now, due, NEVER, due, NEVER, timer == NEVER)
        found.append(Lived(view, now + SHORT_NS, SHORT_NS, -1, False, False))
    return found


def _of_entry(entry: ChosenSleep, wheel: int) -> Lived:
    view = Knowledge(entry.start, entry.now, entry.tick, entry.hrtimer, wheel, entry.qos, entry.stopped)
    return Lived(view, entry.end, entry.end - entry.start, entry.state, entry.got_tick, entry.refused)


def _cpu(engine: Governor, cpu: int, own: list[ChosenSleep]) -> list[Made]:
    """The choices in their order."""
    made: list[Made] = []
    while len(made) < len(own):
        begin = len(made)
        most = min(len(own), begin + PIECE)
        end = next((at for at in range(begin, most) if not _keeps(own[at])), most)
        if begin == end:
            made.append(_choose(engine, cpu, own[begin], own[begin].wheel))
        else:
            made += _kept(engine, cpu, own[begin:end], own[end : end + SETTLING])
    return [one._replace(reason=_reason(one, number)) for number, one in enumerate(made)]


def _kept(engine: Governor, cpu: int, row: list[ChosenSleep], after: list[ChosenSleep]) -> list[Made]:
    """A row of choices that kept the tick: the kernel kept it up to one of them, or from one of them on."""
    before = engine.save()
    best: tuple[tuple[float, int], list[Made], bytes] | None = None
    for first in (True, False):
        for split in range(len(row) + 1):
            engine.restore(before)
            tried = [
                _choose(engine, cpu, entry, entry.now if (at < split) is first else entry.wheel)
                for at, entry in enumerate(row)
            ]
            known = engine.save()
            fit = _fit(tried) + _fit([_choose(engine, cpu, entry, entry.wheel) for entry in after])
            score = fit, -sum(made.wheel == made.entry.now for made in tried)
            if best is None or score > best[0]:
                best = (score, tried, known)
    assert best is not None
    engine.restore(best[2])
    return best[1]


def _fit(made: list[Made]) -> float:
    """The choices that agree; what they say of the tick counts half."""
    return sum(one.agrees + 0.5 * one.tick_agrees for one in made)


def _keeps(entry: ChosenSleep) -> bool:
    return not entry.stopped and not entry.stops


def tell(engine: Governor, cpu: int, entry: ChosenSleep) -> None:
    """Tell the governor how the recorded sleep went."""
    if entry.refused:
        engine.rejected(cpu)
    else:
        engine.reflect(cpu, entry.end, entry.state, entry.end - entry.start, entry.got_tick)


def _choose(engine: Governor, cpu: int, entry: ChosenSleep, wheel: int) -> Made:
    """One choice, after which the governor is told how the recorded sleep went."""
    view = Knowledge(entry.start, entry.now, entry.tick, entry.hrtimer, wheel, entry.qos, entry.stopped)
    choice = engine.select(cpu, view)
    tell(engine, cpu, entry)
    return Made(entry, choice.state, wheel, bool(choice.stop_tick), AGREES)


def _reason(made: Made, number: int) -> str:
    if made.agrees:
        return AGREES
    return BEFORE if number < SETTLING else OTHER
