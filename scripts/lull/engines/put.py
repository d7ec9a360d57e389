# SPDX-License-Identifier: BSD-3-Clause
"""Passes the files of `--put` to the guest as one tar, which the run's script unpacks.

QEMU boots for each run: the tar is in the guest's root file system from the start. A gem5 run continues from a
checkpoint of a booted guest: the tar is behind the script, in the file that gem5 hands to the guest.
"""

import io
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lull.artifacts import cpio
from lull.errors import UserError
from lull.files import digest
from lull.rundir.folder import PUT, RunDir
from lull.runspec.put import PutFile
from lull.runspec.spec import PUT_OFFSET, PUT_TAR, RunSpec


def write_tar(files: tuple[PutFile, ...], out: Path) -> None:
    """Write the tar of the files. Its bytes depend only on contents and names of the files."""
    with tarfile.open(out, "w", format=tarfile.GNU_FORMAT) as archive:
        for file in files:
            data = _content(file)
            member = tarfile.TarInfo(file.guest.lstrip("/"))
            member.size, member.mode = len(data), 0o755 if file.executable else 0o644
            archive.addfile(member, io.BytesIO(data))


@contextmanager
def initrd(spec: RunSpec, rundir: RunDir, image: Path) -> Iterator[Path]:
    """Yield the initrd: the image, followed by an archive with the tar if there is one. The kernel unpacks both."""
    if not spec.put:
        yield image
        return
    write_tar(spec.put, rundir / PUT)
    path = rundir / "initrd"
    try:
        with path.open("wb") as both, image.open("rb") as first:
            shutil.copyfileobj(first, both)
            both.write(cpio.pack([cpio.file(PUT_TAR.lstrip("/"), (rundir / PUT).read_bytes())]))
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def readfile(spec: RunSpec, rundir: RunDir, script: Path) -> Iterator[Path]:
    """Yield the script. If files are put, zeros follow that end the script, and then the tar. A peer may have no
    script."""
    if not spec.put or not script.exists():
        yield script
        return
    write_tar(spec.put, rundir / PUT)
    path = rundir / f"{script.name}.readfile"
    try:
        with path.open("wb") as both, (rundir / PUT).open("rb") as second:
            both.write(script.read_bytes())
            both.seek(PUT_OFFSET)
            shutil.copyfileobj(second, both)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _content(file: PutFile) -> bytes:
    """Return a file's content. Raise a UserError if it has changed since the RunSpec was made, which has its hash."""
    try:
        data = Path(file.source).read_bytes()
    except OSError as error:
        raise UserError(f"--put {file.source}: cannot be read any more ({error.strerror}); start again") from None
    if digest.of_bytes(data) != file.sha256:
        raise UserError(f"--put {file.source}: has changed since the command began; start again")
    return data
