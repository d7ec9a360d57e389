# SPDX-License-Identifier: BSD-3-Clause
"""Calibration: factors for McPAT's watts, one for dynamic and one for static power of each core type.

The factors are in power-models/calibration.yaml. `fit` computes them from published figures, never from an experiment's
results. A cluster's L2 has the factors of its cores, because both were designed together.
"""

import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated

from pydantic import Field, TypeAdapter

from lull.energy import activity, busy, published, tables
from lull.energy.events import L2
from lull.energy.published import PARTS, Part
from lull.energy.tables import OppTable
from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained, quoted
from lull.files.paths import ROOT
from lull.platform.values import Name, Source

FILE = ROOT / "power-models" / "calibration.yaml"


class Factors(Block):
    dynamic: Annotated[float, Field(gt=0)]
    static: Annotated[float, Field(gt=0)]
    source: Source


RAW = Factors(dynamic=1.0, static=1.0, source="McPAT as it is")

_FILE = TypeAdapter(dict[Name, Factors])


def factors(core: str) -> Factors:
    """Return both factors of a core type. They are the same on every platform."""
    stated = _all()
    if core not in stated:
        raise UserError(f"{yaml_file.shown(FILE)}: {core}: no factors for it; state them, as for {quoted(stated)}")
    return stated[core]


def busy_watts(core: str, opp: OppTable) -> float:
    """Return McPAT's dynamic power of one busy core without the L2, as published figures have it."""
    joules = activity.joules(opp, busy.per_cycle(core))
    return sum(joules.values()) * opp.mhz * 1e6


def leakage_watts(part: Part, opp: OppTable) -> float:
    """Return McPAT's leakage of one core, or of its cluster's L2."""
    return sum(leakage.watts for component, leakage in opp.leakage.items() if (component == L2) == (part == "l2"))


def fit() -> dict[str, dict[str, float]]:
    """Return the factors by core and kind: published over McPAT's watts. Each is a mean over a cluster's OPPs, then a
    geometric mean over platforms. Core and L2 have the same weight in the static factor."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for figure in published.load().busy_core:
        platform, cluster = figure.machine()
        table, core = tables.load(platform, cluster), cluster.core
        found = [figure.watts(opp) / busy_watts(core, table.at(opp.mhz)) for opp in cluster.opps.table]
        ratios.setdefault((core, "dynamic"), []).append(_mean(found))
    for leak in published.load().leakage:
        platform, cluster = leak.machine()
        table = tables.load(platform, cluster)
        for part in PARTS:
            found = [
                leak.watts(part, opp, table.temperature_k) / leakage_watts(part, table.at(opp.mhz))
                for opp in cluster.opps.table
            ]
            ratios.setdefault((cluster.core, "static"), []).append(_mean(found))
    fitted: dict[str, dict[str, float]] = {}
    for (core, kind), values in ratios.items():
        fitted.setdefault(core, {})[kind] = math.exp(_mean(math.log(value) for value in values))
    return fitted


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


@cache
def _all() -> Mapping[str, Factors]:
    shown = yaml_file.shown(FILE)
    with explained(shown, Factors):
        return _FILE.validate_python(yaml_file.read(FILE, shown, "calibration", "power-models/README.md"))
