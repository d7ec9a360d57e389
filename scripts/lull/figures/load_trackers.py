# SPDX-License-Identifier: BSD-3-Clause
"""What is predicted of a task's load, in floating point: by WAEAS's windows, and by PELT and util_est of Linux 6.12.

This is the reference, written as the rules are. `lull.figures.predictions` computes the same for many wake-ups at once.

Linux 6.12 has rules that are left out here. util_est is not updated if PELT's numbers have not changed since the task
woke, which they do about once in 1024 µs. It does not fall where the task had to wait for its CPU, or where the load is
more than the CPU's capacity. Linux's clock for PELT catches up when the CPU idles, and here when the task sleeps.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

ONE = 1024
"""The fastest CPU at its fastest, all the time."""
REMEMBERED = 5
WINDOW = 20000
"""The length of a window in µs, and also how far ahead is predicted."""
HALF_LIFE = 32 * 1024
"""PELT halves a load in 32 periods of 1024 µs."""
MARGIN = ONE / 100
"""util_est follows a load downwards if it falls by more than this."""
SETTLED = 20
"""Wake-ups before those that count."""
TRACKERS = ("walt", "bes", "pelt", "util_est")


class Worked(NamedTuple):
    """A piece of work: a CPU of a certain speed, of `ONE`, worked from one moment to another, in µs."""

    start: int
    end: int
    speed: int
    slept: bool = True
    """True if the task went to sleep then. False if it had to leave its CPU, or if its CPU changed its speed."""


@dataclass(frozen=True)
class Load:
    window: int
    alpha: int
    """The weight of the newest window, of `ONE`; 0 for WALT's mean."""
    idle_counts: bool
    pieces: tuple[Worked, ...]
    now: int


def predicted(load: Load) -> float:
    """Equations 1 to 5 of the paper, of `ONE`.

    A task's windows without work are not remembered. A CPU's are, from boot on.
    """
    work: dict[int, float] = defaultdict(float)
    for piece in load.pieces:
        for number in range(piece.start // load.window, (piece.end - 1) // load.window + 1):
            start, end = max(piece.start, number * load.window), min(piece.end, (number + 1) * load.window)
            work[number] += (end - start) * piece.speed / ONE
    current = load.now // load.window
    before = range(current) if load.idle_counts else [number for number in sorted(work) if number < current]
    windows = [work.get(number, 0.0) for number in before[-REMEMBERED:]]
    if not windows:
        return work[current] / load.window * ONE
    expected = sum(windows) / len(windows)
    if load.alpha:
        alpha = load.alpha / ONE
        expected = sum(windows[:2]) / len(windows[:2])
        for window in windows:
            expected = alpha * window + (1 - alpha) * expected
    return min(max(expected, windows[-1], work[current]) / load.window, 1) * ONE


def decayed(load: float, us: float) -> float:
    """What is left of a load after so long."""
    return load * 2 ** (-us / HALF_LIFE)


class Tracked(NamedTuple):
    """What Linux keeps of a task at the end of a piece."""

    util: float
    """`util_avg`."""
    behind: float
    """By how many µs PELT's clock is behind."""
    kept: float
    """`util_est`."""


def tracked(pieces: Iterable[tuple[float, float, float, bool]]) -> Iterator[Tracked]:
    """Yield what Linux keeps after each piece, in their order.

    PELT's clock is as slow as the CPU while the task is awake. So a task that works all the time has the load 1024 on
    any CPU, in the end.
    """
    util, kept, time, behind, speed, slept = 0.0, 0.0, 0.0, 0.0, float(ONE), True
    for start, end, new_speed, sleeps in pieces:
        if slept:
            util, behind = decayed(util, start - time + behind), 0.0
        else:
            util = decayed(util, (start - time) * speed / ONE)
            behind += (start - time) * (1 - speed / ONE)
        util = ONE + decayed(util - ONE, (end - start) * new_speed / ONE)
        behind += (end - start) * (1 - new_speed / ONE)
        time, speed, slept = end, new_speed, sleeps
        if slept and kept <= util:
            kept = util
        elif slept and kept - util >= MARGIN:
            kept += (util - kept) / 4
        yield Tracked(util, behind, kept)


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
