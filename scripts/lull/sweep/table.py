# SPDX-License-Identifier: BSD-3-Clause
"""The points of a sweep with what came out: settings, seed, the guest's results, joules.

`read(folder)` is for programs: each point with its run. `flat(points)` is for everybody else: one row for each point,
which `lull sweep` leaves as `table.parquet` and `table.csv`.

In a row, a guest's number is named `<file>:<field>`. Where the guest left more than one line of a file, the row has
`<file>:<field>:mean`, `:p50`, `:p99` and `:max` over all its lines, and `<file>:lines` says how many there were.
Percentiles are those of numpy: between two values, on a line. Text, lists, whole numbers of more than 64 bits and what
lies in blocks are not in the row; `Point.lines` has them. `stdout` is such a file where all of it is JSON lines.
`joules:<backend>:<band>` are of the whole machine and run, `wake:…` are latencies (`lull.sweep.wakes`).
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lull import whole
from lull.energy import rows
from lull.errors import UserError
from lull.figures.source import Run
from lull.rundir import FILES, LEDGER, STDOUT, RunDir
from lull.scenario.schema import Value
from lull.scenario.sweep import finished, is_of
from lull.sweep import wakes
from lull.sweep.folder import Entry, Folder

TABLE = "table.parquet"
TEXT = "table.csv"
SUFFIX = ".jsonl"

Row = dict[str, Value | None]


@dataclass(frozen=True)
class Point:
    """One finished point."""

    title: str
    """The scenario's name for it and its settings; unique in the sweep, but for the seed."""
    settings: Mapping[str, Value]
    """Of the grid, in its order: what tells this point from the others."""
    seed: int
    run: Run

    def files(self) -> list[str]:
        """The JSON lines that the guest left, by name."""
        left = sorted(path.name for path in (self.run.path / FILES).glob(f"*{SUFFIX}"))
        return [*left, STDOUT] if self._printed() else left

    def lines(self, name: str) -> list[dict[str, Any]]:
        return self._printed() if name == STDOUT else self.run.lines(name)

    def _printed(self) -> list[dict[str, Any]]:
        """Empty unless all that the guest printed is objects of JSON."""
        try:
            found = [json.loads(line) for line in (self.run.path / STDOUT).read_text().splitlines()]
        except (OSError, ValueError, RecursionError):
            return []
        return found if all(isinstance(line, dict) for line in found) else []

    @property
    def ledger(self) -> Path | None:
        """Its energy.parquet, for `lull.energy.rows.grouped`; None for a run that no energy is known of."""
        path = self.run.path / LEDGER
        return path if path.is_file() else None

    def joules(self) -> dict[tuple[str, str], float]:
        """All of the machine's, by backend and band."""
        if self.ledger is None:
            return {}
        found = rows.grouped(self.ledger, ["backend", "band"], ["joules"]).to_pylist()
        return {(row["backend"], row["band"]): row["joules"] for row in found}


@dataclass(frozen=True)
class Points:
    """The finished points of a sweep, in its order."""

    path: Path
    about: Mapping[str, Any]
    """`name`, `scenario`, `title`, `command`, `engine`, `grid` and `seeds`."""
    points: tuple[Point, ...]
    missing: tuple[str, ...]
    """Titles of those that have not finished."""

    @property
    def axes(self) -> dict[str, list[Value]]:
        """Of the grid: each key with its values."""
        return dict(self.about["grid"])


def read(path: Path) -> Points:
    """Every point that has finished. Which ones have not is kept, and said."""
    folder = Folder.open(path)
    about = folder.read()
    found: list[Point] = []
    missing: list[str] = []
    for entry in folder.entries():
        run = folder.run_of(entry.key)
        manifest = finished(run)
        if manifest is None or not is_of(run, entry.hash):
            missing.append(entry.full_title)
        else:
            found.append(_point(entry, run, manifest))
    return Points(folder.path, {key: about[key] for key in about if key != "points"}, tuple(found), tuple(missing))


def _point(entry: Entry, path: Path, manifest: Mapping[str, Any]) -> Point:
    run = Run(entry.name, entry.group, entry.values, path, RunDir.open(path).spec(), manifest)
    return Point(entry.title, entry.settings, entry.seed, run)


def flat(points: Sequence[Point]) -> list[Row]:
    """One row for each point."""
    return [_row(point) for point in points]


def write(found: Points) -> Path:
    """Both forms of the table, in the sweep's folder."""
    made = flat(found.points)
    names = list(dict.fromkeys(name for row in made for name in row))
    columns = {name: _column([row.get(name) for row in made]) for name in names}
    about = {"lull": json.dumps(dict(found.about))}
    with whole.written(found.path / TABLE) as partial:
        pq.write_table(pa.table(columns).replace_schema_metadata(about), partial, compression="zstd")
    with whole.written(found.path / TEXT) as partial, partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)
    return found.path / TABLE


def _row(point: Point) -> Row:
    manifest, spec = point.run.manifest, point.run.spec
    row: Row = {
        "point": point.run.path.name,
        "name": point.run.name,
        "platform": spec.platform.name,
        "engine": spec.engine,
        "cpu": spec.cpu,
        **point.settings,
        "seed": point.seed,
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
    """Of the type that all its values share; of text where they share none."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if len(kinds) > 1:
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    try:
        return pa.array(values)
    except pa.ArrowInvalid as error:
        raise UserError(f"the guest's numbers do not fit a table ({error}); run the points again") from None
