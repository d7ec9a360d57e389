# SPDX-License-Identifier: BSD-3-Clause
"""Explains why the replay of a choice differs from the recorded choice: finds the unknown input that would explain it.

Each choice that differs is made again with one changed input, from the governor's knowledge before it. The first input
with which the choice is as recorded is the reason. Inputs are tried in this order: of the choice itself, of one choice
before, of all choices before, of the sleeps before the trace.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

import numpy as np

from lull.platform.cstates import STATE_NAMES
from lull.whatif import recorded
from lull.whatif.entries import Entries
from lull.whatif.library import Governor, Lived, State
from lull.whatif.recorded import Again, Made, Past, wheels_of
from lull.whatif.sleeps import chosen_at

_AT_ONCE = 4096
"""The number of sleeps that a governor replays at a time."""
MOST = 64
"""The largest number of choices to explain. In a run of a minute, thousands may differ, but for few reasons."""
_DEPTHS = tuple(STATE_NAMES.values())


class Reason(StrEnum):
    """An input that no event tells."""

    BEGIN = "when the idle loop began"
    WHEEL = "whether the kernel kept the tick, or another CPU served a timer of the wheel"
    LEFT = "a choice before that was not entered"
    EARLIER = "the same of the tick or the wheel at one of the eight choices before"
    LENGTH = "how long sleeps were without the events at their ends"
    PAST = "the sleeps before the trace"
    OTHER = "which of several inputs is wrong"
    MORE = "the reason"


@dataclass(frozen=True)
class OtherChoice:
    """A choice that differs. `state` is the recorded state, `again` the replay's."""

    cpu: int
    at_ms: float
    """The time since the begin of the command."""
    state: int
    again: int
    reason: Reason
    evidence: str

    def __str__(self) -> str:
        return f"{self.at_ms:.3f} ms: unknown is {self.reason}, {self.evidence}"


def notes(listed: Sequence[OtherChoice]) -> list[str]:
    """Return a sentence for each reason: the number of its choices, and the first of them."""
    by_reason: dict[Reason, list[OtherChoice]] = defaultdict(list)
    for one in listed:
        by_reason[one.reason].append(one)
    found = []
    for reason in Reason:
        if own := by_reason[reason]:
            first, many = own[0], "1 choice does" if len(own) == 1 else f"{len(own)} choices do"
            states = f"{_DEPTHS[first.state]}, a replay chooses {_DEPTHS[first.again]}"
            found.append(
                f"{many} not come out again, unknown is {reason}; {'the first: ' if len(own) > 1 else ''}"
                f"CPU {first.cpu} chose {states}, at {first.at_ms:.3f} ms, {first.evidence}"
            )
    return found


def of_run(entries: Entries, found: Again, governor: str, states: Mapping[int, Sequence[State]]) -> list[OtherChoice]:
    """Return the choices that differ after the command's begin, ordered by CPU and time."""
    listed: list[OtherChoice] = []
    for cpu, made in found.made.items():
        starts = made.sleeps["start"]
        differ = np.flatnonzero(~made.agrees & (starts >= found.begin)).tolist()
        cases = _Cases(entries, governor, states, cpu, made, found.pasts[cpu]) if differ else None
        for at in differ:
            reason, evidence = Reason.MORE, f"only the first {MOST} choices that differ are made again"
            if cases is not None and len(listed) < MOST:
                reason, evidence = cases.reason(at)
            at_ms = (int(starts[at]) - found.begin) / 1e6
            state, choice = int(made.sleeps["state"][at]), int(made.choice[at])
            listed.append(OtherChoice(cpu, at_ms, state, choice, reason, evidence))
    return listed


