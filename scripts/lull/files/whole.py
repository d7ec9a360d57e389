# SPDX-License-Identifier: BSD-3-Clause
"""Files and folders that are whole or not there, whoever is killed and whoever else writes the same."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A name to write a file under, which takes its place once that has ended well."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """An empty folder, which takes the place of an earlier one once it is filled.

    The earlier folder is first moved aside, and removed at the end. A process that is killed in between leaves both
    folders behind.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    new = aside / "new"
    new.mkdir()
    try:
        yield new
    except BaseException:
        shutil.rmtree(aside)
        raise
    if folder.exists():
        folder.rename(aside / "old")
    new.rename(folder)
    shutil.rmtree(aside)
