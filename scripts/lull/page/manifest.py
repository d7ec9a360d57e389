# SPDX-License-Identifier: BSD-3-Clause
"""A manifest as a table of dotted keys."""

from collections.abc import Iterator, Mapping
from typing import Any

from lull.page.page import Section


def show(section: Section, manifest: Mapping[str, Any], without: tuple[str, ...] = ()) -> None:
    rows = [row for key, value in manifest.items() if key not in without for row in _flat(key, value)]
    section.table(("key", "value"), rows)


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _flat(f"{key}.{name}", one)
    elif isinstance(value, list):
        yield key, " ".join(map(str, value))
    else:
        yield key, "-" if value is None else str(value)
