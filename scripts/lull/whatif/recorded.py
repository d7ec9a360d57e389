# SPDX-License-Identifier: BSD-3-Clause
"""A run's choices made again by the kernel's governors, and the share that comes out as recorded.

Two inputs are in no event and are inferred:

- Why a tick was kept for which no timer of the trace asks. Either the governor kept the tick, or the kernel did, for
  RCU for example, and then the governor was told that the sleep lasts until the tick. A row of such choices is taken
  in pieces. In each piece either may come first; each place of the change is tried, to eight choices after the piece,
  and the one that fits is kept. Of those that fit equally the one is kept in which the kernel did so least: RCU needs
  the tick for some milliseconds, and a program may keep a CPU from long sleeps for as long as it runs.
- The sleeps before the trace. Each CPU is replayed after each of a few made-up histories; the one that fits is kept.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import Array
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from lull.whatif import begins
from lull.whatif.entries import Entries
from lull.whatif.library import NEVER, Governor, Knowledge, Lived, State
from lull.whatif.sleeps import ChosenSleep

REMEMBERED = 64
"""Sleeps after which no history before the trace is seen any more: by then a factor of menu kept 1/5000 of it."""
LATEST = 256
"""Choices from here on are not explained by a history."""
SETTLING = 8
"""Sleeps after which menu has forgotten the intervals before; its factors last longer."""


class Past(NamedTuple):
    """A made-up history: so many short sleeps while no timer was near, then so many while the tick was, then so many
    sleeps of another kind."""

    far: int
    near: int
    more: int = 0
    kind: int = 0

    def __str__(self) -> str:
        more = f", {self.more} sleeps of {KINDS[self.kind]}" if self.more else ""
        return f"{self.far} short sleeps without a timer, {self.near} under a tick{more}"


PASTS = tuple(Past(far, near) for far in (0, 6, 12, 24, 48) for near in (0, 4, 8, 16, 32))


class PastSleep(NamedTuple):
    """A sleep of a made-up history: how long it was, and how far away its timer was."""

    length: int
    timer: int

    def __str__(self) -> str:
        timer = "no timer" if self.timer == NEVER else f"a timer in {self.timer / 1e6:g} ms"
        return f"{self.length / 1e6:g} ms with {timer}"


KINDS = (
    PastSleep(100_000, 500_000), PastSleep(700_000, 1_000_000), PastSleep(1_500_000, 4_000_000),
    PastSleep(1_500_000, NEVER), PastSleep(3_500_000, 4_000_000), PastSleep(3_500_000, NEVER),
)  # fmt: skip
MORE = (1, 4, 16)
"""How often. A factor of menu and a bin of teo change with sleeps of one length alone, of which there may be few, so
that it is this part of a history that is seen longest. It is tried where choices do not come out again without."""
PIECE = 32
"""Choices of a row in which the reason of a kept tick changes once at most."""
SHORT_NS = 100_000
EARLIER = 0.25


class Made(NamedTuple):
    """One choice made again."""

    entry: ChosenSleep
    choice: int
    wheel: int
    """When the wheel was taken to be due."""
    stop_tick: bool

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


def again(
    entries: Entries, governor: str, states: Mapping[int, Sequence[State]], pasts: Iterable[Past] = PASTS
) -> Again:
    """Each CPU's choices after the history that fits best; of equal ones the first."""
    for own in entries.by_cpu.values():
        begins.tell(own)
    fits: dict[int, float] = {}
    chosen: dict[int, Past] = {}
    for past in pasts:
        engine = Governor(governor, states)
        for cpu, own in entries.by_cpu.items():
            fit = _fit(_after(engine, cpu, own[:REMEMBERED], past, entries), entries.begin)
            if cpu not in fits or fit > fits[cpu]:
                fits[cpu], chosen[cpu] = fit, past
    made: dict[int, list[Made]] = {}
    for cpu, own in entries.by_cpu.items():
        made[cpu] = _after(Governor(governor, states), cpu, own, chosen[cpu], entries)
        better = _other_past(governor, states, cpu, made[cpu], chosen[cpu], entries, pasts)
        if better != chosen[cpu]:
            chosen[cpu] = better
            made[cpu] = _after(Governor(governor, states), cpu, own, better, entries)
    return Again(made, chosen, entries.begin)


def _other_past(
    governor: str,
    states: Mapping[int, Sequence[State]],
    cpu: int,
    made: list[Made],
    past: Past,
    entries: Entries,
    pasts: Iterable[Past],
) -> Past:
    """The history that fits best up to the last choice that differs, if that is not too late for a history."""
    differs = [at for at, one in enumerate(made[:LATEST]) if not one.agrees and one.entry.start >= entries.begin]
    if not differs:
        return past
    until = differs[-1] + PIECE
    own = entries.by_cpu[cpu][:until]
    best = _fit(made[:until], entries.begin)
    more = [past._replace(more=many, kind=kind) for kind, many in product(range(len(KINDS)), MORE)]
    for other in [*pasts, *more]:
        tried = _after(Governor(governor, states), cpu, own, other, entries)
        fit = _fit(tried, entries.begin)
        if fit > best:
            best, past = fit, other
            if all(one.agrees for one in tried if one.entry.start >= entries.begin):
                break
    return past


def _after(engine: Governor, cpu: int, own: list[ChosenSleep], past: Past, entries: Entries) -> list[Made]:
    """The choices of a CPU that had this history."""
    engine.live(cpu, array(_history(past, _first(entries, cpu), entries.period)))
    return _cpu(engine, cpu, own, entries.begin)


