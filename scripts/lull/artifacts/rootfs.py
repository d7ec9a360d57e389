# SPDX-License-Identifier: BSD-3-Clause
"""The root file system, one initramfs: Debian's arm64 programs that we keep, our guest programs, and the overlay.

The kernel unpacks the initramfs in simulated time. So of Debian's packages the image holds only the programs listed
here, and the libraries that these need.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lull.artifacts import cpio, pages
from lull.artifacts.toolchain import CROSS_COMPILE
from lull.errors import UserError
from lull.files import digest
from lull.host.process import Run
from lull.systems.folder import TOP

PACKAGES = ("busybox-static", "evtest", "rt-tests", "trace-cmd")
"""The packages from which `build` takes programs and libraries. The packages they depend on count as well."""

MATERIAL = ("libsqlite3-dev", "manpages", "manpages-dev")
"""The packages, without any that they depend on, of which guest programs are made: a library to link, and text. Their
Makefiles find the unpacked packages in the folder `$(DEBIAN)`."""

PROGRAMS = ("busybox", "cyclictest", "evtest", "hackbench", "trace-cmd")

LOADED_LIBRARIES = ("libgcc_s.so.1",)
"""Libraries that no program names as needed. The C library opens this one when a thread is cancelled or exits."""

SELFTESTS = "benchmarks/selftests"
"""The folder whose Makefile builds the selftests. They are guest programs of an image of their own, so that a new test
makes no result older."""

APPLETS = "benchmarks/guest/busybox-applets.txt"
OVERLAY = "buildroot-overlay/board/rootfs-overlay"
GUEST_MK = "benchmarks/lib/guest.mk"
_NOT_BUILT = (".md", ".yaml", ".py", ".pyc")
"""Endings of files beside the programs that are not built: notes, scenarios, analyses. A change of such a file must
not cost a new image and a new boot."""

_GENERATORS = tuple(f"scripts/lull/artifacts/{name}.py" for name in ("rootfs", "cpio", "pages"))

_LOADER = "ld-linux-aarch64.so.1"
_LIBRARIES = "usr/lib/aarch64-linux-gnu"
_NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]")

_DIRECTORIES = ("dev", "etc", "out", "proc", "run", "sys", "tmp", "usr", "usr/bin", "usr/lib", _LIBRARIES)
_LINKS = {"bin": "usr/bin", "sbin": "usr/bin", "lib": "usr/lib", "usr/sbin": "bin", "init": "usr/bin/lull-init"}


def program_folders(root: Path) -> list[Path]:
    """Return the folders of guest programs that are in every image: those of `benchmarks/` that have a Makefile, but
    not that of the selftests."""
    makefiles = (root / "benchmarks").glob("*/Makefile")
    return sorted(makefile.parent for makefile in makefiles if makefile.parent != root / SELFTESTS)


def selftest_folders(root: Path) -> list[Path]:
    """Return the selftest folders of the kernel systems. `benchmarks/selftests/Makefile` finds and builds them."""
    return sorted(path for path in (root / TOP).glob("*/selftests") if path.is_dir())


def inputs(root: Path) -> dict[str, str]:
    """Return path in the checkout to SHA-256 for all that the image is made of, besides the packages."""
    return digest.by_path(root, [*(root / name for name in _GENERATORS), *sources(root, OVERLAY)])


def sources(root: Path, recipe: str) -> list[Path]:
    """Return the files of our programs, and those of the folder `recipe`, which says what else is in the image."""
    return _sources(*program_folders(root), root / "benchmarks/lib", root / recipe)


def selftest_sources(root: Path) -> list[Path]:
    """Return the files of which the selftests are made, besides `benchmarks/lib`."""
    return _sources(root / SELFTESTS, *selftest_folders(root))


def inputs_of(programs: Path, root: Path) -> dict[str, str]:
    """Return path to SHA-256 for the guest programs that an image has besides those of every image."""
    if programs == root / SELFTESTS:
        return digest.by_path(root, selftest_sources(root))
    return digest.by_path(programs, _sources(programs))


def _sources(*folders: Path) -> list[Path]:
    inside = (path for folder in folders for path in folder.rglob("*"))
    return sorted(path for path in inside if path.is_file() and path.suffix not in _NOT_BUILT)


def applets(root: Path) -> list[str]:
    """Return the names of the commands that are links to busybox."""
    lines = (root / APPLETS).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def build(debs: list[Path], root: Path, out: Path, run: Run) -> None:
    """Write `out/rootfs.cpio`, and the listing `out/contents.txt` for people. Scratch space lies beside `out`."""
    with _unpacked(debs, root, out, run) as scratch:
        for folder in program_folders(root):
            install(folder, scratch, scratch / "packages", scratch / "guest", root, run)
        _write(_entries(scratch / "packages", scratch / "guest", root), out)


def build_with(programs: Path, image: Path, debs: list[Path], root: Path, out: Path, run: Run) -> None:
    """Write the same files for an image that has the guest programs of one more folder. `image` is the `rootfs.cpio`
    to which they are added. The programs may add files, but may not replace any."""
    with _unpacked(debs, root, out, run) as scratch:
        tree = scratch / "added"
        install(programs, scratch, scratch / "packages", tree, root, run)
        _write(added(cpio.unpack(image.read_bytes()), tree, programs), out)


@contextmanager
def _unpacked(debs: Sequence[Path], root: Path, out: Path, run: Run) -> Iterator[Path]:
    """Yield a scratch folder with the packages' files in `packages`."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".rootfs-") as scratch:
        packages = Path(scratch, "packages")
        packages.mkdir()
        unpack(debs, packages, root, run)
        yield Path(scratch)


