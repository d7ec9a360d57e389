# SPDX-License-Identifier: BSD-3-Clause
"""Defaults of parameters that are another experiment's published values, if it has been published."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from lull.errors import UserError
from lull.files import paths
from lull.files.blocks import Block
from lull.runspec.values import Value

if TYPE_CHECKING:
    import pyarrow as pa

RESULTS = paths.RESULTS


class PublishedValue(Block):
    """One value of a published table: a column of the only row that has the values `row`."""

    result: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    table: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    row: dict[str, Value]
    column: str

    @property
    def path(self) -> Path:
        return RESULTS / self.result / f"{self.table}.parquet"


def value_of(published: PublishedValue) -> float | None:
    """Return the value; None if the table or the row is not published yet, or if the value is null."""
    if not published.path.is_file():
        return None
    # pyarrow takes a moment to load, which scenarios without such parameters do not pay.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = _rows(pq.read_table(published.path), published)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{published.path}: not a table ({error}); publish {published.result} again") from error
    if rows in ([], [None]):
        return None
    value = rows[0]
    if len(rows) > 1 or not isinstance(value, float) or not math.isfinite(value):
        raise UserError(
            f"{published.path}: {published.column}: not one number of one row; publish {published.result} again, or "
            "set the parameter"
        )
    return value


def _rows(table: "pa.Table", published: PublishedValue) -> list[object]:
    lacks = {published.column, *published.row} - set(table.column_names)
    if lacks:
        raise UserError(f"{published.path}: no column `{min(lacks)}`; publish {published.result} again")
    return [
        row[published.column]
        for row in table.to_pylist()
        if all(row[key] == wanted for key, wanted in published.row.items())
    ]
