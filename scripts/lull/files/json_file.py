# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes lull's own JSON files. Each is an object, and is never half written."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from lull.errors import UserError
from lull.files import blocks, whole

Record = TypeVar("Record")
OPEN = ConfigDict(extra="allow", strict=True)
"""The configuration of records that may have more keys than lull reads. A number in quotes is not a number."""


def write(path: Path, value: dict[str, Any]) -> None:
    with whole.written(path) as partial:
        partial.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def write_small(path: Path, value: dict[str, Any]) -> None:
    """Write a file that only programs read, on one line, which is ten times faster."""
    with whole.written(path) as partial:
        partial.write_text(json.dumps(value, separators=(",", ":")) + "\n", encoding="utf-8")


def read(path: Path, remedy: str, needs: Iterable[str] = ()) -> dict[str, Any]:
    """Return the object in the file. `remedy` says what to do if the file is missing, damaged or lacks a key."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: cannot be read as JSON ({error}); {remedy}") from error
    if not isinstance(value, dict):
        raise UserError(f"{path}: not an object of JSON; {remedy}")
    if any(key not in value for key in needs):
        raise UserError(f"{path}: of another version of lull; {remedy}")
    return value


def read_as(adapter: TypeAdapter[Record], path: Path, remedy: str) -> Record:
    """Return the record in the file after a check. An error names the first wrong key."""
    return _parsed(adapter, _bytes(path, remedy), f"{path}", remedy)


def read_lines_as(adapter: TypeAdapter[Record], path: Path, remedy: str) -> list[Record]:
    """Return the records in a file of JSON lines after a check."""
    lines = _bytes(path, remedy).splitlines()
    return [_parsed(adapter, line, f"{path}: line {number}", remedy) for number, line in enumerate(lines, start=1)]


def _bytes(path: Path, remedy: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); {remedy}") from error


def _parsed(adapter: TypeAdapter[Record], text: bytes, place: str, remedy: str) -> Record:
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = blocks.dotted(first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        raise UserError(f"{place}: {f'`{key}`: ' if key else ''}{said}; {remedy}") from error
