# SPDX-License-Identifier: BSD-3-Clause
"""Reads DRAM devices from platforms/dram, and defines their schema.

The terms are those of data sheets: currents by JEDEC's names (IDD2N is precharge standby), one set for each supply.
"""

from typing import Annotated

from pydantic import Field

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained, quoted
from lull.files.paths import ROOT
from lull.platform.schema import MemoryKind
from lull.platform.values import Name, Source

DEVICES = ROOT / "platforms" / "dram"

Milliamperes = Annotated[float, Field(ge=0, le=1000)]
Nanoseconds = Annotated[float, Field(gt=0, le=10_000)]


class Currents(Block):
    idd0: Milliamperes
    """One bank activated and precharged all the time."""
    idd2n: Milliamperes
    """Standby, no row open."""
    idd2p: Milliamperes
    """Power-down, no row open."""
    idd3n: Milliamperes
    """Standby, a row open."""
    idd3p: Milliamperes
    """Power-down, a row open."""
    idd4r: Milliamperes
    """Reads without a gap."""
    idd4w: Milliamperes
    """Writes without a gap."""
    idd5: Milliamperes
    """Refreshes without a gap."""
    idd6: Milliamperes
    """Self-refresh."""


class Rail(Block):
    volts: Annotated[float, Field(gt=0, le=5)]
    ma: Currents


class Device(Block):
    name: Name
    title: Annotated[str, Field(min_length=1, max_length=80)]
    kind: MemoryKind
    """The kind of DRAM whose timing the device has."""
    bits: Annotated[int, Field(ge=4, le=64)]
    mib: Annotated[int, Field(ge=64, le=16384)]
    row_bytes: Annotated[int, Field(ge=256, le=16384)]
    """Bytes that one activate opens."""
    refresh_ns: Nanoseconds
    """tRFC."""
    powerdown_exit_ns: Nanoseconds
    """tXP, or tXPDLL where `idd2p` is that of slow exit."""
    self_refresh_exit_ns: Nanoseconds
    """tXS."""
    rails: Annotated[list[Rail], Field(min_length=1, max_length=2)]
    source: Source

    @property
    def standby_w(self) -> float:
        """Return the power with no row open and no refresh."""
        return sum(rail.volts * rail.ma.idd2n for rail in self.rails) * 1e-3

    @property
    def self_refresh_w(self) -> float:
        return sum(rail.volts * rail.ma.idd6 for rail in self.rails) * 1e-3


def list_devices() -> list[str]:
    """Return the names of the devices that a platform may name."""
    return sorted(path.stem for path in DEVICES.glob("*.yaml"))


def load_device(name: str) -> Device:
    """Return the device with this file name in platforms/dram."""
    if name not in list_devices():
        raise UserError(f"unknown DRAM device `{name}`; use one of {quoted(list_devices())}")
    file = DEVICES / f"{name}.yaml"
    shown = yaml_file.shown(file)
    with explained(shown, Device):
        device = Device.model_validate(yaml_file.read(file, shown, "DRAM device", "platforms/README.md"))
    if device.name != name:
        raise UserError(f"{shown}: name: `{device.name}` is not the name of the file; write `{name}`")
    return device
