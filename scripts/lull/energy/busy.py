# SPDX-License-Identifier: BSD-3-Clause
"""What a busy core does in a cycle, by McPAT's events: power-models/busy.yaml, recorded from gem5."""

from functools import cache
from typing import Annotated

from pydantic import Field, TypeAdapter

from lull import gem5_names, yaml_file
from lull.blocks import Block, explained, quoted
from lull.energy import activity, run_xml
from lull.energy.events import CYCLES
from lull.errors import UserError
from lull.paths import ROOT
from lull.platform.cores import load_core
from lull.platform.schema import Name, Source
from lull.rundir import RunDir
from lull.runs import STATS_TABLE

FILE = ROOT / "power-models" / "busy.yaml"


class Busy(Block):
    source: Source
    per_cycle: dict[str, Annotated[float, Field(ge=0)]]


_FILE = TypeAdapter(dict[Name, Busy])


def per_cycle(core: str) -> dict[str, float]:
    """Events of one active cycle; a core that shares another's microarchitecture does the same."""
    known = _all()
    name = core if core in known else load_core(core).same_as
    if name not in known:
        raise UserError(f"{yaml_file.shown(FILE)}: {core}: no activity of it; record one, as for {quoted(known)}")
    return known[name].per_cycle


def source(core: str) -> str:
    return _all()[core].source


def recorded(rundir: RunDir) -> dict[str, dict[str, float]]:
    """The same for a run's cores: of each type, what one did in its window with the most cycles."""
    found: dict[str, dict[str, float]] = {}
    gem5 = run_xml.version(rundir)
    for stats in run_xml.windows(rundir / STATS_TABLE):
        for number, cluster in enumerate(rundir.spec().platform.resolved_clusters()):
            for cpu in range(cluster.cpus):
                counts = activity.core_counts(stats, gem5_names.cpu(number, cpu), gem5)
                if counts[CYCLES] > found.get(cluster.core, {}).get(CYCLES, 0):
                    found[cluster.core] = counts
    return {core: {event: count / counts[CYCLES] for event, count in counts.items()} for core, counts in found.items()}


@cache
def _all() -> dict[str, Busy]:
    shown = yaml_file.shown(FILE)
    with explained(shown, Busy):
        return _FILE.validate_python(yaml_file.read(FILE, shown, "activity", "power-models/README.md"))