def lived(entries: Entries, found: Again) -> dict[int, Array[Lived]]:
    """The sleeps of each CPU that ended before the command: the history that fits, and those that the trace has."""
    return {
        cpu: sleeps_of(entries, cpu, past, [one for one in found.made[cpu] if one.entry.end <= entries.begin])
        for cpu, past in found.pasts.items()
    }


def sleeps_of(entries: Entries, cpu: int, past: Past, made: Iterable[Made]) -> Array[Lived]:
    """A history, and sleeps of the trace after it."""
    own = [of_entry(one.entry, one.wheel) for one in made]
    return array([*_history(past, _first(entries, cpu), entries.period), *own])


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


def array(sleeps: Sequence[Lived]) -> Array[Lived]:
    return (Lived * len(sleeps))(*sleeps)


def _first(entries: Entries, cpu: int) -> int:
    own = entries.by_cpu[cpu]
    return own[0].now if own else 0


def _history(past: Past, until: int, period: int) -> list[Lived]:
    """Sleep as often as the history says, so that the last sleep ends before the trace begins."""
    kinds = (
        [PastSleep(SHORT_NS, NEVER)] * past.far
        + [PastSleep(SHORT_NS, period)] * past.near
        + [KINDS[past.kind]] * past.more
    )
    now = until - sum(kind.length + SHORT_NS for kind in kinds)
    found = []
    for kind in kinds:
        due = NEVER if kind.timer == NEVER else now + kind.timer
        view = Knowledge(now, now, due, NEVER, due, NEVER, due == NEVER)
        found.append(Lived(view, now + kind.length, kind.length, -1, False, False))
        now += kind.length + SHORT_NS
    return found


def of_entry(entry: ChosenSleep, wheel: int) -> Lived:
    return Lived(entry.knowledge(wheel), entry.end, entry.end - entry.start, entry.state, entry.got_tick, entry.refused)


def _cpu(engine: Governor, cpu: int, own: list[ChosenSleep], since: int) -> list[Made]:
    """The choices in their order."""
    made: list[Made] = []
    while len(made) < len(own):
        begin = len(made)
        most = min(len(own), begin + PIECE)
        end = next((at for at in range(begin, most) if not _keeps(own[at])), most)
        if begin == end:
            made.append(_choose(engine, cpu, own[begin], own[begin].wheel))
        else:
            made += _kept(engine, cpu, own[begin:end], own[end : end + SETTLING], since)
    return made


class _Tried(NamedTuple):
    """A row of choices, with what may have kept the tick at each."""

    score: tuple[float, int]
    wheels: tuple[int, ...]
    """When the wheel was taken to be due at each."""
    made: list[Made]
    after: list[Made]
    known: bytes


def _kept(engine: Governor, cpu: int, row: list[ChosenSleep], after: list[ChosenSleep], since: int) -> list[Made]:
    """A row of choices that kept the tick: the kernel kept it up to one of them, or from one of them on.

    Where a choice still differs, the kernel may have kept a single tick, or another CPU may have served a timer: at
    this choice, or at one of the few before.
    """
    before = engine.save()

    def tried(wheels: tuple[int, ...]) -> _Tried:
        engine.restore(before)
        made = [_choose(engine, cpu, entry, wheel) for entry, wheel in zip(row, wheels, strict=True)]
        known = engine.save()
        then = [_choose(engine, cpu, entry, entry.wheel) for entry in after]
        guessed = sum(one.wheel == one.entry.now for one in made)
        return _Tried((_fit(made, since) + _fit(then, since), -guessed), wheels, made, then, known)

    splits = [(first, at) for first in (True, False) for at in range(len(row) + 1)]
    every = (
        tried(tuple(entry.now if (at < split) is first else entry.wheel for at, entry in enumerate(row)))
        for first, split in splits
    )
    best = max(every, key=lambda one: one.score)
    while (better := _better(best, tried)) is not None:
        best = better
    engine.restore(best.known)
    return best.made


def _better(best: _Tried, tried: Callable[[tuple[int, ...]], _Tried]) -> _Tried | None:
    """The same row with another wheel at one choice, if more choices then come out as recorded."""
    for wrong, one in enumerate([*best.made, *best.after]):
        near = range(max(0, wrong - SETTLING), min(wrong + 1, len(best.made))) if not one.agrees else ()
        others = [
            tried((*best.wheels[:at], wheel, *best.wheels[at + 1 :]))
            for at in near
            for wheel in wheels_of(best.made[at].entry)
            if wheel != best.wheels[at]
        ]
        better = max(others, key=lambda other: other.score, default=best)
        if better.score[0] > best.score[0]:
            return better
    return None


def wheels_of(entry: ChosenSleep) -> tuple[int, ...]:
    """What the wheel may have been at a choice that kept the tick: as the trace tells, at work for the kernel, or
    another CPU's to serve."""
    return entry.wheel, entry.now, NEVER


def _fit(made: list[Made], since: int) -> float:
    """The choices that agree; what they say of the tick counts half. Before the command not all events are on, so that
    a choice from there counts a quarter."""
    return sum((one.agrees + 0.5 * one.tick_agrees) * (1 if one.entry.start >= since else EARLIER) for one in made)


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
    choice = engine.select(cpu, entry.knowledge(wheel))
    tell(engine, cpu, entry)
    return Made(entry, choice.state, wheel, bool(choice.stop_tick))
