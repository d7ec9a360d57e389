# SPDX-License-Identifier: BSD-3-Clause
"""The layout of each event in the kernel's buffer, from the kernel's own `format` files."""

import re
from dataclasses import dataclass

_NAME = re.compile(r"^name: (\S+)$", re.MULTILINE)
_ID = re.compile(r"^ID: (\d+)$", re.MULTILINE)
_FIELD = re.compile(
    r"^\s*field:(?P<type>.*?)(?P<name>\w+)(?P<many>\[\w*\])?;\s*"
    r"offset:(?P<offset>\d+);\s*size:(?P<size>\d+);(?:\s*signed:(?P<signed>[01]);)?",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Field:
    """A field of an event, at `offset` from its first byte. If `dynamic`, it has place and length of the content."""

    name: str
    offset: int
    size: int
    signed: bool
    dynamic: bool
    type: str = ""
    """The type in C, with `[]` at the end for an array."""


@dataclass(frozen=True)
class Format:
    system: str
    name: str
    id: int
    fields: dict[str, Field]


def parse(system: str, text: str) -> Format:
    """Return the layout in a `format` file. Raise ValueError for any other text."""
    name, number = _NAME.search(text), _ID.search(text)
    if not name or not number:
        raise ValueError(f"an event of {system} without a name or an ID")
    fields = {}
    for match in _FIELD.finditer(text):
        fields[match["name"]] = Field(
            match["name"],
            int(match["offset"]),
            int(match["size"]),
            match["signed"] == "1",
            "__data_loc" in match["type"],
            match["type"].strip() + ("[]" if match["many"] else ""),
        )
    return Format(system, name[1], int(number[1]), fields)
