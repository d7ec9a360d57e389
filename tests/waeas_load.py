# SPDX-License-Identifier: BSD-3-Clause
"""Drawn loads, and what WAEAS is to predict of them in floating point: the reference of the kernel's integers.

`waeas_load_test.c` draws the same loads by the same random numbers, and compares the kernel's predictions with the
table in `waeas_load_reference.h`, which is this module's answer.
"""

from dataclasses import dataclass

from lull.figures.load_trackers import ONE, Load, Worked, predicted
from lull.files.paths import ROOT

TABLE = ROOT / "kernel-patches" / "waeas" / "waeas_load_reference.h"
CASES = 120
WINDOWS_US = (1000, 20000, 100000)


@dataclass
class Draws:
    """The random numbers of the KUnit test: the same generator, with the same seed."""

    state: int

    def below(self, bound: int) -> int:
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return (self.state >> 8) % bound


def drawn(seed: int) -> Load:
    draws = Draws(seed)
    window = WINDOWS_US[seed % len(WINDOWS_US)]
    alpha = draws.below(ONE) if seed % 4 else 0
    idle_counts = draws.below(2) == 1
    pieces, time = [], 0
    for _ in range(1 + draws.below(40)):
        start = time + draws.below(window)
        time = start + 1 + draws.below(window * 2)
        pieces.append(Worked(start, time, 64 + draws.below(ONE - 63)))
    return Load(window, alpha, idle_counts, tuple(pieces), time + draws.below(window * 3))


def table() -> str:
    """The header: predictions in thousandths of what `LULL_WAEAS_ONE` is 1024 of, rounded."""
    numbers = [f"{round(predicted(drawn(seed)) * 1000)}," for seed in range(CASES)]
    lines = ["\t" + " ".join(numbers[at : at + 10]) for at in range(0, CASES, 10)]
    head = (
        "/* SPDX-License-Identifier: GPL-2.0-only */\n"
        "/* Predictions of drawn loads, from tests/waeas_load.py, in thousandths. Do not edit. */\n"
    )
    return head + "static const unsigned int lull_waeas_reference[] = {\n" + "\n".join(lines) + "\n};\n"
