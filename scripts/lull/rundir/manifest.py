# SPDX-License-Identifier: BSD-3-Clause
"""The schema of a run's `manifest.json`: what made the run, and how it ended. Any other content is an error."""

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
    """The engine. Each engine adds more keys that identify it, such as `sha256`."""

    name: str
    version: str


@with_config(json_file.OPEN)
class Artifact(TypedDict):
    """An artifact's key in the cache, and the inputs of which the key is the hash."""

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
    # The keys below are only for a finished run.
    status: NotRequired[int]
    """Exit status of the guest's command."""
    simulated_s: NotRequired[float]
    wall_s: NotRequired[float]
    instructions: NotRequired[int | None]
    """The number of instructions; None if the engine does not count them, as on QEMU."""
    stats_windows: NotRequired[int | None]
    """The number of windows; None if the engine has no statistics, as on QEMU."""
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
    """Return the engine and artifacts on which a result depends besides its RunSpec, without paths."""
    return {
        "engine": {key: value for key, value in engine.items() if key != "path"},
        "artifacts": {name: entry["key"] for name, entry in artifacts.items()},
    }


def other_makers(before: Manifest, after: Manifest) -> list[str]:
    """Return those of engine, firmware, kernel and image that differ between two runs."""
    own, new = (
        {"engine": made["engine"], **made["artifacts"]}
        for made in (makers(one["engine"], one["artifacts"]) for one in (before, after))
    )
    return sorted(differing(own, new))


def read(path: Path) -> Manifest:
    return json_file.read_as(_ADAPTER, path, REMEDY)
