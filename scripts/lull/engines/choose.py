# SPDX-License-Identifier: BSD-3-Clause
"""The choice of the engine that a command runs on."""

from pathlib import Path

from lull.engines import gem5_binary
from lull.engines.base import Engine
from lull.engines.gem5 import Gem5
from lull.engines.qemu import Qemu
from lull.errors import UserError
from lull.runspec.spec import EngineName


def choose(
    name: EngineName | None, gem5: str | None = None, checkpoint: Path | None = None, programs: Path | None = None
) -> Engine:
    """Return the engine with this name. Without a name, return gem5 if it is found, else QEMU.

    `programs` is a folder with more guest programs for the image.
    """
    if name is None:
        name = "gem5" if gem5 or gem5_binary.is_there() else "qemu"
    if name == "gem5":
        return Gem5(gem5, checkpoint, programs)
    if gem5 or checkpoint:
        raise UserError(f"{'--gem5' if gem5 else '--checkpoint'}: has no meaning on QEMU; use --engine gem5")
    return Qemu(programs)
