# SPDX-License-Identifier: BSD-3-Clause
"""Whose the machine's power is: the path's, the helpers', the updates', or nobody's, by the causes of the ledger.

All processes are called `browser`. They are told apart by the order in which the program starts them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lull.figures import repetitions, waiting
from lull.rundir.run import Run

TASK = "task:browser/"
PATH, UPDATES = 5, 2
"""How many processes a page has, and how many updates there are, if any."""
PARTS = ("path", "helpers", "updates", "browser", "kernel", "idle", "platform")
"""`browser`: processes that could not be told apart. `kernel`: other tasks, interrupts and devices."""
IDLE = ("idle", "transition", "active")
"""Causes that are nobody's: sleep, ways in and out of it, and what CPUs of one cluster share."""

Row = dict[str, Any]


def df_parts(runs: Sequence[Run], place: Callable[[Run], Row]) -> pa.Table:
    """A row per point and part: its watts in the windows that count. The ledger of each run is there already."""
    found = []
    for run in runs:
        by_cause = repetitions.watts_by(run, repetitions.edges(run, waiting.WINDOWS), ("cause",))
        watts = {cause: power for (cause,), power in by_cause.items()}
        shares = divided(watts, int(run.values["helpers"]), UPDATES if int(run.values["background"]) else 0)
        found += [{**place(run), "part": part, "power_w": shares[part]} for part in PARTS if part in shares]
    return pa.Table.from_pylist(found)


def divided(watts: Mapping[str, float], helpers: int, updates: int) -> dict[str, float]:
    """Watts by cause as watts by part."""
    pids = sorted(int(cause.removeprefix(TASK)) for cause in watts if cause.startswith(TASK))
    kinds = ["path"] * PATH + ["helpers"] * helpers + ["updates"] * updates
    known = dict(zip(reversed(pids), reversed(kinds), strict=False))
    # One more is the program that started them.
    if len(pids) not in (len(kinds), len(kinds) + 1):
        known = {}
    found: dict[str, float] = {}
    for cause, value in watts.items():
        part = cause if cause == "platform" else "idle" if cause in IDLE else "kernel"
        if cause.startswith(TASK):
            part = known.get(int(cause.removeprefix(TASK)), "browser")
        found[part] = found.get(part, 0.0) + value
    return found


def text(parts: pa.Table | None) -> str:
    return waiting.parts_text(
        parts,
        PARTS,
        "Whose power it is",
        "By the cause that the ledger has for each joule: a wake-up is its causer's. Idle: sleep that nobody broke "
        "off, and what CPUs share. Platform: what clusters share, and memory.",
    )
