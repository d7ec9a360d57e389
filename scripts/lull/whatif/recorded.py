# SPDX-License-Identifier: BSD-3-Clause
"""Makes a run's choices again by the kernel's governors, and computes the share that is as recorded.

No event tells three inputs. They are inferred:

- Who kept a tick that no timer of the trace needs: the governor, or the kernel, for RCU for example. In the second case
  the governor was told that the sleep lasts until the tick. Rows of such choices are divided into pieces. In each piece
  either may come first, and each place of a change is tried. The one that fits best is kept, by the choices of the
  piece and of eight after it. If several fit equally, the one with the fewest ticks kept by the kernel is used, because
  RCU needs the tick for some milliseconds only, but a program may prevent long sleeps as long as it runs.
- The sleeps before the trace. Each CPU is replayed after a few made-up histories, and the one that fits best is kept.
- The difference between a sleep and the time between its events. To write the first event takes 2 us, which the kernel
  does not measure. This matters if the events are 2.5 us apart. It is tried only where choices differ.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lull.whatif import begins
from lull.whatif.entries import Entries
from lull.whatif.library import LIVED, NEVER, Governor, Lived, State
from lull.whatif.sleeps import Sleeps, chosen_at

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

REMEMBERED = 64
"""The number of sleeps after which a history has no effect: 1/5000 of it is left in a factor of menu."""
LATEST = 256
"""Choices after this number are not explained by a history."""
SETTLING = 8
"""The number of sleeps after which menu has forgotten the intervals before. Its factors last longer."""


class Past(NamedTuple):
    """A made-up history: `far` short sleeps without a near timer, `near` short sleeps with the tick near, then `more`
    sleeps of another kind. `events` is the time of a sleep's events, which the kernel does not measure."""

    far: int
    near: int
    more: int = 0
    kind: int = 0
    events: int = 0

    def __str__(self) -> str:
        more = f", {self.more} sleeps of {KINDS[self.kind]}" if self.more else ""
        return f"{self.far} short sleeps without a timer, {self.near} under a tick{more}"


PASTS = tuple(Past(far, near) for far in (0, 6, 12, 24, 48) for near in (0, 4, 8, 16, 32))


class PastSleep(NamedTuple):
    """A sleep of a made-up history: its length, and the distance of its timer."""

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
"""Numbers of such sleeps. A factor of menu and a bin of teo change only with sleeps of one length, which may be rare.
So this part of a history has the longest effect. It is tried only where choices otherwise differ."""
EVENTS = (0.6, 0.8, 1.0)
"""The time of the events, as shares of the CPU's shortest sleep. A sleep below HARDLY_NS is little more than events."""
HARDLY_NS = 10_000
PIECE = 32
"""The number of choices of a row in which the reason of a kept tick changes at most once."""
SHORT_NS = 100_000
EARLIER = 0.25


@dataclass(frozen=True)
class Made:
    """The choices of one CPU, made again."""

    sleeps: Sleeps
    choice: npt.NDArray[np.int8]
    wheel: Times
    """The time at which the wheel was assumed to be due."""
    stop_tick: Flags

    @property
    def agrees(self) -> Flags:
        found: Flags = self.choice == self.sleeps["state"]
        return found

    @property
    def tick_agrees(self) -> Flags:
        """Return for each choice whether the tick is as recorded. A tick is not stopped if a timer is due before it."""
        own = self.sleeps
        due = self.stop_tick & (self.wheel <= own["tick"])
        found: Flags = own["stopped"] | (self.stop_tick == own["stops"]) | due
        return found

    def part(self, which: slice) -> "Made":
        return Made(self.sleeps[which], self.choice[which], self.wheel[which], self.stop_tick[which])

    def between(self, begin: int, end: int) -> "Made":
        """Return the choices of sleeps that end after `begin` and start before `end`."""
        first = int(np.searchsorted(self.sleeps["end"], begin, "right"))
        return self.part(slice(first, int(np.searchsorted(self.sleeps["start"], end))))


@dataclass
class Again:
    made: dict[int, Made]
    pasts: dict[int, Past]
    begin: int
    """The begin of the traced command. Before it, the trace is set up, and not all events are enabled."""

    def agrees(self) -> Flags:
        """Return for each choice after the command's begin whether it is as recorded."""
        every = [own.agrees[own.sleeps["start"] >= self.begin] for own in self.made.values()]
        return np.concatenate(every) if every else np.zeros(0, np.bool_)

    def share(self) -> float:
        every = self.agrees()
        return int(every.sum()) / every.size if every.size else 1.0


