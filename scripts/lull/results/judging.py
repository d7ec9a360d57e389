# SPDX-License-Identifier: BSD-3-Clause
"""Makes the checks of a published result again: its own tables, today's rules of its analysis.

An analysis may become stricter after a result was published, and then the published checks are out of date. An analysis
with a function `conclude(tables, points) -> Result` can make checks from tables, without runs. `points` are the names
of all points of the experiment, finished or not. If the result comes in pieces, `tables` are only those whose rows name
their point (`pieces`); otherwise they are all tables.

If the published tables lack a column that today's analysis needs, the result stays as it is until it is made again.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from lull.results import conditions, confirmed, confirming, drawing, pieces, result
from lull.results import manifest as manifests
from lull.results.manifest import ResultManifest
from lull.results.result import Result, TooOld
from lull.scenario import asked, points
from lull.scenario.load import load_scenario


def judge(folder: Path) -> list[Path] | None:
    """Write summary, checks and figures of a published result again, and return the paths of the figures. Return None
    and write nothing if the tables are not enough. The file of a table with the same values is not touched."""
    analysis, stored = drawing.read(folder)
    about = manifests.read(folder)
    found = _concluded(folder, analysis, stored.tables, about)
    if found is None:
        return None
    same = [
        f"{name}.parquet"
        for name, table in found.tables.items()
        if name in stored.tables and _same(stored.tables[name], table)
    ]
    keep = (manifests.FILE, confirmed.FILE, *same)
    return result.save(found, load_scenario(about["scenario"]).title, about, folder, keep)


def concluded(folder: Path) -> Result | None:
    """Return what today's analysis concludes from a published result's tables; None if it needs the runs, or columns
    that the tables lack."""
    analysis, stored = drawing.read(folder)
    return _concluded(folder, analysis, stored.tables, manifests.read(folder))


def _concluded(
    folder: Path, analysis: ModuleType, tables: Mapping[str, pa.Table], about: ResultManifest
) -> Result | None:
    conclude = getattr(analysis, "conclude", None)
    if conclude is None:
        return None
    scenario, names = load_scenario(about["scenario"]), list(about["points"])
    if scenario.in_pieces:
        tables = pieces.joinable(tables)
        _, wanted = confirming.manifest_of(folder)
        names = [point.name for point in points.resolve(scenario, asked.wishes_of(wanted, "gem5"))]
    try:
        found: Result = conclude(tables, names)
    except TooOld:
        return None
    return result.with_conditions(found, tables.get(conditions.NAME))


def _same(one: pa.Table, other: pa.Table) -> bool:
    """Return true if two tables differ only in the last digits, as a fit does on another host."""
    if one.schema.names != other.schema.names or one.num_rows != other.num_rows:
        return False
    rows = zip(one.to_pylist(), other.to_pylist(), strict=True)
    return all(_alike(value, after[name]) for before, after in rows for name, value in before.items())


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-15) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
