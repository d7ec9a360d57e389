# SPDX-License-Identifier: BSD-3-Clause
"""What each tracker predicts of a load and how far it is off, written as the rules are; and the loads that are told of:
one that is known by hand, and those of the recordings. `lull.figures.predictions` computes the same of many wake-ups.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from lull.figures import predictions
from lull.figures.load_trackers import ONE, TRACKERS, WINDOW, decayed, tracked
from lull.files.paths import ROOT
from lull.rundir.folder import RunDir
from lull.trace import recording
from lull.trace.clock import TICKS_PER_US
from tests.waeas_load import Load, Worked, predicted

RECORDINGS = ROOT / "results" / "recordings"
PROGRAM = "input-app"
STARTS_US, ENDS_US = 300_000, 100_000
"""In so many µs from the begin of a recording the program starts, and in as many before its end the program ends."""

SETTLED = 20
"""Wake-ups before those that count."""


@dataclass(frozen=True)
class Upstream:
    """`util_avg` when the task wakes, and the larger one of that and of what `util_est` keeps of earlier runs."""

    pelt: float
    util_est: float


def upstream(pieces: Sequence[Worked], now: int) -> Upstream:
    """Return the answers for a task that sleeps since the end of the last piece."""
    util = kept = 0.0
    for piece, last in zip(pieces, tracked(pieces), strict=True):
        util, kept = decayed(last.util, now - piece.end + last.behind), last.kept
    return Upstream(util, max(util, kept))


def work_in(pieces: Sequence[Worked], start: int, end: int) -> float:
    """Of `ONE`, as a share of the time."""
    work = sum(max(0, min(piece.end, end) - max(piece.start, start)) * piece.speed for piece in pieces)
    return work / (end - start)


def answers(pieces: Sequence[Worked], now: int) -> dict[str, float]:
    """Return what each tracker predicts for a task that wakes now, after these pieces."""
    walt, own = Load(WINDOW, 0, False, tuple(pieces), now), upstream(pieces, now)
    found = (predicted(walt), predicted(replace(walt, alpha=ONE // 2)), own.pelt, own.util_est)
    return dict(zip(TRACKERS, found, strict=True))


def errors(pieces: Sequence[Worked]) -> dict[str, float]:
    """Return the mean distance between what was predicted and what came, of `ONE`. Each piece is a wake-up."""
    sums = dict.fromkeys(TRACKERS, 0.0)
    asked = range(SETTLED, len(pieces) - SETTLED)
    for at in asked:
        now = pieces[at].start
        came = work_in(pieces, now, now + WINDOW)
        for name, answer in answers(pieces[:at], now).items():
            sums[name] += abs(answer - came)
    return {name: total / len(asked) for name, total in sums.items()}


def periodic(period: int, work: int, at: int = 0, count: int = 60) -> tuple[Worked, ...]:
    """So much work every so many µs, of the fastest CPU."""
    starts = range(WINDOW + at, WINDOW + at + count * period, period)
    return tuple(Worked(start, start + work, ONE) for start in starts)


def recorded(name: str) -> list[dict[str, Any]]:
    """A row for each tracker, of the recording of this name."""
    rundir = RunDir.open(RECORDINGS / name)
    record = recording.load(rundir)
    begin, end = record.begin + STARTS_US * TICKS_PER_US, record.end - ENDS_US * TICKS_PER_US
    return predictions.asked(rundir, PROGRAM, begin, end)
