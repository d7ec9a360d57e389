# SPDX-License-Identifier: BSD-3-Clause
"""Writes files and folders completely or not at all, even if a process is killed or another one writes the same."""

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
    """Yield a temporary path for a file. When the code inside has ended well, the file is renamed to `path`.

    The temporary name is unique, also among containers and machines. A device or a folder is not replaced, because a
    file in place of /dev/null would break the machine.
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
    """Yield an empty folder. When the code inside has ended well, it replaces an earlier `folder` in one step.

    If the file system cannot exchange two folders, the earlier one is first moved aside; a process that is killed in
    between leaves both folders behind. If `folder` is a link, its target is replaced.
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
            new.rename(folder)  # works if there is no folder, or an empty one
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            if not _exchanged(new, folder):
                folder.rename(aside / "old")
                new.rename(folder)
        shutil.rmtree(aside)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two names in one step. Return false if the file system cannot."""
    names = os.fsencode(one), os.fsencode(other)
    return bool(_libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


def _hidden(path: Path) -> str:
    """Return the prefix of temporary names for `path`."""
    return f".{path.name}."


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Make errors of the operating system name `path`, not the temporary path. For a full disk, the system names no
    file, or the file that was copied."""
    try:
        yield
    except OSError as error:
        hidden = error.filename is None or str(error.filename).startswith(str(path.with_name(_hidden(path))))
        if error.errno and (hidden or error.errno in disk.FULL):
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
