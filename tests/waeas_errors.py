# SPDX-License-Identifier: BSD-3-Clause
"""Loads of which the errors of predictions are told: one that is known by hand, and those of the recordings."""

from typing import Any

from lull.figures import predictions
from lull.figures.load_trackers import ONE, WINDOW, Worked
from lull.files.paths import ROOT
from lull.rundir.folder import RunDir
from lull.trace import recording
from lull.trace.clock import TICKS_PER_US

RECORDINGS = ROOT / "results" / "recordings"
PROGRAM = "input-app"
STARTS_US, ENDS_US = 300_000, 100_000
"""In so many µs from the begin of a recording the program starts, and in as many before its end the program ends."""


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
