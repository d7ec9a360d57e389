# SPDX-License-Identifier: BSD-3-Clause
"""Judges a published result again: its own tables, by the rules that its analysis has today.

An analysis may become stricter after a result was published. Checks that nobody makes again would then say what the
project does not hold to be true any more. An analysis with a function `conclude(tables, points) -> Result` needs only
the tables for that. `points` are the names of all points that there are to be. Of a result that comes in pieces, the
tables are those whose rows name their point (`pieces`). Of any other result, they are all tables.

Tables that were published before they had a column that is needed now cannot be judged. Such a result stays as it is
until it is made again.
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
    """Write summary, checks and figures of a published result anew, and return the figures; None, and nothing written,
    where the tables are not enough. Tables that say the same stay as they are, to the byte."""
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
    """What today's analysis concludes from a published result's tables; None where it needs the runs themselves, or
    columns that the tables have not."""
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
    """Whether two tables differ in the last digits at most, as a fit does from machine to machine."""
    if one.schema.names != other.schema.names or one.num_rows != other.num_rows:
        return False
    rows = zip(one.to_pylist(), other.to_pylist(), strict=True)
    return all(_alike(value, after[name]) for before, after in rows for name, value in before.items())


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-15) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)