def again(
    entries: Entries, governor: str, states: Mapping[int, Sequence[State]], pasts: Iterable[Past] = PASTS
) -> Again:
    """Return each CPU's choices after the history that fits best. If several fit equally, the first is used."""
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
    made: dict[int, Made] = {}
    for cpu, own in entries.by_cpu.items():
        made[cpu] = _after(Governor(governor, states), cpu, own, chosen[cpu], entries)
        for past in _with_events(chosen[cpu], own) if not made[cpu].agrees.all() else ():
            tried = _after(Governor(governor, states), cpu, own, past, entries)
            if _fit(tried, entries.begin) > _fit(made[cpu], entries.begin):
                made[cpu], chosen[cpu] = tried, past
        better = _other_past(governor, states, cpu, made[cpu], chosen[cpu], entries, pasts)
        if better != chosen[cpu]:
            chosen[cpu] = better
            made[cpu] = _after(Governor(governor, states), cpu, own, better, entries)
    return Again(made, chosen, entries.begin)


def _other_past(
    governor: str,
    states: Mapping[int, Sequence[State]],
    cpu: int,
    made: Made,
    past: Past,
    entries: Entries,
    pasts: Iterable[Past],
) -> Past:
    """Return the history that fits best up to the last choice that differs, among the choices before LATEST."""
    early = made.part(slice(LATEST))
    differs = np.flatnonzero(~early.agrees & (early.sleeps["start"] >= entries.begin))
    if not differs.size:
        return past
    until = int(differs[-1]) + PIECE
    own = entries.by_cpu[cpu][:until]
    best = _fit(made.part(slice(until)), entries.begin)
    more = [past._replace(more=many, kind=kind) for kind, many in product(range(len(KINDS)), MORE)]
    for other in [*(one._replace(events=past.events) for one in pasts), *more]:
        tried = _after(Governor(governor, states), cpu, own, other, entries)
        fit = _fit(tried, entries.begin)
        if fit > best:
            best, past = fit, other
            if tried.agrees[tried.sleeps["start"] >= entries.begin].all():
                break
    return past


def _with_events(past: Past, own: Sleeps) -> list[Past]:
    shortest = int((own["end"] - own["start"]).min())
    return [past._replace(events=round(share * shortest)) for share in EVENTS if shortest < HARDLY_NS]


def _after(engine: Governor, cpu: int, own: Sleeps, past: Past, entries: Entries) -> Made:
    """Return the choices of a CPU after this history."""
    engine.live(cpu, history(past, entries, cpu))
    return _cpu(engine, cpu, own, entries.begin, past)


def lived(entries: Entries, found: Again) -> dict[int, Lived]:
    """Return the sleeps of each CPU before the command: its history, then the recorded sleeps."""
    lives = {}
    for cpu, past in found.pasts.items():
        made = found.made[cpu]
        before = made.part(slice(int(np.searchsorted(made.sleeps["end"], entries.known_since, "right"))))
        lives[cpu] = np.concatenate([history(past, entries, cpu), lived_of(before.sleeps, before.wheel, past)])
    return lives


def warmed(
    governor: str,
    states: Mapping[int, Sequence[State]],
    before: Mapping[int, Lived],
    tunables: Mapping[str, int] | None = None,
) -> Governor:
    """Return the governor in its state at the begin of the traced command."""
    engine = Governor(governor, states, tunables)
    for cpu, own in before.items():
        engine.live(cpu, own)
    return engine


def history(past: Past, entries: Entries, cpu: int) -> Lived:
    """Return the sleeps of a history. The last one ends before the trace begins."""
    kinds = (
        [PastSleep(SHORT_NS, NEVER)] * past.far
        + [PastSleep(SHORT_NS, entries.period)] * past.near
        + [KINDS[past.kind]] * past.more
    )
    own = entries.by_cpu[cpu]
    now = (int(own["now"][0]) if own.size else 0) - sum(kind.length + SHORT_NS for kind in kinds)
    found = []
    for kind in kinds:
        due = NEVER if kind.timer == NEVER else now + kind.timer
        found.append((now, now, due, NEVER, due, NEVER, due == NEVER, now + kind.length, kind.length, -1, 0, 0))
        now += kind.length + SHORT_NS
    return np.array(found, LIVED)


