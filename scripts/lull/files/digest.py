# SPDX-License-Identifier: BSD-3-Clause
"""Content hashes: of files, of folders, of anything JSON can say."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path


def of_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def by_path(root: Path, files: Iterable[Path]) -> dict[str, str]:
    """The hash of each file, by its path below `root`."""
    return {str(path.relative_to(root)): of_file(path) for path in files}


def of_files(root: Path, files: Iterable[Path]) -> str:
    """One hash of many files: their paths below `root` and their contents, whatever the order given."""
    return of_json(by_path(root, files))


def of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def of_text(text: str) -> str:
    return of_bytes(text.encode())


def of_json(value: object) -> str:
    return of_text(json.dumps(value, sort_keys=True, separators=(",", ":")))
