# SPDX-License-Identifier: BSD-3-Clause
"""Reads tables that lull wrote as Parquet. A truncated file, or another table, is a UserError."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lull.errors import UserError


@dataclass(frozen=True)
class Kind:
    """The tables of one name and schema. Example: `statistics`, the `stats.parquet` of every run on gem5."""

    what: str
    schema: pa.Schema
    remedy: str

    def read(self, path: Path, columns: Sequence[str] | None = None, filters: Any = None) -> pa.Table:
        with self._understood(path):
            self._check(pq.read_schema(path), columns)
            return pq.read_table(path, columns=columns, filters=filters)

    def batches(
        self, path: Path, rows: int, columns: Sequence[str], words: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Yield at most `rows` rows at a time. The columns `words` come as dictionaries."""
        with self._understood(path):
            file = pq.ParquetFile(path, read_dictionary=list(words))
            self._check(file.schema_arrow, columns)
            batches = file.iter_batches(rows, columns=list(columns))
        while True:
            with self._understood(path):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def _check(self, found: pa.Schema, columns: Sequence[str] | None) -> None:
        for name in columns or self.schema.names:
            place = found.get_field_index(name)
            if place < 0:
                raise pa.ArrowInvalid(f"it has no column `{name}`")
            asked, there = _plain(self.schema.field(name).type), _plain(found.field(place).type)
            if asked != there:
                raise pa.ArrowInvalid(f"its column `{name}` has {there} instead of {asked}")

    @contextmanager
    def _understood(self, path: Path) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise UserError(f"{path}: missing; {self.remedy}") from error
        except (pa.ArrowException, OSError) as error:
            said = str(error).partition("\n")[0].rstrip(".")
            raise UserError(f"{path}: cut off, or not a table of {self.what} ({said}); {self.remedy}") from error


def _plain(kind: pa.DataType) -> str:
    """Return the plain kind of a type: whole numbers, numbers or words, whatever its width and storage."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind):
        return "whole numbers"
    if pa.types.is_floating(kind):
        return "numbers"
    return "words" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)