def lived_of(own: Sleeps, wheels: Times, past: Past) -> Lived:
    """Return recorded sleeps as the governor's input, with the times at which the wheel is assumed to be due."""
    found = np.empty(own.size, LIVED)
    found["clock"], found["now"], found["wheel"] = own["start"], chosen_at(own), wheels
    found["residency"] = np.maximum(0, own["end"] - own["start"] - past.events)
    for name in ("tick", "hrtimer", "qos", "stopped", "end", "state", "refused"):
        found[name] = own[name]
    found["got_tick"] = own["got_tick"] | own["late_tick"]
    return found


def _cpu(engine: Governor, cpu: int, own: Sleeps, since: int, past: Past) -> Made:
    """Return a CPU's choices, made in their order."""
    made = Made(own, np.empty(own.size, np.int8), own["wheel"].copy(), np.empty(own.size, np.bool_))
    keeps = ~own["stopped"] & ~own["stops"]
    edges = np.append(np.flatnonzero(keeps[1:] != keeps[:-1]) + 1, own.size)
    begin = 0
    while begin < own.size:
        end = min(begin + PIECE, int(edges[np.searchsorted(edges, begin, "right")]))
        if keeps[begin]:
            made.wheel[begin:end] = _kept(engine, cpu, own[begin : end + SETTLING], end - begin, since, past)
        found = engine.live(cpu, lived_of(own[begin:end], made.wheel[begin:end], past))
        made.choice[begin:end], made.stop_tick[begin:end] = found["state"], found["stop_tick"]
        begin = end
    return made


class Tried(NamedTuple):
    """A row of choices, with an assumption on who kept the tick at each."""

    score: tuple[float, int]
    wheels: Times
    """The time at which the wheel was assumed to be due at each choice."""
    made: Made
    """The row, and the choices after it, made again."""


def _kept(engine: Governor, cpu: int, own: Sleeps, count: int, since: int, past: Past) -> Times:
    """Return when the wheel was due at `count` choices that kept the tick. `own` is their row, and the choices after.

    The kernel kept the tick up to one of the choices, or from one of them on. If a choice still differs, the kernel may
    have kept a single tick, or another CPU may have served a timer, at this choice or at one of a few before.
    """
    before = engine.save()
    now, told = own["now"][:count], own["wheel"][:count]
    asked = lived_of(own, own["wheel"], past)

    def tried(wheels: Times) -> Tried:
        engine.restore(before)
        asked["wheel"][:count] = wheels
        found = engine.live(cpu, asked)
        made = Made(own, found["state"], asked["wheel"].copy(), found["stop_tick"] == 1)
        return Tried((_fit(made, since), -int((wheels == now).sum())), wheels, made)

    places = np.arange(count)
    splits = [(first, at) for first in (True, False) for at in range(count + 1)]
    every = (tried(np.where((places < split) == first, now, told)) for first, split in splits)
    best = max(every, key=lambda one: one.score)
    while (better := _better(best, tried)) is not None:
        best = better
    engine.restore(before)
    return best.wheels


def _better(best: Tried, tried: Callable[[Times], Tried]) -> Tried | None:
    """Return the same row with another wheel at one choice, if more choices are then as recorded; else None."""
    for wrong in np.flatnonzero(~best.made.agrees).tolist():
        others = []
        for at in range(max(0, wrong - SETTLING), min(wrong + 1, best.wheels.size)):
            for wheel in wheels_of(best.made.sleeps[at]):
                if wheel != best.wheels[at]:
                    others.append(tried(np.where(np.arange(best.wheels.size) == at, wheel, best.wheels)))
        better = max(others, key=lambda other: other.score, default=best)
        if better.score[0] > best.score[0]:
            return better
    return None


def wheels_of(one: np.void) -> tuple[int, ...]:
    """Return the possible due times of the wheel at a choice that kept the tick: as in the trace, now (the kernel kept
    the tick), or never (another CPU serves the timer)."""
    return int(one["wheel"]), int(one["now"]), NEVER


def _fit(made: Made, since: int) -> float:
    """Return the weighted number of choices that agree. The choice of the tick counts half. A choice before the command
    counts a quarter, because not all events are enabled there."""
    weights = np.where(made.sleeps["start"] >= since, 1.0, EARLIER)
    return float(((made.agrees + 0.5 * made.tick_agrees) * weights).sum())
