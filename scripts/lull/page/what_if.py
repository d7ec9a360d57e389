# SPDX-License-Identifier: BSD-3-Clause
"""The what-if part of a page: sliders over a grid of predictions that is inside the page."""

import base64
from typing import Any

import numpy as np

from lull.artifacts.governors import NAMES
from lull.energy import states as shares
from lull.errors import UserError
from lull.figures.sample import Sample
from lull.host.progress import Progress
from lull.page.page import Section
from lull.rundir.folder import TRACE
from lull.whatif import source, surface
from lull.whatif.surface import Surface

LEVELS = 65535
"""The number of steps between the smallest and the largest number of a kind: each number of the grid has two bytes."""


def can_be_asked(point: Sample) -> bool:
    """Return true for a run on gem5 that has a trace and a ledger."""
    return point.run.spec.engine == "gem5" and point.ledger is not None and (point.run.path / TRACE).is_file()


def show(section: Section, point: Sample) -> None:
    """Add the sliders. If the trace has not enough events, add a sentence that says so."""
    try:
        replay = source.load(point.run.path)
        with Progress(f"what-if of {point.run.path}") as progress:
            found = surface.of_run(replay, progress)
    except UserError as error:
        section.text(f"No what-if of this run: {error}.")
        return
    section.text(
        f"The kernel's own governors chose again, with the timers and events of this run, at {found.points} points. "
        f"{replay.again.share():.1%} of the recorded choices come out again. Exit latency is the hardware's; residency "
        "is what Linux is told. The method's own error bar, and what the method cannot know, are explained in "
        "docs/what-if.md."
    )
    if replay.notes:
        section.text(f"Of this run: {'; '.join(replay.notes)}.")
    caption = (
        "Drawn from the grid that is inside this page: between its exit latencies the curves are interpolated, its "
        "residencies are the stops of the slider, and power is exact. The interpolation's error is that of "
        f"{surface.HELD_OUT} random points beside their replay."
    )
    front = (
        "With exit latencies and power as the sliders have them, each governor with each combination of residencies. "
        "The line joins those that no other point beats in both."
    )
    section.what_if(data_of(found), caption, front)


def data_of(found: Surface) -> dict[str, Any]:
    flat = found.table.reshape(-1, len(found.measures))
    low, high = flat.min(axis=0), flat.max(axis=0)
    step = np.where(high > low, (high - low) / LEVELS, 1.0)
    packed = np.rint((flat - low) / step).astype("<u2")
    core = shares.load().core
    return {
        "governors": list(NAMES), "governor": found.governor, "measures": list(found.measures),
        "states": [
            {
                "name": state.name, "exit": state.exit_us, "residency": state.residency_us,
                "share": core.of(state.name).leakage,
            }
            for state in found.states
        ],
        "idle": [name.removesuffix(" %") for name in found.measures if name.endswith(" %")],
        "exits": list(surface.EXITS), "residencies": list(surface.RESIDENCIES),
        "combinations": [list(one) for one in found.combinations],
        "count": packed.size, "packed": base64.b64encode(packed.tobytes()).decode(),
        "low": _short(low), "step": _short(step), "recorded": _short(found.recorded),
        "off": {
            governor: {name: _short(np.array(off)) for name, off in own.items()} for governor, own in found.off.items()
        },
        "bars": {name: _short(np.array(bar)) for name, bar in found.bars.items()},
        "seconds": found.seconds,
    }  # fmt: skip


def _short(values: surface.Numbers) -> list[float]:
    return [float(f"{value:.9g}") for value in values]
