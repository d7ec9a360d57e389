# SPDX-License-Identifier: BSD-3-Clause
"""Flattens nested settings to dotted keys, as in `--set`."""

from collections.abc import Mapping
from typing import Any

_WORDS = ("source", "title", "help")
"""Keys that describe a number, and are no settings."""


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested blocks as dotted keys. Items of a list of named blocks have their names as keys."""
    if isinstance(value, Mapping):
        items = [(str(key), one) for key, one in value.items()]
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        items = [(str(one.get("name", number)), one) for number, one in enumerate(value)]
    else:
        return {prefix: value}
    found: dict[str, Any] = {}
    for key, one in items:
        if key in _WORDS:
            continue
        found |= flat(one, f"{prefix}.{key}" if prefix else key)
    return found


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the keys that are missing on one side, or have different values."""
    return [key for key in {**first, **second} if first.get(key) != second.get(key)]
