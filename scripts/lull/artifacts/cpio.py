# SPDX-License-Identifier: BSD-3-Clause
"""newc archives, the only kind that the kernel unpacks as an initramfs.

An archive depends on its entries alone: they are sorted, owned by root and dated 0. Nothing is compressed, since gem5
would unpack it behind the kernel's back. Device nodes are entries like any other, so no step needs root.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_MAGIC = b"070701"
_FIELDS = 13
_HEADER = len(_MAGIC) + 8 * _FIELDS
_TRAILER = "TRAILER!!!"
_BLOCK = 512


@dataclass(frozen=True)
class Member:
    """One name in the archive: `data` is a file's content or a link's target."""

    path: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def directory(path: str, permissions: int = 0o755) -> Member:
    return Member(path, stat.S_IFDIR | permissions)


def file(path: str, data: bytes, executable: bool = False) -> Member:
    """Return the entry of a file, with one of two modes: other mode bits in a checkout come from the cloner's umask."""
    return Member(path, stat.S_IFREG | (0o755 if executable else 0o644), data)


def symlink(path: str, target: str) -> Member:
    return Member(path, stat.S_IFLNK | 0o777, target.encode())


def character_device(path: str, major: int, minor: int, permissions: int = 0o600) -> Member:
    return Member(path, stat.S_IFCHR | permissions, device=(major, minor))


def is_symlink(entry: Member) -> bool:
    return stat.S_ISLNK(entry.mode)


def pack(entries: Iterable[Member]) -> bytes:
    """Return the archive. An entry without a parent directory is an error here; the kernel would skip it silently."""
    ordered = sorted(entries, key=lambda entry: entry.path)
    _check(ordered)
    archive = bytearray()
    for number, entry in enumerate(ordered, 1):
        archive += _record(entry, number)
    archive += _record(Member(_TRAILER, 0), 0)
    archive += bytes(-len(archive) % _BLOCK)
    return bytes(archive)


def unpack(archive: bytes) -> list[Member]:
    """Return the entries of an archive that `pack` made."""
    return list(_entries(archive))


def _check(ordered: list[Member]) -> None:
    kinds: dict[str, int] = {}
    for entry in ordered:
        path = PurePosixPath(entry.path)
        if path.is_absolute() or str(path) != entry.path or ".." in path.parts or not path.parts or "\0" in entry.path:
            raise ValueError(f"{entry.path!r} is no plain relative path")
        if entry.path in kinds:
            raise ValueError(f"{entry.path!r} is there twice")
        kinds[entry.path] = stat.S_IFMT(entry.mode)
        parent = str(path.parent)
        if parent != "." and kinds.get(parent) != stat.S_IFDIR:
            raise ValueError(f"{entry.path!r} lies in {parent!r}, which is no directory of the archive")


def _record(entry: Member, number: int) -> bytes:
    name = entry.path.encode() + b"\0"
    links = 0 if number == 0 else 2 if stat.S_ISDIR(entry.mode) else 1
    fields = (number, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, *entry.device, len(name), 0)
    head = _MAGIC + b"".join(b"%08X" % field for field in fields) + name
    return head + bytes(-len(head) % 4) + entry.data + bytes(-len(entry.data) % 4)


def _entries(archive: bytes) -> Iterator[Member]:
    at = 0
    while True:
        head = archive[at : at + _HEADER]
        if len(head) != _HEADER or not head.startswith(_MAGIC):
            raise ValueError(f"no newc header at byte {at}")
        fields = [int(head[i : i + 8], 16) for i in range(len(_MAGIC), _HEADER, 8)]
        mode, size, device, name_size = fields[1], fields[6], (fields[9], fields[10]), fields[11]
        path = archive[at + _HEADER : at + _HEADER + name_size - 1].decode()
        if path == _TRAILER:
            return
        begin = at + _HEADER + name_size
        begin += -begin % 4
        at = begin + size
        yield Member(path, mode, archive[begin:at], device)
        at += -at % 4
