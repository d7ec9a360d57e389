# SPDX-License-Identifier: BSD-3-Clause
"""Locks that are held until a command and all its children have ended.

A lock is a `flock` on a file whose descriptor every child inherits (see `process`). When a command is killed, its
compilers may run on for a moment. The next command waits for them, and does not share a build folder with them.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_held: set[int] = set()


def held() -> tuple[int, ...]:
    """Return the descriptors that children must inherit."""
    return tuple(_held)


@contextmanager
def exclusive(path: Path, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    with _opened(path) as descriptor:
        if not _taken(descriptor):
            if on_wait:
                on_wait()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _held.add(descriptor)
        yield


@contextmanager
def if_free(path: Path) -> Iterator[bool]:
    """Take a lock without waiting, and yield true if that succeeded."""
    with _opened(path) as descriptor:
        free = _taken(descriptor)
        if free:
            _held.add(descriptor)
        yield free


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield descriptor
    finally:
        _held.discard(descriptor)
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
