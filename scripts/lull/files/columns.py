# SPDX-License-Identifier: BSD-3-Clause
"""Describes the columns of a Parquet file in the file itself: `unit` and `description` in each field's metadata.

A unit is taken from the column's name if possible (`total_us`, `joules`, `wake:total_us:p50`). All else is given by the
code that makes the table.
"""

from collections.abc import Mapping
from itertools import pairwise

import pyarrow as pa

_WORDS = {
    "ps": "ps", "ns": "ns", "us": "µs", "ms": "ms", "s": "s", "seconds": "s", "w": "W", "mw": "mW", "watts": "W",
    "j": "J", "uj": "µJ", "joules": "J", "hz": "Hz", "mhz": "MHz", "ghz": "GHz", "mv": "mV",
    "kib": "KiB", "mib": "MiB", "bytes": "B", "share": "1", "shares": "1", "residency": "1",
}  # fmt: skip
_RATES = {"kbit_s": "kbit/s", "mbit_s": "Mbit/s", "packets_s": "1/s", "per_s": "1/s"}
"""Units of two words."""
_LED_BY = {"joules": "J", "watts": "W", "residency": "1"}
"""Units of names with colons, by their first word: `joules:mcpat:raw`."""

Told = Mapping[str, str]


def unit_of(name: str) -> str:
    """Return the unit in a column's name; `1` is a share. It is empty for counts, words and settings."""
    first, colon, _ = name.partition(":")
    if colon and first in _LED_BY:
        return _LED_BY[first]
    words = name.lower().replace(":", "_").split("_")
    for pair in pairwise(words):
        if unit := _RATES.get("_".join(pair)):
            return unit
    return next((_WORDS[word] for word in reversed(words) if word in _WORDS), "")


def described(schema: pa.Schema, descriptions: Told, units: Told | None = None) -> pa.Schema:
    """Return the schema with its fields' metadata. Existing metadata of a field stays."""
    return pa.schema([_field(field, descriptions, units or {}) for field in schema], metadata=schema.metadata)


def complete(table: pa.Table, descriptions: Told, units: Told | None = None) -> pa.Table:
    """Return the table with this metadata. A column without values, but with a unit, gets the type of a number."""
    return table.cast(described(table.schema, descriptions, units))


def _field(field: pa.Field, descriptions: Told, units: Told) -> pa.Field:
    unit = units.get(field.name, unit_of(field.name))
    told = {"unit": unit, "description": descriptions.get(field.name, "")}
    known = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
    metadata = {**{key: value for key, value in told.items() if value}, **known}
    if pa.types.is_null(field.type):
        field = field.with_type(pa.float64() if unit else pa.string())
    return field.with_metadata(metadata) if metadata else field
