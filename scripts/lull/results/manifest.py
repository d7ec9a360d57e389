# SPDX-License-Identifier: BSD-3-Clause
"""The schema of `manifest.json` in a folder of results/. Any other content is an error."""

from pathlib import Path
from typing import Annotated, NotRequired

from annotated_types import MinLen
from pydantic import AfterValidator, TypeAdapter, with_config

# pydantic takes TypedDict from here before Python 3.12.
from typing_extensions import TypedDict

from lull.files import json_file
from lull.runspec.values import Value

FILE = "manifest.json"
REMEDY = "publish the result again"
SHORT = 8


@with_config(json_file.OPEN)
class ResultEngine(TypedDict):
    """The engine: gem5, with the hash of the machine model."""

    name: str
    version: str
    configs: NotRequired[str]


@with_config(json_file.OPEN)
class Piece(TypedDict):
    """Some of the points, with the engine, artifacts and commits that made them."""

    engine: ResultEngine
    artifacts: dict[str, str]
    lull: Annotated[list[str], MinLen(1)]
    code: NotRequired[dict[str, str]]
    """Hashes of lull's code that makes the tables: the ledger's code, and code that the analysis names."""


@with_config(json_file.OPEN)
class MadePoint(TypedDict):
    hash: str
    """The hash of the point's RunSpec."""
    values: dict[str, Value]
    hung: NotRequired[bool]


@with_config(json_file.OPEN)
class ResultManifest(TypedDict):
    scenario: str
    analysis: NotRequired[str]
    command: str
    platform: str
    cpu: str | None
    pieces: NotRequired[Annotated[list[Piece], MinLen(1)]]
    points: Annotated[dict[str, MadePoint], MinLen(1)]
    # Older manifests have no pieces: they name engine, artifacts and commit once for all points.
    engine: NotRequired[ResultEngine]
    artifacts: NotRequired[dict[str, str]]
    lull: NotRequired[Annotated[list[str], MinLen(1)]]


def _made_by_something(found: ResultManifest) -> ResultManifest:
    for key in () if "pieces" in found else ("engine", "artifacts", "lull"):
        if key not in found:
            raise ValueError(f"neither `pieces` nor `{key}` is there")
    return found


_ADAPTER = TypeAdapter(Annotated[ResultManifest, AfterValidator(_made_by_something)])


def read(folder: Path) -> ResultManifest:
    return json_file.read_as(_ADAPTER, folder / FILE, REMEDY)


def short(name: str) -> str:
    """Return the first digits of a commit or a key. The mark of a commit with uncommitted changes is kept."""
    digits, dash, mark = name.partition("-")
    return f"{digits[:SHORT]}{dash}{mark}"


def pieces(manifest: ResultManifest) -> list[Piece]:
    if "pieces" in manifest:
        return manifest["pieces"]
    return [{"engine": manifest["engine"], "artifacts": manifest["artifacts"], "lull": manifest["lull"]}]
