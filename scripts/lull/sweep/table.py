# SPDX-License-Identifier: BSD-3-Clause
"""The table of a sweep: settings, seed, the guest's results and joules of each point.

`read(folder)` returns each point with its run, for programs. `flat(points)` returns one row for each point;
`lull sweep` writes these rows as `table.parquet` and `table.csv`.

In a row, a number from the guest's file is named `<file>:<field>`. If the file has several lines, the row has
`<file>:<field>:mean`, `:p50`, `:p99` and `:max` over all lines, and their number as `<file>:lines`. Percentiles are
interpolated linearly, as by numpy. Text, lists, nested objects and integers of more than 64 bits are not in the row;
`Sample.lines` has them. `stdout` counts as such a file if all of it is JSON lines. `joules:<backend>:<band>` are for
the whole machine and run. `wake:…` are latencies (`lull.sweep.wakes`).
"""

import csv
import json
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lull.errors import UserError
from lull.figures.sample import SUFFIX, Sample
from lull.files import columns, whole
from lull.rundir.folder import RunDir
from lull.rundir.manifest import Manifest
from lull.rundir.run import Run, Values
from lull.runspec.spec import RunSpec
from lull.runspec.values import Value
from lull.scenario.folder import finished, is_of
from lull.sweep import rows, wakes
from lull.sweep.folder import SweepFolder, SweepPoint, SweepRecord
from lull.sweep.rows import Row

TABLE = "table.parquet"
TEXT = "table.csv"
_MACHINE = ("platform", "engine", "cpu")
_DESCRIPTIONS = {
    "point": "folder of the run, below points/",
    "name": "the scenario's name of the point",
    "platform": "machine",
    "engine": "gem5, or qemu, whose times are no measurements",
    "cpu": "CPU models on gem5",
    "seed": "of the engine, and of the scenario where it has a parameter of this name",
    "simulated_s": "of the guest's clock that the command took",
    "wall_s": "that the run took on the host",
    "instructions": "executed by all CPUs; empty on qemu",
}
_OF = {"mean": "mean ", "p50": "median ", "p90": "90th percentile ", "p99": "99th percentile ", "max": "largest "}


class StoredRun(Run):
    """A run whose record and manifest are read on first use. Most of thousands of runs never need them."""

    def __init__(self, entry: SweepPoint, path: Path) -> None:
        vars(self).update(name=entry.name, group=entry.group, values=Values(entry.values, path), path=path)

    @cached_property
    def spec(self) -> RunSpec:
        return RunDir.open(self.path).spec()

    @cached_property
    def manifest(self) -> Manifest:
        return RunDir.open(self.path).manifest()


@dataclass(frozen=True)
class Points:
    """The finished points of a sweep, in its order."""

    path: Path
    record: SweepRecord
    points: tuple[Sample, ...]
    missing: tuple[str, ...]
    """Titles of the points that have not finished."""

    @property
    def axes(self) -> dict[str, list[Value]]:
        """Return the grid's keys, each with its values."""
        return self.record["grid"]


def read(path: Path) -> Points:
    """Return the finished points. The titles of the others are kept in the result, and reported."""
    folder = SweepFolder.open(path)
    record = folder.read()
    found: list[Sample] = []
    missing: list[str] = []
    for entry in record["points"]:
        run = folder.run_of(entry.key)
        manifest = finished(run)
        if manifest is None or not is_of(run, entry.hash):
            missing.append(entry.full_title)
        else:
            found.append(Sample(entry.title, entry.settings, entry.seed, StoredRun(entry, run)))
    return Points(folder.path, record, tuple(found), tuple(missing))


def flat(points: Sequence[Sample]) -> list[Row]:
    """Return one row for each point."""
    return [_row(point, _results(point)) for point in points]


def kept(found: Points) -> list[Row]:
    """Return one row for each point of a sweep. Rows of points that have not changed are from the cache (`rows`)."""
    results = rows.of(found.path, found.points, lambda point: point.run.path, _read_for_a_row)
    return [_row(point, row) for point, row in zip(found.points, results, strict=True)]


