# SPDX-License-Identifier: BSD-3-Clause
"""A run's choices made again by the kernel's governors: the share that comes out as recorded, and why others do not.

Two inputs are in no event and are inferred:

- Something besides timers, RCU for example, may need the tick. If the governor lets the tick go and the trace has it
  kept, the kernel kept it, and the governor was told that the sleep lasts until the tick. This then holds until the
  tick is stopped.
- The sleeps before the trace. Each CPU is replayed after each of a few made-up histories; the one that fits is kept.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lull.whatif.entries import Entries, Entry
from lull.whatif.library import NEVER, Choice, Governor, State, View

SETTLING = 8
"""Sleeps after which menu has forgotten the intervals before; its factors last longer."""


class Past(NamedTuple):
    """A made-up history: so many sleeps of one length, each told to last until a timer."""

    name: str
    many: int
    length_ns: int
    timer_ns: int


PASTS = (
    Past("none", 0, 0, 0),
    Past("short", 12, 100_000, NEVER),
    Past("shorter", 40, 100_000, NEVER),
    Past("shortest", 60, 20_000, NEVER),
    Past("ticks", 16, 4_000_000, 4_000_000),
    Past("long", 16, 100_000_000, 100_000_000),
)

AGREES = "as recorded"
BEFORE = "sleeps before the trace are unknown"
KEPT = "the tick was kept: whether by the governor or for RCU is unknown"
OTHER = "not explained"


class Made(NamedTuple):
    """One choice made again."""

    entry: Entry
    choice: int
    wheel: int
    """When the wheel was taken to be due."""
    reason: str

    @property
    def agrees(self) -> bool:
        return self.choice == self.entry.state


@dataclass
class Again:
    made: dict[int, list[Made]]
    pasts: dict[int, str]

    def share(self) -> float:
        every = [made.agrees for own in self.made.values() for made in own]
        return sum(every) / len(every) if every else 1.0

    def reasons(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for own in self.made.values():
            for made in own:
                found[made.reason] = found.get(made.reason, 0) + 1
        return found


def again(entries: Entries, governor: str, states: dict[int, Sequence[State]], pasts: Iterable[Past] = PASTS) -> Again:
    """Each CPU's choices after the history that fits best; of equal ones the first."""
    made: dict[int, list[Made]] = {}
    names: dict[int, str] = {}
    for past in pasts:
        engine = Governor(governor, states)
        for cpu, own in entries.by_cpu.items():
            _live(engine, cpu, past, own[0].now if own else 0)
            found = _cpu(engine, cpu, own, entries.period)
            if cpu not in made or _agreeing(found) > _agreeing(made[cpu]):
                made[cpu], names[cpu] = found, past.name
    return Again(made, names)


def warmed(governor: str, states: dict[int, Sequence[State]], found: Again) -> Governor:
    """The governor with the histories that fit."""
    engine = Governor(governor, states)
    by_name = {past.name: past for past in PASTS}
    for cpu, name in found.pasts.items():
        own = found.made[cpu]
        _live(engine, cpu, by_name[name], own[0].entry.now if own else 0)
    return engine


def _agreeing(made: list[Made]) -> int:
    return sum(one.agrees for one in made)


def _live(engine: Governor, cpu: int, past: Past, until: int) -> None:
    """Sleep as often as the history says, so that the last one ends where the trace begins."""
    step = 2 * past.length_ns
    for number in range(past.many):
        now = until - step * (past.many - number)
        due = NEVER if past.timer_ns == NEVER else now + past.timer_ns
        choice = engine.select(cpu, View(now, now, due, due, due, NEVER, 1))
        engine.reflect(cpu, now + past.length_ns, choice.state, past.length_ns, False)


def _cpu(engine: Governor, cpu: int, own: list[Entry], period: int) -> list[Made]:
    made: list[Made] = []
    kept = False
    for number, entry in enumerate(own):
        choice, wheel, unsure, kept = _choose(engine, cpu, entry, period, kept)
        made.append(Made(entry, choice.state, wheel, _reason(entry, choice.state, number, unsure)))
        tell(engine, cpu, entry)
    return made


def tell(engine: Governor, cpu: int, entry: Entry) -> None:
    """Tell the governor how the recorded sleep went."""
    if entry.refused:
        engine.rejected(cpu)
    else:
        engine.reflect(cpu, entry.end, entry.state, entry.end - entry.start, entry.got_tick)


def _choose(engine: Governor, cpu: int, entry: Entry, period: int, kept: bool) -> tuple[Choice, int, bool, bool]:
    """The choice, the wheel that it was made by, whether that is unsure, and whether the kernel keeps the tick."""
    ask: Callable[[int], Choice] = lambda wheel: engine.select(  # noqa: E731
        cpu, View(entry.start, entry.now, entry.tick, entry.hrtimer, wheel, entry.qos, entry.stopped)
    )
    if entry.stopped or entry.stops:
        return ask(entry.wheel), entry.wheel, False, False
    engine.save()
    choice = ask(entry.wheel)
    if not choice.asked or choice.length <= entry.tick - entry.now:
        return choice, entry.wheel, False, kept
    if choice.stop_tick or kept:
        engine.restore()
        return ask(entry.now), entry.now, not choice.stop_tick, True
    return choice, entry.wheel, True, kept


def _reason(entry: Entry, choice: int, number: int, unsure: bool) -> str:
    if choice == entry.state:
        return AGREES
    if number < SETTLING:
        return BEFORE
    return KEPT if unsure else OTHER
