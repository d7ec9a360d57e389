# SPDX-License-Identifier: BSD-3-Clause
"""How far predictions of a task's load are off: windows, and what upstream has, on the same load.

A task is placed when it wakes. So each wake-up is asked what was predicted for the next 20 ms, and what came.
"""

from dataclasses import dataclass, replace

from tests.waeas_load import ONE, Load, Piece, predicted

WINDOW = 20000
HALF_LIFE = 32 * 1024
"""PELT halves a load in 32 periods of 1024 µs."""
MARGIN = ONE / 100
"""util_est follows a load downwards if it falls by more than this."""
SETTLED = 20
"""Wake-ups before those that count."""


def decayed(load: float, us: int) -> float:
    return load * 2 ** (-us / HALF_LIFE)


@dataclass(frozen=True)
class Upstream:
    """`util_avg` when the task wakes, and the larger one of that and of what `util_est` keeps of earlier runs."""

    pelt: float
    util_est: float


def upstream(pieces: tuple[Piece, ...], now: int) -> Upstream:
    util, kept, time = 0.0, 0.0, 0
    for piece in pieces:
        util = decayed(util, piece.start - time)
        util = piece.speed + decayed(util - piece.speed, piece.end - piece.start)
        time = piece.end
        if kept <= util:
            kept = util
        elif kept - util >= MARGIN:
            kept += (util - kept) / 4
    util = decayed(util, now - time)
    return Upstream(util, max(util, kept))


def work_in(pieces: tuple[Piece, ...], start: int, end: int) -> float:
    """Of `ONE`, as a share of the time."""
    work = sum(max(0, min(piece.end, end) - max(piece.start, start)) * piece.speed for piece in pieces)
    return work / (end - start)


def periodic(period: int, work: int, at: int = 0, count: int = 60) -> tuple[Piece, ...]:
    """So much work every so many µs, of the fastest CPU."""
    return tuple(Piece(start, start + work, ONE) for start in range(WINDOW + at, WINDOW + at + count * period, period))


def errors(pieces: tuple[Piece, ...]) -> dict[str, float]:
    """The mean distance between what was predicted and what came, of `ONE`."""
    sums = dict.fromkeys(("walt", "bes", "pelt", "util_est"), 0.0)
    asked = range(SETTLED, len(pieces) - SETTLED)
    for at in asked:
        now, before = pieces[at].start, pieces[:at]
        came = work_in(pieces, now, now + WINDOW)
        walt = Load(WINDOW, 0, False, before, now)
        own = upstream(before, now)
        answers = (predicted(walt), predicted(replace(walt, alpha=ONE // 2)), own.pelt, own.util_est)
        for name, answer in zip(sums, answers, strict=True):
            sums[name] += abs(answer - came)
    return {name: total / len(asked) for name, total in sums.items()}
