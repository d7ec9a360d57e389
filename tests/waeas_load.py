# SPDX-License-Identifier: BSD-3-Clause
"""Drawn loads, and what WAEAS is to predict of them in floating point: the reference of the kernel's integers.

`waeas_load_test.c` draws the same loads by the same random numbers, and compares the kernel's predictions with the
tables in `waeas_load_reference.h`, which are this module's answer.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import NamedTuple

from lull.figures.load_trackers import ONE, REMEMBERED
from lull.files.paths import ROOT

TABLES = ROOT / "kernel-patches" / "waeas" / "waeas_load_reference.h"
CASES = 120
WINDOWS_US = (1000, 20000, 100000)
CHANGES = 4
"""The number of changes of speed that a CPU remembers (`LULL_WAEAS_CHANGES`)."""


@dataclass
class Draws:
    """The random numbers of the KUnit test: the same generator, with the same seed."""

    state: int

    def below(self, bound: int) -> int:
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return (self.state >> 8) % bound


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


def drawn(seed: int, changes: bool = False) -> Load:
    """Return a load. With `changes`, the CPU changes its speed up to `CHANGES` times while the task works."""
    draws = Draws(seed)
    window = WINDOWS_US[seed % len(WINDOWS_US)]
    alpha = draws.below(ONE) if seed % 4 else 0
    idle_counts = draws.below(2) == 1
    pieces, time = [], 0
    for _ in range(1 + draws.below(40)):
        start = time + draws.below(window)
        time = start + 1 + draws.below(window * 2)
        speed = _speed(draws)
        for _ in range(draws.below(CHANGES + 1) if changes else 0):
            change = start + draws.below(time - start)
            pieces.append(Worked(start, change, speed, slept=False))
            start, speed = change, _speed(draws)
        pieces.append(Worked(start, time, speed))
    return Load(window, alpha, idle_counts, tuple(pieces), time + draws.below(window * 3))


def _speed(draws: Draws) -> int:
    return 64 + draws.below(ONE - 63)


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


def tables() -> str:
    """The header: predictions in thousandths of what `LULL_WAEAS_ONE` is 1024 of, rounded."""
    head = (
        "/* SPDX-License-Identifier: GPL-2.0-only */\n"
        "/* Predictions of drawn loads, from tests/waeas_load.py, in thousandths. Do not edit. */\n"
    )
    constant = _table("lull_waeas_reference", changes=False)
    return head + constant + "\n" + _table("lull_waeas_changing_reference", changes=True)


def _table(name: str, changes: bool) -> str:
    numbers = [f"{round(predicted(drawn(seed, changes)) * 1000)}," for seed in range(CASES)]
    lines = ["\t" + " ".join(numbers[at : at + 10]) for at in range(0, CASES, 10)]
    return f"static const unsigned int {name}[] = {{\n" + "\n".join(lines) + "\n};\n"
