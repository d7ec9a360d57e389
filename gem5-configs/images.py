# SPDX-License-Identifier: BSD-3-Clause
"""The files that are in memory before the first instruction: firmware, kernel, device tree, initial file system.

Each is loaded raw at its address and found there by whoever runs before it; gem5's own boot loader has no part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from failure import Failure

NAMES = ("firmware", "kernel", "dtb", "initrd")

TRUSTED_SRAM = range(0x0400_0000, 0x0404_0000)
"""The address at which the Foundation platform's firmware runs."""

DRAM_BASE = 0x8000_0000

GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Image:
    name: str
    path: Path
    address: int


def check(images: list[Image], dram_bytes: int) -> None:
    """Each image exists, fits where it goes, and leaves the others alone."""
    dram = range(DRAM_BASE, DRAM_BASE + dram_bytes)
    taken: list[tuple[range, str]] = []
    for image in images:
        room = TRUSTED_SRAM if image.name == "firmware" else dram
        span = range(image.address, image.address + _size(image))
        if span.start not in room or span[-1] not in room:
            raise Failure(
                f"the {image.name} {image.path} at {span.start:#x}..{span.stop:#x} is outside "
                f"{room.start:#x}..{room.stop:#x}; change its address or the memory size"
            )
        for other, name in taken:
            if span.start < other.stop and other.start < span.stop:
                raise Failure(f"the {image.name} at {span.start:#x} overlaps the {name}; move one of the two")
        taken.append((span, image.name))


def _size(image: Image) -> int:
    try:
        with image.path.open("rb") as file:
            if file.read(2) == GZIP:
                raise Failure(
                    f"the {image.name} {image.path} is gzip-compressed, and gem5 would unpack it on loading; "
                    "load it uncompressed"
                )
            size = file.seek(0, 2)
    except OSError as error:
        raise Failure(f"the {image.name} {image.path} cannot be read ({error.strerror}); build it again") from None
    if size == 0:
        raise Failure(f"the {image.name} {image.path} is empty; build it again")
    return size
