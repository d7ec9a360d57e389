# SPDX-License-Identifier: BSD-3-Clause
"""Units and descriptions of columns, as Parquet files hold them."""

import pyarrow as pa
import pytest

from lull.energy.rows import SCHEMA
from lull.files import columns


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("total_us", "µs"), ("wake:total_us:p50", "µs"), ("joules:mcpat:raw", "J"), ("power_w_pm", "W"),
        ("mhz", "MHz"),
        ("simulated_s", "s"), ("entry_ns", "ns"), ("cpu_share", "1"), ("residency:little:C3", "1"),
        ("main_wakes_hz", "Hz"), ("mbit_s", "Mbit/s"), ("least_mbit_s_pm", "Mbit/s"), ("per_s", "1/s"),
        ("cpus_uj", "µJ"),
        ("count", ""), ("state", ""), ("events:lines", ""), ("status", ""),
    ],
)  # fmt: skip
def test_a_name_says_its_unit(name: str, unit: str) -> None:
    assert columns.unit_of(name) == unit


def test_a_table_is_completed_and_its_values_stay() -> None:
    own = pa.field("own", pa.int64(), metadata={"unit": "furlong"})
    fields = [("n", pa.int64()), ("late_us", pa.null()), ("note", pa.null()), ("word", pa.string())]
    schema = pa.schema([*fields, own])
    table = pa.table([[1, 2], [None, None], [None, None], ["a", "b"], [3, 4]], schema=schema)
    made = columns.complete(table, {"n": "how many", "own": "length"}, {"n": "1"})
    assert [str(field.type) for field in made.schema] == ["int64", "double", "string", "string", "int64"]
    assert made.to_pylist() == table.to_pylist()
    assert made.schema.field("n").metadata == {b"unit": b"1", b"description": b"how many"}
    assert made.schema.field("own").metadata == {b"unit": b"furlong", b"description": b"length"}
    assert made.schema.field("word").metadata is None


def test_every_column_of_a_ledger_says_what_it_is() -> None:
    assert all(b"description" in (field.metadata or {}) for field in SCHEMA)
    units = {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in SCHEMA}
    assert {name: unit for name, unit in units.items() if unit} == {
        "start": "ps", "end": "ps", "seconds": "s", "joules": "J", "watts": "W",
    }  # fmt: skip
