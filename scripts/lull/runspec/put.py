# SPDX-License-Identifier: BSD-3-Clause
"""The user's files that a guest has besides its image (`--put`).

A run depends on a file's path in the guest, its content, and whether it is executable. The path on the host is kept for
information only: it is not part of a run's hash.
"""

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict

from lull.errors import UserError
from lull.files import digest
from lull.platform.schema import Platform

SHARE = 8
"""All files together may take an eighth of the machine's memory, because the guest keeps them there, at times twice."""
FULL = frozenset({"bin", "dev", "etc", "init", "lib", "out", "proc", "root", "run", "sbin", "sys", "tmp", "usr"})
"""The folders and links in the root folder of the image. A file that replaces one of them would break the guest."""
OF_THE_KERNEL = frozenset({"proc", "sys"})
_PATH_MAX, _NAME_MAX = 4095, 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_ELF = b"\x7fELF"
_AARCH64 = 183
_MACHINES = {3: "32-bit x86", 40: "32-bit ARM", 62: "x86-64", 243: "RISC-V"}
"""e_machine of an ELF file."""


class PutFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    guest: str
    """The absolute path in the guest."""
    sha256: str
    size: int
    executable: bool
    source: str
    """The path on the host, from which the file is read when the run begins."""


def parse(words: Sequence[str], platform: Platform) -> tuple[PutFile, ...]:
    """Return the files of `--put FILE[:PATH]` words in their present state, ordered by their paths in the guest."""
    files = tuple(sorted((_file(word) for word in words), key=lambda file: file.guest))
    _check_places([file.guest for file in files])
    size, most = sum(file.size for file in files), (platform.memory.size_mib << 20) // SHARE
    if size > most:
        raise UserError(
            f"--put: {_mib(size)} MiB of files, and {platform.name} takes at most {most >> 20} MiB, "
            f"1/{SHARE} of its memory; put less, or have more by --set memory.size_mib="
        )
    return files


def _file(word: str) -> PutFile:
    source, place = _divided(word)
    path = Path(source)
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise UserError(f"--put {word}: {source} is a folder; put its files one by one, or a tar of it")
        if not stat.S_ISREG(about.st_mode):
            raise UserError(f"--put {word}: {source} is no regular file; copy what it holds to one")
        executable = bool(about.st_mode & stat.S_IXUSR)
        if executable:
            _check_machine(path, word)
        sha256 = digest.of_file(path)
    except FileNotFoundError:
        raise UserError(f"--put {word}: {source}: no such file; write FILE or FILE:/PATH/IN/THE/GUEST") from None
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise UserError(f"--put {word}: {source} cannot be read ({said}); name a file of yours") from None
    return PutFile(
        guest=_guest_path(word, place, path.name),
        sha256=sha256,
        size=about.st_size,
        executable=executable,
        source=str(path.absolute()),
    )


def _divided(word: str) -> tuple[str, str]:
    """Return the file and its path in the guest, by default `/`. A colon may be part of a file's name."""
    if _CONTROL.search(word):
        raise UserError(f"--put {word!r}: has a control character or is not UTF-8; rename the file, or put a copy")
    source, colon, place = word.rpartition(":")
    if not colon or (not place.startswith("/") and Path(word).exists()):
        return word, "/"
    return source, place


def _guest_path(word: str, place: str, name: str) -> str:
    if not place.startswith("/"):
        what = f"{place} is no path" if place else "there is no path"
        raise UserError(f"--put {word}: {what} from the guest's root behind the colon; write FILE:/{place or 'PATH'}")
    if place.endswith("/"):
        place += name
    parts = [part for part in place.split("/") if part]
    if {".", ".."} & set(parts):
        raise UserError(f"--put {word}: {place} has a `.` or `..`; write the path without")
    if len(place.encode()) > _PATH_MAX or any(len(part.encode()) > _NAME_MAX for part in parts):
        raise UserError(f"--put {word}: the path in the guest is too long; write one with names of at most 255 bytes")
    if parts[0] in OF_THE_KERNEL:
        raise UserError(f"--put {word}: /{parts[0]} is the kernel's, not for files; write FILE:/tmp/{parts[-1]}")
    if len(parts) == 1 and parts[0] in FULL:
        raise UserError(f"--put {word}: the guest has something at /{parts[0]}; write another path, as FILE:/tmp/NAME")
    return str(PurePosixPath("/", *parts))


def _check_places(paths: Sequence[str]) -> None:
    for path in paths:
        if paths.count(path) > 1:
            raise UserError(f"--put: two files for {path} in the guest; give one of them another path")
        if inside := next((other for other in paths if other.startswith(f"{path}/")), None):
            raise UserError(f"--put: {path} is a file, and {inside} wants it to be a folder; change one of the paths")


def _check_machine(path: Path, word: str) -> None:
    """Raise a UserError for a program of another instruction set, such as one that was built for the host."""
    with path.open("rb") as stream:
        head = stream.read(20)
    if not head.startswith(_ELF) or len(head) < 20:
        return
    machine = int.from_bytes(head[18:20], "big" if head[5] == 2 else "little")
    if machine != _AARCH64 or head[4] != 2:
        what = _MACHINES.get(machine, f"ELF machine {machine}")
        raise UserError(
            f"--put {word}: {os.fspath(path)} is a program for {what}, and the guest is AArch64; "
            "compile it by aarch64-linux-gnu-gcc -static"
        )


def _mib(size: int) -> str:
    """Return a size in MiB, rounded up, so that a file that is one byte too large does not seem to fit."""
    return f"{-(-size * 10 >> 20) / 10:g}"
