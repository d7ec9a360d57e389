# SPDX-License-Identifier: BSD-3-Clause
"""Claims a folder for many runs, by a record in it."""

from pathlib import Path

from lull.errors import UserError
from lull.files import json_file

REMEDY = "choose another --out"


def claim(path: Path, record: str, what: str, key: str, name: str) -> Path:
    """Return the folder if it is new, empty, or its record has `name` under `key`. Raise a UserError for any other."""
    if (path / record).is_file():
        holder = json_file.read(path / record, REMEDY).get(key)
        if holder != name:
            raise UserError(f"{path}: has the runs of {holder}; {REMEDY}")
    elif path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UserError(f"{path}: not a folder of {what}; {REMEDY}")
    make(path)
    return path.resolve()


def make(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be made ({error.strerror}); {REMEDY}") from error
