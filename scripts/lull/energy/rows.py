# SPDX-License-Identifier: BSD-3-Clause
"""The ledger as a table in Parquet: one row for each number of joules that is not zero.

`cpu` is empty for parts that CPUs share, `cluster` for parts that clusters share. `watts` is the mean over the window,
so all rows of a window sum to its power. `seconds` is the time of the row's state and cause in its window. It is
repeated in all rows of the same place, state and cause, one for each component.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lull.energy.account import Account
from lull.errors import UserError
from lull.files import parquet
from lull.files.columns import described
from lull.trace.clock import TICK_HZ

RAW, CALIBRATED = "raw", "calibrated"
BANDS = (RAW, CALIBRATED)
ROWS_PER_GROUP = 1 << 17
NO_CPU = -1

_WORD = pa.dictionary(pa.int32(), pa.string())
_WORDS = ("cluster", "state", "component", "kind", "cause", "backend", "band")
SCHEMA = described(
    pa.schema(
        [
            ("cpu", pa.int16()),
            ("cluster", _WORD),
            ("window", pa.int32()),
            ("start", pa.int64()),
            ("end", pa.int64()),
            ("state", _WORD),
            ("component", _WORD),
            ("kind", _WORD),
            ("cause", _WORD),
            ("seconds", pa.float64()),
            ("joules", pa.float64()),
            ("watts", pa.float64()),
            ("backend", _WORD),
            ("band", _WORD),
        ]
    ),
    {
        "cpu": f"number of the CPU; {NO_CPU} for what CPUs share",
        "cluster": "name in the platform file; empty for what clusters share",
        "window": "number of the window of statistics, from 0",
        "start": "of the window, on the simulator's clock",
        "end": "of the window, on the simulator's clock",
        "state": "idle state, or what the CPU was busy with",
        "component": "part of the machine",
        "kind": "how it is spent, as the backend divides it: such as dynamic or leakage",
        "cause": "what the state was held for",
        "seconds": "how long the state held for its cause in the window; repeated for each component",
        "joules": "in the window",
        "watts": "mean over the window: those of a window sum to its power",
        "backend": "mcpat (event counts) or em (utilisation and operating points)",
        "band": "raw (the model's) or calibrated (to published figures)",
    },
    {"start": "ps", "end": "ps"},
)
TABLE = parquet.Kind("joules", SCHEMA, "make it anew with `lull energy`")


class Writer:
    """Writes accounts to the table, one after the other."""

    def __init__(self, path: Path, about: Mapping[str, object]) -> None:
        """`about` says from what and how the ledger is made. It is stored in the file under the key `lull`."""
        self._words: dict[str, dict[str, int]] = {name: {} for name in _WORDS}
        self._columns: dict[str, list[NDArray[np.generic]]] = {name: [] for name in SCHEMA.names}
        self._held = 0
        self._file = pq.ParquetWriter(path, SCHEMA.with_metadata({"lull": json.dumps(about)}), compression="zstd")

    def __enter__(self) -> "Writer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._write()
        finally:
            self._file.close()

    def add(self, backend: str, account: Account) -> None:
        label, part = np.nonzero(account.raw)
        if not label.size:
            return
        place = account.place
        self._repeat("cpu", NO_CPU if place.cpu is None else place.cpu, label.size, np.int16)
        self._repeat("cluster", self._code("cluster", place.cluster or ""), label.size, np.int32)
        self._repeat("window", place.window, label.size, np.int32)
        self._repeat("start", place.start, label.size, np.int64)
        self._repeat("end", place.end, label.size, np.int64)
        self._repeat("backend", self._code("backend", backend), label.size, np.int32)
        for band in BANDS:
            self._append("band", np.full(label.size, self._code("band", band), np.int32))
        self._twice("state", self._codes("state", [item.state for item in account.labels])[label])
        self._twice("cause", self._codes("cause", [item.cause for item in account.labels])[label])
        self._twice("seconds", np.array([item.seconds for item in account.labels])[label])
        self._twice("component", self._codes("component", [item.component for item in account.parts])[part])
        self._twice("kind", self._codes("kind", [item.kind for item in account.parts])[part])
        length_s = (place.end - place.start) / TICK_HZ
        for joules in (account.raw[label, part], account.calibrated[label, part]):
            self._append("joules", joules)
            self._append("watts", joules / length_s)
        self._held += 2 * label.size
        if self._held >= ROWS_PER_GROUP:
            self._write()

    def _repeat(self, name: str, value: int, count: int, kind: type[np.signedinteger]) -> None:
        self._append(name, np.full(2 * count, value, kind))

    def _twice(self, name: str, values: NDArray[np.generic]) -> None:
        self._append(name, values)
        self._append(name, values)

    def _append(self, name: str, values: NDArray[np.generic]) -> None:
        self._columns[name].append(values)

    def _code(self, name: str, word: str) -> int:
        words = self._words[name]
        return words.setdefault(word, len(words))

    def _codes(self, name: str, words: Sequence[str]) -> NDArray[np.int32]:
        return np.array([self._code(name, word) for word in words], np.int32)

    def _write(self) -> None:
        if not self._held:
            return
        columns = [self._column(name) for name in SCHEMA.names]
        self._file.write_table(pa.table(columns, schema=self._file.schema))
        for values in self._columns.values():
            values.clear()
        self._held = 0

    def _column(self, name: str) -> pa.Array:
        values = np.concatenate(self._columns[name])
        if name in _WORDS:
            words = pa.array(list(self._words[name]), pa.string())
            missing = values == self._words[name].get("", -1)
            return pa.DictionaryArray.from_arrays(pa.array(values, mask=missing), words)
        return pa.array(values, SCHEMA.field(name).type, mask=values == NO_CPU if name == "cpu" else None)


def grouped(
    path: Path, keys: Sequence[str], sums: Sequence[str], backend: str | None = None, band: str | None = None
) -> pa.Table:
    """Return sums by keys, in the order of the keys. The file is read in groups of rows, to save memory."""
    parts: list[pa.Table] = []
    for batch in _batches(path, {*keys, *sums, "backend", "band"}, backend, band):
        parts.append(_sum(batch, keys, sums))
        if len(parts) > 16:
            parts = [_sum(pa.concat_tables(parts), keys, sums)]
    if not parts:
        raise UserError(f"{path}: has no row; {TABLE.remedy}")
    found = _sum(pa.concat_tables(parts), keys, sums)
    return found.sort_by([(key, "ascending") for key in keys]) if keys else found


def _batches(path: Path, columns: set[str], backend: str | None, band: str | None) -> Iterator[pa.Table]:
    wanted = [name for name in SCHEMA.names if name in columns]
    for batch in TABLE.batches(path, ROWS_PER_GROUP, wanted):
        table = pa.table({name: _plain(batch[name]) for name in wanted})
        for name, value in (("backend", backend), ("band", band)):
            if value is not None:
                table = table.filter(pc.equal(table[name], value))
        yield table


def _plain(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if isinstance(values, pa.DictionaryArray) else values


def _sum(table: pa.Table, keys: Sequence[str], sums: Sequence[str]) -> pa.Table:
    found = table.group_by(list(keys), use_threads=False).aggregate([(name, "sum") for name in sums])
    return found.rename_columns([name.removesuffix("_sum") for name in found.column_names]).select([*keys, *sums])
