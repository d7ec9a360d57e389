# SPDX-License-Identifier: BSD-3-Clause
"""A result that is published in pieces: points that finished later, and maybe elsewhere, join those that are there.

A published point stays while kernel, firmware, image and machine model are the same, and lull's own code that makes the
tables of the runs, if the analysis names any (`code`). So a point that failed cannot be run again until it passes. A
point made with others of these takes the place of the published one: so a result that has become old is renewed piece
by piece. With a point go all rows that were made of its run, also those about another point (`NAMES`).

The analysis of such a scenario has a function `conclude(tables, points) -> Result`. It makes all of the result from the
tables whose rows name their `point`; `points` are the names of all points that there are to be. A column that a table
gained after some points were published is null in the rows of these.
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
"""The columns that name a point, or a list of points, whose run a row was made of. An answer of a what-if is made of
the run that is predicted and of those that predict it: it goes if one of them is made again."""
MADE_BY = ("artifacts", "engine", "host", "lull", "code")
"""The keys of a manifest that differ from piece to piece."""

Tables = dict[str, pa.Table]


def joined(made: Path, published: Path) -> tuple[Tables, dict[str, Any]]:
    """Return the tables and the manifest of what is published, with those points of a result that are not there yet."""
    manifest = json_file.read(made / MANIFEST, "make the figures again")
    there: Tables = {}
    before: Mapping[str, Any] = {**manifest, "points": {}, "pieces": []}
    if (published / MANIFEST).is_file():
        before = json_file.read(published / MANIFEST, f"remove {yaml_file.shown(published)} and publish again")
        there = joinable(tables_of(published))
    # A row of a point that the manifest does not name comes in again, together with the point's record.
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
    # A piece may have no row of a table, and then not the table either.
    tables = {**there, **tables}
    return tables, _manifest(before, manifest, known)


def joinable(tables: Mapping[str, pa.Table]) -> Tables:
    """A result's tables that can be joined: those whose rows name their point."""
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
    """Of each row, the points whose runs it was made of."""
    columns = [table[name].to_pylist() for name in NAMES if name in table.column_names]
    return [
        {name for value in row for name in (value if isinstance(value, list) else [value]) if isinstance(name, str)}
        for row in zip(*columns, strict=True)
    ]


def _renewed(before: Sequence[Mapping[str, Any]], made: Sequence[Mapping[str, Any]]) -> set[str]:
    """The points that were published, and are made with another kernel, firmware, image, machine model or code now."""
    published = {name: _made_with(piece) for piece in before for name in piece["points"]}
    now = {name: _made_with(piece) for piece in made for name in piece["points"]}
    return {name for name in published.keys() & now.keys() if published[name] != now[name]}


def _made_with(piece: Mapping[str, Any]) -> tuple[Any, ...]:
    return piece["artifacts"], piece["engine"].get("configs"), piece.get("code")


def _without(manifest: Mapping[str, Any], points: set[str]) -> dict[str, Any]:
    """A manifest without these points, and without pieces that have no other."""
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
