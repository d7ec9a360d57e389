# SPDX-License-Identifier: BSD-3-Clause
"""The content-addressed store of artifacts: same inputs, same key, no rebuild.

An entry is built in a folder beside its final place and appears there by one rename, so an entry that exists
is complete whatever was killed meanwhile. Its `entry.json` holds the inputs and the hash of every file.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

# pydantic takes TypedDict from here before Python 3.12.
from typing_extensions import TypedDict

from lull.errors import UserError
from lull.files import digest, disk, json_file, locks, paths
from lull.host.progress import report

MANIFEST = "entry.json"

Build = Callable[[Path, Path], None]
"""`build(out, work)`, see `get`."""


class EntryRecord(TypedDict):
    """`entry.json`: the inputs that the key is the hash of, and the hash of each file by name."""

    kind: str
    inputs: dict[str, object]
    files: dict[str, str]


_RECORD = TypeAdapter(EntryRecord)


@dataclass(frozen=True)
class Entry:
    """A finished artifact: a folder that nobody changes any more."""

    kind: str
    key: str
    path: Path

    def file(self, name: str) -> Path:
        """The file, checked against the hash it had when it was built."""
        expected = self._manifest()["files"].get(name)
        path = self.path / name
        if expected is None or not path.is_file() or digest.of_file(path) != expected:
            raise UserError(
                f"{path}: the cached {self.kind} is corrupt (its content is not what was built); "
                f"remove {self.path} and run the command again"
            )
        return path

    def inputs(self) -> dict[str, object]:
        return self._manifest()["inputs"]

    def _manifest(self) -> EntryRecord:
        return json_file.read_as(_RECORD, self.path / MANIFEST, f"remove {self.path} and run the command again")


def key_of(inputs: Mapping[str, object]) -> str:
    return digest.of_json(inputs)[:20]


def find(kind: str, inputs: Mapping[str, object]) -> Entry | None:
    """The finished artifact for these inputs, if there is one."""
    key = key_of(inputs)
    path = paths.cache_dir() / kind / key
    return Entry(kind, key, path) if (path / MANIFEST).is_file() else None


def get(kind: str, inputs: Mapping[str, object], build: Build) -> Entry:
    """The artifact for these inputs; `build(out, work)` makes it when it is not there yet.

    `out` is empty and becomes the entry. `work` survives a killed build, so that the next one continues, and
    is removed after a successful one.
    """
    if entry := find(kind, inputs):
        return entry
    key, root = key_of(inputs), paths.cache_dir()
    final, partial, work = root / kind / key, root / kind / f".partial-{key}", root / "work" / f"{kind}-{key}"
    with (
        disk.named_when_full(root),
        locks.exclusive(
            root / "locks" / f"{kind}-{key}",
            on_wait=lambda: report(f"{kind}: another command is building it, waiting"),
        ),
    ):
        if entry := find(kind, inputs):
            return entry
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(final, ignore_errors=True)  # an entry whose manifest was lost
        partial.mkdir(parents=True)
        work.mkdir(parents=True, exist_ok=True)
        build(partial, work)
        files = {
            str(path.relative_to(partial)): digest.of_file(path)
            for path in sorted(partial.rglob("*"))
            if path.is_file()
        }
        manifest = {"kind": kind, "inputs": dict(inputs), "files": files}
        (partial / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
        partial.rename(final)
        shutil.rmtree(work, ignore_errors=True)
    return Entry(kind, key, final)