def _write(entries: Sequence[cpio.Member], out: Path) -> None:
    (out / "rootfs.cpio").write_bytes(cpio.pack(entries))
    (out / "contents.txt").write_text(contents(entries), encoding="utf-8")


def unpack(debs: Sequence[Path], packages: Path, root: Path, run: Run) -> None:
    """Make the folder that guest programs know as `$(DEBIAN)`: the packages' files, and the index of their manuals."""
    for deb in debs:
        run(["dpkg-deb", "-x", str(deb), str(packages)], root)
    pages.make(packages, packages / pages.PLACE)


def install(folder: Path, scratch: Path, packages: Path, into: Path, root: Path, run: Run) -> None:
    into.mkdir(exist_ok=True)
    make = ["make", "-C", str(folder), f"CROSS_COMPILE={CROSS_COMPILE}", f"LULL_GUEST_MK={root / GUEST_MK}"]
    make.append(f"DEBIAN={packages}")
    run([*make, f"O={scratch}/objects/{folder.name}", f"DESTDIR={into}", "install"], root)


def added(image: list[cpio.Member], tree: Path, programs: Path) -> list[cpio.Member]:
    """Return the image plus the files that an experiment's Makefile installed into `tree`."""
    makefile = programs / "Makefile"
    there = {entry.path for entry in image}
    found = {path: _copy(path, str(path.relative_to(tree))) for path in sorted(tree.rglob("*"))}
    if all(path.is_dir() for path in found):
        raise UserError(f"{makefile}: installs nothing; include $(LULL_GUEST_MK), and set PROGRAMS or SCRIPTS")
    for path, entry in found.items():
        if entry.path in there and not path.is_dir():
            raise UserError(f"{makefile}: /{entry.path} is in every image already; choose another name")
    return [*image, *(entry for entry in found.values() if entry.path not in there)]


def contents(entries: Sequence[cpio.Member]) -> str:
    """Return a line for each entry, the largest first: size, mode, path, target of a link."""
    lines = []
    for entry in sorted(entries, key=lambda entry: (-len(entry.data), entry.path)):
        target = f" -> {entry.data.decode()}" if cpio.is_symlink(entry) else ""
        lines.append(f"{len(entry.data):9} {entry.mode:06o} {entry.path}{target}\n")
    return "".join(lines)


def _entries(packages: Path, guest: Path, root: Path) -> list[cpio.Member]:
    """Return the image's entries. A later source replaces an earlier one, so the overlay has the last word."""
    image: dict[str, cpio.Member] = {}

    def add(entry: cpio.Member) -> None:
        image[entry.path] = entry

    for path in _DIRECTORIES:
        add(cpio.directory(path))
    for path, target in _LINKS.items():
        add(cpio.symlink(path, target))
    add(cpio.character_device("dev/console", 5, 1))
    programs = [_find(packages, f"usr/bin/{name}") for name in PROGRAMS]
    for program in programs:
        add(cpio.file(f"usr/bin/{program.name}", program.read_bytes(), executable=True))
    for name, library in _libraries(packages, programs).items():
        folder = "usr/lib" if name == _LOADER else _LIBRARIES
        add(cpio.file(f"{folder}/{name}", library.read_bytes(), executable=True))
    for applet in applets(root):
        add(cpio.symlink(f"usr/bin/{applet}", "busybox"))
    for tree in (guest, root / OVERLAY):
        for source in sorted(tree.rglob("*")):
            add(_copy(source, str(source.relative_to(tree))))
    return list(image.values())


def _copy(path: Path, name: str) -> cpio.Member:
    if path.is_symlink():
        return cpio.symlink(name, str(path.readlink()))
    if path.is_dir():
        return cpio.directory(name)
    return cpio.file(name, path.read_bytes(), executable=bool(path.stat().st_mode & 0o100))


def _libraries(packages: Path, programs: Sequence[Path]) -> dict[str, Path]:
    """Return every library that the programs load, directly or not, under the name they load it by."""
    found: dict[str, Path] = {}
    wanted = [*LOADED_LIBRARIES, *(name for program in programs for name in _needed(program))]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = _find(packages, f"{_LIBRARIES}/{name}")
            wanted += _needed(found[name])
    return found


def _find(packages: Path, path: str) -> Path:
    file = packages / path
    if not file.is_file():
        raise UserError(
            f"{path} is in none of the Debian packages given for the root file system: "
            f"adapt PACKAGES, PROGRAMS or LOADED_LIBRARIES in {_GENERATORS[0]}."
        )
    return file


def _needed(binary: Path) -> list[str]:
    """Return the libraries that an ELF file names. A static program names none."""
    listing = subprocess.run(
        [f"{CROSS_COMPILE}readelf", "--dynamic", "--wide", str(binary)],
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return _NEEDED.findall(listing.stdout)
