# SPDX-License-Identifier: BSD-3-Clause
"""Compares today's rows of a few points with the published ones, by the rules of `confirm:` in the scenario.

The rule `interval` assumes independent repetitions with a normal spread (Student's t). The intervals of an experiment
are widened for the number of its values (Bonferroni): an unchanged machine stays within all of them in 95 % of cases.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa

from lull.errors import UserError
from lull.scenario.confirm import Compared, Confirm
from lull.statistics import student

POINT = "point"
ROUNDING = 1e-9
"""The allowed rounding error, as a share of the published mean. Sums in another order differ in the last digits."""

Tables = Mapping[str, pa.Table]
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Value:
    """The verdict on one column of a cell. The numbers are means. For the rule `equal` the values are in the text."""

    table: str
    cell: str
    column: str
    rule: str
    held: bool
    says: str
    published: float | None = None
    apart: float | None = None
    """The largest allowed difference of the two means."""
    today: float | None = None


class PublishedRows:
    """The published rows of the points to run again. They are checked before the first point runs."""

    def __init__(self, confirm: Confirm, tables: Tables, points: Sequence[str], place: str, folder: str) -> None:
        """`place` is where `confirm` is written, `folder` where the tables are."""
        self.confirm, self.place, self.folder = confirm, place, folder
        self.cells = [self._published(compared, tables, points) for compared in confirm.values]
        intervals = sum(len(cells) * len(one.interval) for one, cells in zip(confirm.values, self.cells, strict=True))
        self.level = 1 - (1 - student.LEVEL) / max(1, intervals)

    def beside(self, tables: Tables) -> list[Value]:
        """Return the verdict on every value, in the order of the scenario file."""
        found: list[Value] = []
        for compared, published in zip(self.confirm.values, self.cells, strict=True):
            rows = _rows(compared, tables, f"{self.place}: today's result")
            today = _cells(compared, rows)
            # Without a column for the point, a row may be from a point that was not run again.
            named = POINT in compared.by
            for cell in dict.fromkeys([*(published if named else ()), *today]):
                found += self._cell(compared, cell, published.get(cell), today.get(cell))
        if not found:
            raise UserError(f"{self.place}: none of the compared tables has a row; compare others")
        return found

    def _published(self, compared: Compared, tables: Tables, points: Sequence[str]) -> dict[str, Rows]:
        rows = _rows(compared, tables, f"{self.place}: {self.folder}")
        if POINT in compared.by:
            # A row may name a second point, such as the one that it was predicted from.
            others = list({row[POINT] for row in rows} - set(points))
            rows = [row for row in rows if not any(row[key] in others for key in compared.by)]
            if not rows:
                raise UserError(
                    f"{self.place}: {self.folder} has no row of {points[0]} in its table `{compared.table}`; "
                    "choose another point"
                )
        cells = _cells(compared, rows)
        lacks = f"{self.place}: {self.folder} has no"
        for cell, column in ((cell, column) for cell in cells for column in (*compared.interval, *compared.within)):
            numbers = _numbers(cells[cell], column)
            if numbers is None:
                raise UserError(
                    f"{lacks} number as `{column}` of {cell} in its table `{compared.table}`; put it under `equal`"
                )
            if len(numbers) == 1 and column in compared.interval:
                raise UserError(
                    f"{lacks} second row of {cell} in its table `{compared.table}`, so no interval; "
                    f"put `{column}` under `within`, with the reason"
                )
        return cells

    def _cell(self, compared: Compared, cell: str, published: Rows | None, today: Rows | None) -> Iterator[Value]:
        if not published or not today:
            says = "published, and not there today" if published else "there today, and not published"
            yield Value(compared.table, cell, "-", "equal", False, says)
            return
        same = self._as_many(published, today)
        for column in compared.equal:
            yield self._equal(compared.table, cell, column, same, today)
        for column in compared.interval:
            yield self._near(compared, cell, column, published, today)
        for column in compared.within:
            yield self._near(compared, cell, column, same, today)

    def _as_many(self, published: Rows, today: Rows) -> Rows:
        """Return as many of the first published rows as there are rows today, if `confirm:` has settings.

        Such settings may ask for fewer repetitions. The first repetitions have today's seeds. Later repetitions of a
        run may have another mean, because a run may drift.
        """
        return published[: len(today)] if self.confirm.settings else published

    def _equal(self, table: str, cell: str, column: str, published: Rows, today: Rows) -> Value:
        before, now = ([row[column] for row in rows] for rows in (published, today))
        held = now == before
        if held:
            return Value(table, cell, column, "equal", held, f"{_shown(now)}, as published")
        return Value(table, cell, column, "equal", held, f"{_shown(now)}, published {_shown(before)}")

    def _near(self, compared: Compared, cell: str, column: str, published: Rows, today: Rows) -> Value:
        before, now = _numbers(published, column), _numbers(today, column)
        assert before is not None
        rule = "interval" if column in compared.interval else "within"
        if not before or not now:
            says = "no value, as published" if not before and now == [] else "a value on one side only"
            return Value(compared.table, cell, column, rule, not before and now == [], says)
        if rule == "interval":
            mean, apart = student.prediction(before, len(now), self.level)
        else:
            mean = math.fsum(before) / len(before)
            apart = max(compared.within[column] * abs(mean), compared.least.get(column, 0.0))
        found = math.fsum(now) / len(now)
        held = abs(found - mean) <= apart + ROUNDING * abs(mean)
        says = f"{found:.6g}, published {mean:.6g} ± {float(f'{apart:.3g}'):g}"
        return Value(compared.table, cell, column, rule, held, says, mean, apart, found)


def _rows(compared: Compared, tables: Tables, whose: str) -> Rows:
    table = tables.get(compared.table)
    if table is None:
        raise UserError(f"{whose} has no table `{compared.table}`; use one of {', '.join(sorted(tables))}")
    for column in (*compared.by, *compared.columns):
        if column not in table.column_names:
            raise UserError(
                f"{whose} has no column `{column}` in its table `{compared.table}`; "
                f"use one of {', '.join(table.column_names)}"
            )
    rows: Rows = table.select([*compared.by, *compared.columns]).to_pylist()
    return rows


def _cells(compared: Compared, rows: Rows) -> dict[str, Rows]:
    """Return the rows of each cell, in the order of the table, by the words of its columns `by`."""

    def name(row: Mapping[str, Any]) -> str:
        words = ((key, row[key]) for key in compared.by)
        return " ".join(word if isinstance(word, str) else f"{key}={json.dumps(word)}" for key, word in words)

    found: dict[str, Rows] = {}
    for cell, some in groupby(rows, name):
        found.setdefault(cell, []).extend(some)
    return found


def _numbers(rows: Rows, column: str) -> list[float] | None:
    """Return a column's numbers without the missing ones, or None if some value is no number."""
    values = [row[column] for row in rows if row[column] is not None]
    good = all(isinstance(value, int | float) and math.isfinite(value) for value in values)
    return [float(value) for value in values] if good else None


def _shown(values: Sequence[object]) -> str:
    """Return the first values as text, or the one value if it is the same in all rows."""
    if len(values) > 1 and all(value == values[0] for value in values):
        return f"{json.dumps(values[0])} in {len(values)} rows"
    text = ", ".join(map(json.dumps, values[:4]))
    return text if len(values) <= 4 else f"{text} and {len(values) - 4} more"
