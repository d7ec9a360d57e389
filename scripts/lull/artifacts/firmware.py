# SPDX-License-Identifier: BSD-3-Clause
"""The firmware: TF-A BL31 from Debian's source package plus the series in `firmware-patches/`.

Assumes a tree as `dpkg-source -x` leaves it, with Debian's own patches applied. None of these patches touches BL31's
sources. The caller does the caching, unpacking and logging.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from lull.artifacts.series import patches
from lull.artifacts.toolchain import CROSS_COMPILE
from lull.errors import UserError
from lull.files import digest
from lull.host.process import Run

SOURCE_PACKAGE = "arm-trusted-firmware"

LOAD_ADDRESS = 0x04001000
"""The address of the raw image, which is also the reset address of every core."""

KERNEL_ADDRESS = 0x80200000
DTB_ADDRESS = 0x8F000000

FOLDER = "firmware-patches"
PRODUCTS = ("bl31.bin", "bl31/bl31.elf", "bl31/bl31.map")
_OPTION = re.compile(r"([A-Za-z0-9_]+) := (\S+)")
_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "CCACHE_DIR")


def series(root: Path) -> list[Path]:
    return patches(root / FOLDER / "series")


def options(root: Path) -> dict[str, str]:
    """Return the make options. Each stands once in `options.mk`, in a paragraph that begins with the reason."""
    file = root / FOLDER / "options.mk"
    found: dict[str, str] = {}
    explained = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            explained = line != ""
            continue
        match = _OPTION.fullmatch(line)
        if match is None:
            raise UserError(f"{file}:{number}: {line!r} is no 'NAME := value': write it so.")
        if not explained:
            raise UserError(f"{file}:{number}: {match[1]} has no reason: write it as a comment above.")
        if match[1] in found:
            raise UserError(f"{file}:{number}: {match[1]} is already set above: keep one of them.")
        found[match[1]] = match[2]
    return found


def inputs(root: Path) -> dict[str, str]:
    """Return path to hash for our files that decide the result. The caller adds sources and compiler."""
    hashes = digest.by_path(root, [root / FOLDER / "series", root / FOLDER / "options.mk", *series(root)])
    return hashes | {"scripts/lull/artifacts/firmware.py": digest.of_file(Path(__file__))}


def build(root: Path, tree: Path, out: Path, run: Run) -> None:
    """Patch and build `tree`, and leave bl31.bin, bl31.elf and bl31.map in `out`. No other call may use `tree`.

    Make gets an environment of its own, because a make that calls us must not pass its variables on.
    """
    chosen = options(root)
    for patch in series(root):
        run(["patch", "-p1", "--batch", "--forward", "--fuzz=0", "-i", str(patch.resolve())], tree)
    kept = [f"{name}={os.environ[name]}" for name in _ENVIRONMENT if name in os.environ]
    environment = ["env", "-i", *kept, "LC_ALL=C", "SOURCE_DATE_EPOCH=0"]
    assignments = [f"{name}={value}" for name, value in (chosen | {"CROSS_COMPILE": CROSS_COMPILE}).items()]
    run([*environment, "make", f"-j{os.cpu_count() or 1}", *assignments, "bl31"], tree)
    built = tree / "build" / chosen["PLAT"] / "release"
    out.mkdir(parents=True, exist_ok=True)
    for product in PRODUCTS:
        shutil.copyfile(built / product, out / Path(product).name)
    # The linker map is the one product that names the directory it was built in.
    linker_map = out / "bl31.map"
    text = linker_map.read_text(encoding="utf-8")
    linker_map.write_text(text.replace(f"{tree.resolve()}/", ""), encoding="utf-8")
