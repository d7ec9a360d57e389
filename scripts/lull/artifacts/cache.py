# SPDX-License-Identifier: BSD-3-Clause
"""The cache of artifacts, addressed by content: the same inputs have the same key, and are not built again.

An entry is built in a folder beside its final place, and then renamed. So an entry that exists is always complete, even
if a build is killed. Its `entry.json` has the inputs and the hash of every file.
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
"""Builds an artifact: `build(out, work)`, see `get`."""


class EntryRecord(TypedDict):
    """The content of `entry.json`: the inputs whose hash is the key, and the hash of each file by name."""

    kind: str
    inputs: dict[str, object]
    files: dict[str, str]


_RECORD = TypeAdapter(EntryRecord)


@dataclass(frozen=True)
class Entry:
    """A finished artifact: a folder that no longer changes."""

    kind: str
    key: str
    path: Path

    def file(self, name: str) -> Path:
        """Return the path of a file, after a check of its hash."""
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
    """Return the finished artifact for these inputs, or None."""
    key = key_of(inputs)
    path = paths.cache_dir() / kind / key
    return Entry(kind, key, path) if (path / MANIFEST).is_file() else None


def get(kind: str, inputs: Mapping[str, object], build: Build) -> Entry:
    """Return the artifact for these inputs. If the cache lacks it, `build(out, work)` makes it.

    `out` is an empty folder that becomes the entry. `work` is kept if a build is killed, so that the next build
    continues; it is removed after a successful build.
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