def write(found: Points) -> Path:
    """Write the table into the sweep's folder, as Parquet and as CSV."""
    made = kept(found)
    axes = {name: "set by the sweep's grid" for point in found.points for name in point.settings}
    names = list(dict.fromkeys(name for row in made for name in row))
    table = pa.table({name: _column([row.get(name) for row in made]) for name in names})
    table = columns.complete(table, {name: axes.get(name) or _description(name) for name in names})
    about = {"lull": json.dumps({key: value for key, value in found.record.items() if key != "points"})}
    with whole.written(found.path / TABLE) as partial:
        pq.write_table(table.replace_schema_metadata(about), partial, compression="zstd")
    with whole.written(found.path / TEXT) as partial, partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)
    return found.path / TABLE


def _description(name: str) -> str:
    if name in _DESCRIPTIONS:
        return _DESCRIPTIONS[name]
    first, *rest = name.split(":")
    what = _OF.get(rest[-1], "") if len(rest) > 1 else ""
    if first == "joules":
        return f"of the whole machine and run, by the backend {rest[0]}, {rest[-1]}"
    if first == "wake":
        return f"{what or 'number '}of the wake-ups that count".replace("  ", " ")
    if rest[-1:] == ["lines"]:
        return f"lines that the guest left in {first}"
    return f"{what}the guest's `{rest[0]}` in {first}" if rest else ""


def _row(point: Sample, results: Row) -> Row:
    machine = {key: results[key] for key in _MACHINE}
    asked: Row = {"point": point.run.path.name, "name": point.run.name, **machine, **point.settings, "seed": point.seed}
    # The value of `platform` in a grid is the user's word, which may be the path of a file.
    return {**asked, **{key: value for key, value in results.items() if key not in _MACHINE}}


def _read_for_a_row(point: Sample) -> Row:
    """Return a row from a copy of the point, whose run record is then freed: thousands would fill the memory."""
    return _results(replace(point, run=copy(point.run)))


def _results(point: Sample) -> Row:
    """Return the columns that depend on the run alone, not on the sweep."""
    manifest, spec = point.run.manifest, point.run.spec
    row: Row = {
        "platform": spec.platform.name,
        "engine": spec.engine,
        "cpu": spec.cpu,
        "simulated_s": manifest["simulated_s"],
        "wall_s": manifest["wall_s"],
        "instructions": manifest["instructions"],
    }
    row |= {f"joules:{backend}:{band}": joules for (backend, band), joules in point.joules().items()}
    row |= wakes.numbers(point.run)
    for name in point.files():
        row |= _summary(name.removesuffix(SUFFIX), point.lines(name))
    return row


def _summary(name: str, lines: Sequence[Mapping[str, Any]]) -> Row:
    row: Row = {f"{name}:lines": len(lines)}
    fields = dict.fromkeys(field for line in lines for field in line)
    for field in fields:
        values = [line[field] for line in lines if _is_number(line.get(field))]
        if not values:
            continue
        if len(lines) == 1:
            row[f"{name}:{field}"] = values[0]
            continue
        p50, p99 = np.percentile(values, [50, 99])
        mean = float(np.mean(values))
        numbers = {"mean": mean, "p50": float(p50), "p99": float(p99), "max": float(max(values))}
        row |= {f"{name}:{field}:{of}": number for of, number in numbers.items()}
    return row


def _is_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (isinstance(value, int) and -(1 << 63) <= value < 1 << 63)


def _column(values: list[Value | None]) -> pa.Array:
    """Return a column of the values' common type, or of text if they have none."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(kinds) > 1:
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    try:
        return pa.array(values)
    except pa.ArrowInvalid as error:
        raise UserError(f"the guest's numbers do not fit a table ({error}); run the points again") from None


def as_arrow(points: Sequence[Sample]) -> pa.Table:
    """Return a table with one row for each point, with the types of `table.parquet`."""
    made = flat(points)
    names = dict.fromkeys(name for row in made for name in row)
    return pa.table({name: column_of([row.get(name) for row in made]) for name in names})


def column_of(values: list[Value | None]) -> pa.Array:
    """Return the values as a column of one type."""
    return _column(values)
