# SPDX-License-Identifier: BSD-3-Clause
"""The error sentence for a full disk. It says where, and what to do."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lull.errors import UserError

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def named_when_full(place: Path) -> Iterator[None]:
    """Turn the operating system's "no space left" into this sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise full(place) from error
        raise


def full(place: Path) -> UserError:
    existing = place
    while not existing.exists():
        existing = existing.parent
    free = os.statvfs(existing)
    mebibytes = free.f_bavail * free.f_frsize // 2**20
    return UserError(
        f"{place}: the disk is full ({mebibytes} MiB left); free some space or point LULL_CACHE elsewhere, "
        "then run the command again: it continues where it stopped"
    )
