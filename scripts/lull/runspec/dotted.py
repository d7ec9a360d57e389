# SPDX-License-Identifier: BSD-3-Clause
"""Nested settings as dotted keys, as `--set` spells them."""

from collections.abc import Mapping
from typing import Any

_WORDS = ("source", "title", "help")
"""Keys that say where a number is from, and are none."""


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested blocks as dotted keys; a list of named blocks by their names."""
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
    """The keys that one of both lacks, or has another value of."""
    return [key for key in {**first, **second} if first.get(key) != second.get(key)]
