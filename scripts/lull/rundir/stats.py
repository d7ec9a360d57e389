# SPDX-License-Identifier: BSD-3-Clause
"""Converts gem5's `stats.txt` to a table: one row per window, statistic and field.

Every dump is a window. A file that is not as gem5 24 writes it is an error.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lull.errors import UserError
from lull.files import columns, parquet, whole

BEGIN = "---------- Begin Simulation Statistics ----------"
END = "---------- End Simulation Statistics   ----------"

TABLE = parquet.Kind(
    "statistics",
    columns.described(
        pa.schema([("window", pa.int32()), ("statistic", pa.string()), ("value", pa.float64())]),
        {
            "window": "number of the window of statistics, from 0",
            "statistic": "gem5's name for it, with `::` and the field or bucket where it has several",
            "value": "as gem5 prints it, in the unit that gem5 documents for the statistic",
        },
    ),
    "run it again",
)
_LINE = re.compile(r"(?P<name>\S+)\s+(?P<value>\S+)(?P<rest>.*)")
_ROWS_PER_GROUP = 1 << 18

HOST_STATISTICS = frozenset({"hostSeconds", "hostTickRate", "hostMemory", "hostInstRate", "hostOpRate"})
"""Statistics in which two runs of the same spec may differ."""


@dataclass(frozen=True)
class Reading:
    window: int
    statistic: str
    value: float


def samples(lines: Iterable[str], origin: Path) -> Iterator[Reading]:
    """Yield every number of a stats file. Distributions keep gem5's `name::bucket`. Their percentages are dropped."""
    window, inside = -1, False
    number = 0
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if not line:
            continue
        if line == BEGIN and not inside:
            window, inside = window + 1, True
        elif line == END and inside:
            inside = False
        elif inside and (sample := _sample(window, line)):
            yield sample
        else:
            raise UserError(
                f"{origin}:{number}: not a line of gem5's statistics ({line[:60]!r}); "
                "lull reads the text format of gem5 24 and 25"
            )
    if inside:
        raise UserError(
            f"{origin}: window {window} has no end, so the run was cut off after line {number}; run it again"
        )


def to_parquet(text: Path, table: Path) -> int:
    """Write the table, and return the number of windows. If this fails, no table is left."""
    windows = 0
    with (
        whole.written(table) as partial,
        text.open() as lines,
        pq.ParquetWriter(partial, TABLE.schema, compression="zstd") as writer,
    ):
        rows: list[Reading] = []
        for sample in samples(lines, text):
            windows = sample.window + 1
            rows.append(sample)
            if len(rows) >= _ROWS_PER_GROUP:
                writer.write_table(_table(rows))
                rows.clear()
        writer.write_table(_table(rows))
    return windows


def _sample(window: int, line: str) -> Reading | None:
    match = _LINE.fullmatch(line)
    if not match:
        return None
    try:
        return Reading(window, match["name"], float(match["value"]))
    except ValueError:
        return None


def _table(rows: list[Reading]) -> pa.Table:
    return pa.table(
        {
            "window": [row.window for row in rows],
            "statistic": [row.statistic for row in rows],
            "value": [row.value for row in rows],
        },
        schema=TABLE.schema,
    )
