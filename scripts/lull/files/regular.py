# SPDX-License-Identifier: BSD-3-Clause
"""Reads small files that a user names: only regular files of at most a MiB, so that reading always ends."""

import os
import stat
from pathlib import Path

from lull.errors import UserError

MOST_BYTES = 1 << 20


def read_bytes(file: Path, name: str, kind: str, most: int = MOST_BYTES) -> bytes:
    """Return the file's content. Raise a UserError for a pipe or a device, because reading it may never end."""
    remedy = f"give the path of a {kind} file"
    try:
        # Without O_NONBLOCK, opening a pipe waits for somebody to write to it.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UserError(f"{name}: cannot read it (not a regular file); {remedy}")
            data = stream.read(most + 1)
    except OSError as error:
        raise UserError(f"{name}: cannot read it ({error.strerror}); {remedy}") from None
    except ValueError:
        raise UserError(f"{name!r}: no file has such a name; {remedy}") from None
    if len(data) > most:
        raise UserError(f"{name}: larger than {most >> 20} MiB; {remedy} that is smaller")
    return data
