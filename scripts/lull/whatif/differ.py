# SPDX-License-Identifier: BSD-3-Clause
"""Why a choice does not come out again: the unknown input with which it would.

Each choice that differs is made again with one input otherwise, from the governor's knowledge before it. The first
input with which it comes out as recorded is the reason. The order is that of what has to be wrong: of the choice
itself, of one choice before, of all of them, of the sleeps before the trace.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from lull.whatif import recorded
from lull.whatif.entries import Entries
from lull.whatif.library import Governor, Knowledge, State
from lull.whatif.recorded import Again, Made, Past


class Reason(StrEnum):
    """What no event tells."""

    BEGIN = "when the idle loop began"
    WHEEL = "whether the kernel kept the tick, or another CPU served a timer of the wheel"
    LEFT = "a choice before that was not entered"
    EARLIER = "the same of the tick or the wheel at one of the eight choices before"
    LENGTH = "how long sleeps were without the events at their ends"
    PAST = "the sleeps before the trace"
    OTHER = "which of several inputs is wrong"


@dataclass(frozen=True)
class OtherChoice:
    """A choice that differs. `state` is the recorded one, `again` the replay's."""

    cpu: int
    at_ms: float
    """Since the begin of the command."""
    state: int
    again: int
    reason: Reason
    evidence: str

    def __str__(self) -> str:
        return f"{self.at_ms:.3f} ms: unknown is {self.reason}, {self.evidence}"


def of_run(entries: Entries, found: Again, governor: str, states: Mapping[int, Sequence[State]]) -> list[OtherChoice]:
    """Of each choice from the command's begin on that differs, in the order of CPUs and time."""
    listed = []
    for cpu, made in found.made.items():
        for at, one in enumerate(made):
            if not one.agrees and one.entry.start >= found.begin:
                case = _Case(entries, governor, states, cpu, made[: at + 1], found.pasts[cpu])
                reason, evidence = case.reason()
                at_ms = (one.entry.start - found.begin) / 1e6
                listed.append(OtherChoice(cpu, at_ms, one.entry.state, one.choice, reason, evidence))
    return listed


@dataclass(frozen=True)
class _Case:
    """The choices of a CPU up to the one that differs."""

    entries: Entries
    governor: str
    states: Mapping[int, Sequence[State]]
    cpu: int
    made: Sequence[Made]
    past: Past

    def reason(self) -> tuple[Reason, str]:
        tests: list[Callable[[], Iterator[tuple[Reason, str]]]] = [self._begin, self._wheel, self._left]
        tests += [self._earlier, self._length, self._past]
        for test in tests:
            for explained in test():
                return explained
        return Reason.OTHER, "it does with no single one otherwise"

    def _begin(self) -> Iterator[tuple[Reason, str]]:
        one = self.made[-1].entry
        for moment in (one.now, one.start):
            if self._comes(self._before(self.past), begin=moment):
                yield Reason.BEGIN, f"it does if that is {abs(moment - one.chosen_at) / 1000:.1f} us off"

    def _wheel(self) -> Iterator[tuple[Reason, str]]:
        one = self.made[-1]
        for wheel, word in zip(
            recorded.wheels_of(one.entry), ("trace tells", "kernel keeps it", "wheel is empty"), strict=True
        ):
            if not one.entry.stops and wheel != one.wheel and self._comes(self._before(self.past), wheel=wheel):
                yield Reason.WHEEL, f"it does if the {word}"

    def _left(self) -> Iterator[tuple[Reason, str]]:
        engine = self._before(self.past)
        engine.select(self.cpu, self._view())
        engine.rejected(self.cpu)
        if self._comes(engine):
            yield Reason.LEFT, "it does after one that a task cut short"

    def _earlier(self) -> Iterator[tuple[Reason, str]]:
        first = max(0, len(self.made) - 1 - recorded.SETTLING)
        for at in range(first, len(self.made) - 1):
            entry = self.made[at].entry
            for wheel in recorded.wheels_of(entry) if not entry.stops and not entry.stopped else ():
                if wheel != self.made[at].wheel and self._comes(self._before(self.past, {at: wheel})):
                    yield Reason.EARLIER, f"it does if that of {len(self.made) - 1 - at} before was otherwise"

    def _length(self) -> Iterator[tuple[Reason, str]]:
        """The kernel measures between the events. The shortest sleep near by was hardly one."""
        lengths = [one.entry.end - one.entry.start for one in self.made[-1 - recorded.SETTLING : -1]]
        if lengths and self._comes(self._before(self.past, shorter=min(lengths))):
            yield Reason.LENGTH, f"it does if the events took {min(lengths) / 1000:.1f} us"

    def _past(self) -> Iterator[tuple[Reason, str]]:
        kinds = [(kind, more) for kind, more in product(range(len(recorded.KINDS)), recorded.MORE)]
        for past in recorded.PASTS:
            for kind, more in [(0, 0), *kinds]:
                other = past._replace(more=more, kind=kind)
                if self._comes(self._before(other)):
                    yield Reason.PAST, f"it does after {other}"

    def _before(self, past: Past, wheels: Mapping[int, int] | None = None, shorter: int = 0) -> Governor:
        """The governor as it is before the choice."""
        engine = Governor(self.governor, self.states)
        other = [one._replace(wheel=(wheels or {}).get(at, one.wheel)) for at, one in enumerate(self.made[:-1])]
        lived = recorded.sleeps_of(self.entries, self.cpu, past, other)
        for at in range(len(lived) - len(other), len(lived)):
            lived[at].residency = max(0, lived[at].residency - shorter)
        engine.live(self.cpu, lived)
        return engine

    def _view(self, begin: int | None = None, wheel: int | None = None) -> Knowledge:
        one = self.made[-1]
        return one.entry.knowledge(one.wheel if wheel is None else wheel, begin)

    def _comes(self, engine: Governor, begin: int | None = None, wheel: int | None = None) -> bool:
        state: int = engine.select(self.cpu, self._view(begin, wheel)).state
        return state == self.made[-1].entry.state
