# SPDX-License-Identifier: BSD-3-Clause
"""Joins the pieces of a published result: points that finished later, or on another host, are added to it.

A published point is not replaced as long as kernel, firmware, image, machine model and lull's table-making code (if the
analysis names any, `code`) are the same. So nobody can run a point with a failing check again until it passes. If one
of these differs, the new point replaces the published one: an old result is renewed piece by piece. When a point is
replaced, all rows made from its run are removed, also rows about another point (`NAMES`).

The analysis of such a scenario has a function `conclude(tables, points) -> Result`. It makes the whole result from the
tables whose rows name their `point`. `points` are the names of all points of the experiment, finished or not. If a
table has gained a column, the column is null for points that were published before.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from lull.errors import UserError
from lull.files import json_file, yaml_file
from lull.results.drawing import MANIFEST, tables_of

POINT = "point"
NAMES = (POINT, "recorded", "recorded_run", "made_of")
"""Columns that name the point, or a list of points, from whose runs a row was made. For example, a row of a what-if is
made from the predicted run and from the runs that predict it: it is removed if one of them is replaced."""
MADE_BY = ("artifacts", "engine", "host", "lull", "code")
"""The keys of a manifest that differ from piece to piece."""

Tables = dict[str, pa.Table]


def joined(made: Path, published: Path) -> tuple[Tables, dict[str, Any]]:
    """Return tables and manifest of the published result, with the new points of the result in `made` added."""
    manifest = json_file.read(made / MANIFEST, "make the figures again")
    there: Tables = {}
    before: Mapping[str, Any] = {**manifest, "points": {}, "pieces": []}
    if (published / MANIFEST).is_file():
        before = json_file.read(published / MANIFEST, f"remove {yaml_file.shown(published)} and publish again")
        there = joinable(tables_of(published))
    # Rows of points that the published manifest does not name are taken from `made`, with the points' records.
    renewed = _renewed(before["pieces"], manifest["pieces"]) | (manifest["points"].keys() - before["points"].keys())
    there = {name: table.filter(_is_not_in(table, renewed)) for name, table in there.items()}
    before = _without(before, renewed)
    if before["command"] != manifest["command"]:
        raise UserError(
            f"{made.parent}: made by `{manifest['command']}`, and {yaml_file.shown(published)} by "
            f"`{before['command']}`; publish runs of that, or remove the folder first"
        )
    known = set(before["points"])
    new = manifest["points"].keys() - known
    tables = {
        name: _added(there.get(name), table, known, new, made / name)
        for name, table in joinable(tables_of(made)).items()
    }
    # A piece without rows for a table does not have the table.
    tables = {**there, **tables}
    return tables, _manifest(before, manifest, known)


def joinable(tables: Mapping[str, pa.Table]) -> Tables:
    """Return the tables that can be joined: those whose rows name their point."""
    return {name: table for name, table in tables.items() if POINT in table.column_names}


def _added(there: pa.Table | None, table: pa.Table, known: set[str], new: set[str], name: Path) -> pa.Table:
    rows = zip(table[POINT].to_pylist(), _points(table), strict=True)
    fresh = table.filter(pa.array([point not in known or bool(new & own) for point, own in rows], pa.bool_()))
    if there is None:
        return fresh
    kept = [column for column in there.column_names if column in fresh.column_names]
    if not there.schema.equals(fresh.select(kept).schema):
        raise UserError(f"{name}: other columns than what is published; publish all of it again, into an empty folder")
    return pa.concat_tables([there, fresh], promote_options="default").combine_chunks()


def _is_not_in(table: pa.Table, points: set[str]) -> pa.Array:
    return pa.array([points.isdisjoint(own) for own in _points(table)], pa.bool_())


def _points(table: pa.Table) -> list[set[str]]:
    """Return, for each row, the points from whose runs it was made."""
    columns = [table[name].to_pylist() for name in NAMES if name in table.column_names]
    return [
        {name for value in row for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)}
        for row in zip(*columns, strict=True)
    ]


def _renewed(before: Sequence[Mapping[str, Any]], made: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the points that are now made with another kernel, firmware, image, machine model or code."""
    published = {name: _made_with(piece) for piece in before for name in piece["points"]}
    now = {name: _made_with(piece) for piece in made for name in piece["points"]}
    return {name for name in published.keys() & now.keys() if published[name] != now[name]}


def _made_with(piece: Mapping[str, Any]) -> tuple[Any, ...]:
    return piece["artifacts"], piece["engine"].get("configs"), piece.get("code")


def _without(manifest: Mapping[str, Any], points: set[str]) -> dict[str, Any]:
    """Return the manifest without these points, and without pieces that are then empty."""
    left = [
        {**piece, "points": [name for name in piece["points"] if name not in points]} for piece in manifest["pieces"]
    ]
    kept = {name: about for name, about in manifest["points"].items() if name not in points}
    return {**manifest, "points": kept, "pieces": [piece for piece in left if piece["points"]]}


def _manifest(before: Mapping[str, Any], manifest: Mapping[str, Any], known: set[str]) -> dict[str, Any]:
    """Return the manifest of all points. Each point keeps the record of what made it."""
    added = {name: point for name, point in manifest["points"].items() if name not in known}
    pieces = {_maker(piece): piece for piece in before["pieces"]}
    for piece in manifest["pieces"]:
        there = pieces.get(_maker(piece), {"points": []})["points"]
        if names := [*there, *(name for name in piece["points"] if name in added)]:
            pieces[_maker(piece)] = {**piece, "points": sorted(names)}
    platforms = dict.fromkeys(name for about in (before, manifest) for name in about["platform"].split(", "))
    points = {**before["points"], **added}
    return {**manifest, "platform": ", ".join(platforms), "points": points, "pieces": list(pieces.values())}


def _maker(piece: Mapping[str, Any]) -> str:
    return json.dumps({key: piece.get(key) for key in MADE_BY}, sort_keys=True)
