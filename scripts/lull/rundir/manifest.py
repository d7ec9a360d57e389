# SPDX-License-Identifier: BSD-3-Clause
"""The manifest of one run: what made it, and how it ended. `manifest.json` is this, or it is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, TypeAdapter, with_config

# pydantic takes TypedDict from here before Python 3.12.
from typing_extensions import TypedDict

from lull.files import json_file
from lull.runspec.dotted import differing

REMEDY = "run the command again"


@with_config(json_file.OPEN)
class Maker(TypedDict):
    """The engine. Each engine adds what else identifies it, such as `sha256`."""

    name: str
    version: str


@with_config(json_file.OPEN)
class Artifact(TypedDict):
    """Its key in the cache, beside the inputs that the key is the hash of."""

    key: str


@with_config(json_file.OPEN)
class Checkout(TypedDict):
    version: str
    commit: str
    sources: str


@with_config(json_file.OPEN)
class Manifest(TypedDict):
    lull: Checkout
    command: list[str]
    started: str
    host: dict[str, Any]
    engine: Maker
    artifacts: dict[str, Artifact]
    state: Literal["running", "finished", "hung", "failed"]
    error: NotRequired[str]
    """The reason why the run hung or failed."""
    # The rest is of a finished run.
    status: NotRequired[int]
    """Exit status of the guest's command."""
    simulated_s: NotRequired[float]
    wall_s: NotRequired[float]
    instructions: NotRequired[int | None]
    """The number of instructions; None where the engine does not count them, as QEMU."""
    stats_windows: NotRequired[int | None]
    """The number of windows; None where the engine has no statistics, as QEMU."""
    details: NotRequired[dict[str, Any]]
    """Facts that only this engine has, such as gem5's ticks."""


_AT_THE_END = {
    "finished": ("status", "simulated_s", "wall_s", "instructions", "stats_windows", "details"),
    "hung": ("error",),
    "failed": ("error",),
}


def _complete(found: Manifest) -> Manifest:
    for key in _AT_THE_END.get(found["state"], ()):
        if key not in found:
            raise ValueError(f"`{key}` is missing from a run that {found['state']}")
    return found


_ADAPTER = TypeAdapter(Annotated[Manifest, AfterValidator(_complete)])


def makers(engine: Mapping[str, object], artifacts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The engine and artifacts that a result depends on besides its spec, without the places of one machine."""
    return {
        "engine": {key: value for key, value in engine.items() if key != "path"},
        "artifacts": {name: entry["key"] for name, entry in artifacts.items()},
    }


def other_makers(before: Manifest, after: Manifest) -> list[str]:
    """What made one run, and is another thing in the other run: of engine, firmware, kernel and image."""
    own, new = (
        {"engine": made["engine"], **made["artifacts"]}
        for made in (makers(one["engine"], one["artifacts"]) for one in (before, after))
    )
    return sorted(differing(own, new))


def read(path: Path) -> Manifest:
    return json_file.read_as(_ADAPTER, path, REMEDY)
