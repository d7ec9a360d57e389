# SPDX-License-Identifier: BSD-3-Clause
"""Files and folders that are whole or not there, whoever is killed and whoever else writes the same."""

import ctypes
import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lull.errors import UserError
from lull.files import disk

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_libc = ctypes.CDLL(None)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A name to write a file under, which takes its place once that has ended well.

    The name is unlike that of any other process, also of one in another container or on another machine. A device or a
    folder stays what it is: a file in the place of /dev/null would break the machine.
    """
    if path.exists() and not path.is_file():
        raise UserError(f"{path}: is there and is not a file; name another place to write to")
    partial = path.with_name(_hidden(path) + secrets.token_hex(4))
    with _named(path):
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """An empty folder, which takes the place of an earlier one once it is filled, in one step.

    Where the file system cannot exchange two folders, the earlier one is first moved aside. A process that is killed in
    between then leaves both folders behind. Where a link is, the folder that it leads to is replaced.
    """
    folder = folder.resolve() if folder.is_symlink() else folder
    with _named(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=_hidden(folder), dir=folder.parent))
        new = aside / "new"
        new.mkdir()
        try:
            yield new
        except BaseException:
            shutil.rmtree(aside)
            raise
        try:
            new.rename(folder)  # where no folder is, or an empty one
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            if not _exchanged(new, folder):
                folder.rename(aside / "old")
                new.rename(folder)
        shutil.rmtree(aside)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one step; false where the file system cannot."""
    names = os.fsencode(one), os.fsencode(other)
    return bool(_libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


def _hidden(path: Path) -> str:
    """The beginning of the names under which something is made that takes the place of `path`."""
    return f".{path.name}."


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors of the operating system name what was to be written. A full disk names nothing, or the file that was
    copied, and nobody knows the hidden names."""
    try:
        yield
    except OSError as error:
        hidden = error.filename is None or str(error.filename).startswith(str(path.with_name(_hidden(path))))
        if error.errno and (hidden or error.errno in disk.FULL):
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
