# SPDX-License-Identifier: BSD-3-Clause
"""The record of a confirmation, `confirmed.json` beside a result's manifest: checkout, time, and each value's verdict.

Publishing a result again removes the record, because publishing replaces the result's whole folder.
"""

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import MinLen
from pydantic import TypeAdapter, with_config

# pydantic takes TypedDict from here before Python 3.12.
from typing_extensions import TypedDict

from lull.files import digest, json_file
from lull.results import tree
from lull.results.comparing import Value
from lull.results.manifest import FILE as MANIFEST
from lull.results.manifest import Piece
from lull.scenario.runs import Runs

FILE = "confirmed.json"
REMEDY = "remove it, and run `lull confirm` again"


@with_config(json_file.OPEN)
class Verdict(TypedDict):
    """The verdict on one column of a cell, as `comparing.Value`."""

    table: str
    cell: str
    column: str
    rule: Literal["interval", "equal", "within"]
    held: bool
    says: str
    published: float | None
    apart: float | None
    today: float | None


@with_config(json_file.OPEN)
class Confirmed(TypedDict):
    """The content of the file FILE."""

    manifest: str
    """The hash of the manifest beside this file. It identifies the result that was confirmed."""
    when: str
    command: str
    pieces: Annotated[list[Piece], MinLen(1)]
    rules: str
    """The hash of `confirm:` in the scenario. The confirmation no longer counts if the rules have changed since."""
    points: dict[str, str]
    """The hash of each point's RunSpec."""
    values: Annotated[list[Verdict], MinLen(1)]


_ADAPTER = TypeAdapter(Confirmed)


def write(folder: Path, manifest: str, rules: str, runs: Runs, values: Sequence[Value]) -> Confirmed:
    record: dict[str, Any] = {
        "manifest": manifest,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": runs.command,
        "pieces": tree.with_code(runs.pieces, runs.analysis),
        "rules": rules,
        "points": {run.name: run.spec.hash() for run in runs.runs},
        "values": [dataclasses.asdict(value) for value in values],
    }
    found = _ADAPTER.validate_python(record)
    json_file.write(folder / FILE, record)
    return found


def read(folder: Path) -> Confirmed | None:
    """Return the record, or None if there is none, or only one of an earlier publication."""
    if not (folder / FILE).exists():
        return None
    found = json_file.read_as(_ADAPTER, folder / FILE, REMEDY)
    return found if found["manifest"] == digest.of_file(folder / MANIFEST) else None


def refuted(record: Confirmed) -> list[Verdict]:
    return [value for value in record["values"] if not value["held"]]


def commits(record: Confirmed) -> list[str]:
    return list(dict.fromkeys(commit for piece in record["pieces"] for commit in piece["lull"]))
