# SPDX-License-Identifier: BSD-3-Clause
"""A quilt series: patches and the order in which they apply."""

from pathlib import Path

from lull.errors import UserError


def patches(file: Path) -> list[Path]:
    """Return the patches that a `series` file names, in the order in which they apply. They lie beside the file."""
    lines = (line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    found = [file.parent / line for line in lines if line]
    for line in found:
        if not line.is_file():
            name = line.relative_to(file.parent)
            raise UserError(f"{file} names {name}, which does not exist: add the patch or delete the line.")
    return found