class _Cases:
    """The choices of a CPU, some of which differ. They must be asked about in their order."""

    def __init__(
        self,
        entries: Entries,
        governor: str,
        states: Mapping[int, Sequence[State]],
        cpu: int,
        made: Made,
        past: Past,
    ) -> None:
        self._engine = Governor(governor, states)
        self._fresh = self._engine.save()
        self._entries, self._cpu, self._made, self._past = entries, cpu, made, past
        self._live_history(past)
        self._known, self._reached = self._engine.save(), 0
        """The governor's knowledge before the choice `_reached`."""

    def reason(self, at: int) -> tuple[Reason, str]:
        self._reach(max(0, at - recorded.SETTLING))
        tests: list[Callable[[int], Iterator[tuple[Reason, str]]]] = [self._begin, self._wheel, self._left]
        tests += [self._earlier, self._length, self._before_trace]
        for test in tests:
            for explained in test(at):
                return explained
        return Reason.OTHER, "it does with no single one otherwise"

    def _begin(self, at: int) -> Iterator[tuple[Reason, str]]:
        (told,) = chosen_at(self._made.sleeps[at : at + 1]).tolist()
        for name in ("now", "start"):
            moment = int(self._made.sleeps[name][at])
            self._before(at)
            if self._comes(at, now=moment):
                yield Reason.BEGIN, f"it does if that is {abs(moment - told) / 1000:.1f} us off"

    def _wheel(self, at: int) -> Iterator[tuple[Reason, str]]:
        one = self._made.sleeps[at]
        for wheel, word in zip(wheels_of(one), ("trace tells", "kernel keeps it", "wheel is empty"), strict=True):
            if not one["stops"] and wheel != self._made.wheel[at]:
                self._before(at)
                if self._comes(at, wheel=wheel):
                    yield Reason.WHEEL, f"it does if the {word}"

    def _left(self, at: int) -> Iterator[tuple[Reason, str]]:
        self._before(at)
        self._ask(at, refused=1)
        if self._comes(at):
            yield Reason.LEFT, "it does after one that a task cut short"

    def _earlier(self, at: int) -> Iterator[tuple[Reason, str]]:
        for other in range(max(0, at - recorded.SETTLING), at):
            one = self._made.sleeps[other]
            for wheel in wheels_of(one) if not one["stops"] and not one["stopped"] else ():
                if wheel != self._made.wheel[other]:
                    self._before(at, {other: wheel})
                    if self._comes(at):
                        yield Reason.EARLIER, f"it does if that of {at - other} before was otherwise"

    def _length(self, at: int) -> Iterator[tuple[Reason, str]]:
        """Try another measured length. The kernel measures between the events: this matters for very short sleeps."""
        near = self._made.sleeps[max(0, at - recorded.SETTLING) : at]
        shortest = int((near["end"] - near["start"]).min(initial=recorded.HARDLY_NS))
        if shortest == recorded.HARDLY_NS:
            return
        self._live_history(self._past)
        for first in range(0, at, _AT_ONCE):
            shorter = self._part(first, min(at, first + _AT_ONCE))
            shorter["residency"] = np.maximum(0, shorter["residency"] - shortest)
            self._engine.live(self._cpu, shorter)
        if self._comes(at):
            yield Reason.LENGTH, f"it does if the events took {shortest / 1000:.1f} us"

    def _before_trace(self, at: int) -> Iterator[tuple[Reason, str]]:
        """Try other histories before the trace. They cannot explain late choices."""
        if at >= recorded.LATEST:
            return
        own = self._part(0, at)
        kinds = [(0, 0), *product(range(len(recorded.KINDS)), recorded.MORE)]
        for past, (kind, more) in product(recorded.PASTS, kinds):
            other = past._replace(more=more, kind=kind, events=self._past.events)
            self._live_history(other)
            self._engine.live(self._cpu, own)
            if self._comes(at):
                yield Reason.PAST, f"it does after {other}"

    def _reach(self, at: int) -> None:
        """Remember the governor's knowledge before a choice. Choices must be reached in their order."""
        self._engine.restore(self._known)
        for first in range(self._reached, at, _AT_ONCE):
            self._engine.live(self._cpu, self._part(first, min(at, first + _AT_ONCE)))
        self._known, self._reached = self._engine.save(), at

    def _before(self, at: int, wheels: Mapping[int, int] | None = None) -> None:
        """Bring the governor to the moment before a choice. `wheels` replaces the wheel of some choices before."""
        own = self._part(self._reached, at)
        for other, wheel in (wheels or {}).items():
            own["wheel"][other - self._reached] = wheel
        self._engine.restore(self._known)
        self._engine.live(self._cpu, own)

    def _live_history(self, past: Past) -> None:
        self._engine.restore(self._fresh)
        self._engine.live(self._cpu, recorded.history(past, self._entries, self._cpu))

    def _part(self, first: int, last: int) -> Lived:
        """Return a copy of some of the sleeps."""
        return recorded.lived_of(self._made.sleeps[first:last], self._made.wheel[first:last], self._past)

    def _ask(self, at: int, **otherwise: int) -> int:
        """Return the governor's choice with a changed input."""
        one = self._part(at, at + 1)
        for name, value in otherwise.items():
            one[name] = value
        return int(self._engine.live(self._cpu, one)["state"][0])

    def _comes(self, at: int, **otherwise: int) -> bool:
        return self._ask(at, **otherwise) == int(self._made.sleeps["state"][at])
