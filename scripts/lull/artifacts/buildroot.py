# SPDX-License-Identifier: BSD-3-Clause
"""The root file system built by Buildroot, from the user's own tree and our external tree `buildroot-overlay/`.

Buildroot downloads the sources that its packages name, and builds a toolchain of its own. The project contains nothing
of Buildroot, and nothing of the host's compilers gets into the image. Assumes that the caller keeps `work` until a
build succeeds.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from lull.artifacts import cpio, rootfs
from lull.errors import UserError
from lull.files import digest
from lull.host.process import Run

VARIABLE = "BUILDROOT"
OLDEST = (2025, 11)
"""The first release that knows every symbol of the configuration."""

EXTERNAL = "buildroot-overlay"
DEFCONFIG = f"{EXTERNAL}/configs/lull_defconfig"
_GENERATOR = "scripts/lull/artifacts/buildroot.py"

_VERSION = re.compile(r"^export BR2_VERSION := ((\d+)\.(\d+)\S*)", re.MULTILINE)
_SETTING = re.compile(r"(BR2_\w+)=(.*)|# (BR2_\w+) is not set")
_PASSED_ON = ("HOME", "TMPDIR", "BR2_DL_DIR", "http_proxy", "https_proxy", "ftp_proxy", "no_proxy", "SSL_CERT_FILE")
_NOT_SOURCES = (".git", "dl", "output")


def tree() -> Path:
    """The Buildroot tree that the user names."""
    value = os.environ.get(VARIABLE, "")
    if not value:
        raise UserError(f"{VARIABLE} is not set: set it to a Buildroot tree, {_oldest()} or newer.")
    path = Path(value).resolve()
    version = _version(path)
    if version is None:
        raise UserError(f"{VARIABLE}={value}: no Buildroot tree; set it to one, {_oldest()} or newer.")
    if version[1] < OLDEST:
        raise UserError(f"{VARIABLE}={value}: Buildroot {version[0]} is too old; use {_oldest()} or newer.")
    return path


def inputs(root: Path, buildroot: Path) -> dict[str, str]:
    """Return the hash of each of our files by path, and one hash of the Buildroot tree.

    Buildroot's downloads need no hash of ours: the tree pins each of them by hash.
    """
    found = _version(buildroot)
    version = found[0] if found else "unknown"
    files = [root / _GENERATOR, *rootfs.sources(root, EXTERNAL), *rootfs.selftest_sources(root)]
    hashes = digest.by_path(root, files)
    return hashes | {"buildroot": f"{version} {_hash(buildroot)}"}


def build(buildroot: Path, debs: Sequence[Path], root: Path, out: Path, work: Path, run: Run) -> None:
    """Write `rootfs.cpio` to `out`, and the listing `contents.txt` for people. A killed build continues from `work`.

    `debs` are the packages of which guest programs are made, as in the default image.
    """
    for place in (buildroot, root, work):
        if found := re.search(r"[\s:@]", str(place)):
            raise UserError(f"{place}: Buildroot works in no path with {found[0]!r}; rename or move the folder.")
    output, material = work / "buildroot", work / "debian"
    output.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(material, ignore_errors=True)
    rootfs.unpack(debs, material, root, run)
    make = [*_environment(), "make", f"O={output}", f"BR2_EXTERNAL={root / EXTERNAL}", f"LULL_DEBIAN={material}"]
    run([*make, Path(DEFCONFIG).name], buildroot)
    if lost := lost_settings(root / DEFCONFIG, output / ".config"):
        raise UserError(f"{root / DEFCONFIG}: {buildroot} does not take {lost[0]}; use a release that does.")
    run(make, buildroot)
    archive = (output / "images" / "rootfs.cpio").read_bytes()
    entries = cpio.unpack(archive)
    _check(entries, root)
    out.mkdir(parents=True, exist_ok=True)
    (out / "rootfs.cpio").write_bytes(archive)
    (out / "contents.txt").write_text(rootfs.contents(entries), encoding="utf-8")


def lost_settings(defconfig: Path, config: Path) -> list[str]:
    """Return the settings that Kconfig dropped silently: unknown symbols, and symbols with unmet dependencies."""
    has = _settings(config)
    return [f"{symbol}={value}" for symbol, value in _settings(defconfig).items() if has.get(symbol, "n") != value]


def _settings(file: Path) -> dict[str, str]:
    matches = (_SETTING.fullmatch(line) for line in file.read_text(encoding="utf-8").splitlines())
    return {match[1] or match[3]: match[2] or "n" for match in matches if match}


def _check(entries: Sequence[cpio.Member], root: Path) -> None:
    """Raise an error if a program of the default image is missing: a package may have stopped installing the
    program."""
    names = {entry.path for entry in entries}
    commands = (*rootfs.PROGRAMS, *rootfs.applets(root), "lull-init")
    for name in ("init", "dev/console", *(f"usr/bin/{command}" for command in commands)):
        if name not in names:
            raise UserError(f"rootfs.cpio: {name} is missing; adapt {DEFCONFIG} or {EXTERNAL}/board/busybox.config.")


def _environment() -> list[str]:
    """Return the start of a command with a clean environment: PATH, proxies and Buildroot's download folder.

    Buildroot refuses much else of a user's environment, or is misled by it.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if folder.startswith("/") and not re.search(r"\s", folder))
    kept = [f"{name}={os.environ[name]}" for name in _PASSED_ON if name in os.environ]
    return ["env", "-i", f"PATH={path}", *kept]


def _oldest() -> str:
    return f"{OLDEST[0]}.{OLDEST[1]:02}"


def _version(buildroot: Path) -> tuple[str, tuple[int, int]] | None:
    makefile = buildroot / "Makefile"
    if not makefile.is_file() or not (buildroot / "support" / "kconfig").is_dir():
        return None
    match = _VERSION.search(makefile.read_text(encoding="utf-8", errors="replace"))
    return (match[1], (int(match[2]), int(match[3]))) if match else None


def _hash(buildroot: Path) -> str:
    """Return one hash of the name and content of every source file.

    The hash is the same for an archive and a clone. Computing it takes about half a second.
    """
    whole = hashlib.sha256()
    for path in _source_files(buildroot):
        whole.update(f"{path.relative_to(buildroot)}\0{digest.of_file(path)}\n".encode())
    return whole.hexdigest()


def _source_files(buildroot: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(buildroot):
        at_top = Path(folder) == buildroot
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not (at_top and name in _NOT_SOURCES))
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not (at_top and name.startswith(".config")):
                yield path
