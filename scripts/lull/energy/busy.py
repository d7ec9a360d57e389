# SPDX-License-Identifier: BSD-3-Clause
"""Events per cycle of a busy core, by McPAT's names: power-models/busy.yaml, recorded from gem5."""

from functools import cache
from typing import Annotated

from pydantic import Field, TypeAdapter

from lull.energy import activity, source, windows
from lull.energy.events import CYCLES
from lull.engines import gem5_names
from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained, quoted
from lull.files.paths import ROOT
from lull.platform.cores import load_core
from lull.platform.values import Name, Source
from lull.rundir.folder import STATS_TABLE, RunDir
from lull.trace.clock import TICK_HZ

FILE = ROOT / "power-models" / "busy.yaml"


INSTRUCTIONS = "total_instructions"


class Busy(Block):
    source: Source
    per_cycle: dict[str, Annotated[float, Field(ge=0)]]


_FILE = TypeAdapter(dict[Name, Busy])


def per_cycle(core: str) -> dict[str, float]:
    """Return a busy core's events per active cycle. Cores with the same microarchitecture share them."""
    known = _all()
    name = core if core in known else load_core(core).same_as
    if name not in known:
        raise UserError(f"{yaml_file.shown(FILE)}: {core}: no activity of it; record one, as for {quoted(known)}")
    return known[name].per_cycle


def recorded(rundir: RunDir, window_us: float | None = None) -> dict[str, dict[str, float]]:
    """Return the events per cycle of each core type in a run, from its window with the most instructions.

    With `window_us`, only windows of this length count. This selects the windows of `steady-power`.
    """
    found: dict[str, dict[str, float]] = {}
    run = source.open_run(rundir)
    clusters = run.platform.resolved_clusters()
    for window in windows.read(rundir / STATS_TABLE):
        if window_us is not None and not windows.lasts(window.ticks, window_us * TICK_HZ / 1e6):
            continue
        for number, cluster in enumerate(clusters):
            for cpu in range(cluster.cpus):
                counts = activity.core_counts(window, gem5_names.cpu(number, cpu), run.gem5)
                if counts[INSTRUCTIONS] > found.get(cluster.core, {}).get(INSTRUCTIONS, 0):
                    found[cluster.core] = counts
    if not found:
        length = "" if window_us is None else f" of {window_us:g} us"
        raise UserError(f"{rundir / STATS_TABLE}: no window{length} in which a core ran; run one in which it does")
    return {core: {event: count / counts[CYCLES] for event, count in counts.items()} for core, counts in found.items()}


@cache
def _all() -> dict[str, Busy]:
    shown = yaml_file.shown(FILE)
    with explained(shown, Busy):
        return _FILE.validate_python(yaml_file.read(FILE, shown, "activity", "power-models/README.md"))
