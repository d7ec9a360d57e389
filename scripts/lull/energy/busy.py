# SPDX-License-Identifier: BSD-3-Clause
"""What a busy core does in a cycle, by McPAT's events: power-models/busy.yaml, recorded from gem5."""

from functools import cache
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from lull import yaml_file
from lull.blocks import Block, quoted, user_error
from lull.energy import run_xml
from lull.energy.events import CYCLES
from lull.errors import UserError
from lull.paths import ROOT
from lull.platform.cores import load_core
from lull.platform.schema import Name, Source
from lull.rundir import RunDir

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
    """The same of a run's cores, of each type the one with the most cycles."""
    found: dict[str, dict[str, float]] = {}
    for chip, spent in run_xml.spent(rundir):
        for counts in spent.cores:
            best = found.setdefault(chip.cluster.core, counts)
            if counts[CYCLES] > best[CYCLES]:
                found[chip.cluster.core] = counts
    return {
        core: {event: count / counts[CYCLES] for event, count in counts.items()}
        for core, counts in found.items()
        if counts[CYCLES]
    }


@cache
def _all() -> dict[str, Busy]:
    shown = yaml_file.shown(FILE)
    try:
        return _FILE.validate_python(yaml_file.read(FILE, shown, "activity", "power-models/README.md"))
    except ValidationError as error:
        raise user_error(shown, error, Busy) from None
