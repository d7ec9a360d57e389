# SPDX-License-Identifier: BSD-3-Clause
"""Changes deep inside what a YAML or JSON file holds."""

from typing import Any

Path = tuple[str | int, ...]


def put(data: Any, path: Path, value: object) -> None:
    _holder(data, path)[path[-1]] = value


def drop(data: Any, path: Path) -> None:
    del _holder(data, path)[path[-1]]


def _holder(data: Any, path: Path) -> Any:
    for part in path[:-1]:
        data = data[part]
    return data
