# SPDX-License-Identifier: BSD-3-Clause
"""Reads storage devices from platforms/storage, and defines their schema.

The guest's driver `lull-ssd` models a device: a request takes one of the device's channels for a time, and then the
link for its bytes. The link serves one request after the other.
"""

from typing import Annotated

from pydantic import Field

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained, quoted
from lull.files.paths import ROOT
from lull.platform.values import Name, Source

STORAGE = ROOT / "platforms" / "storage"

Nanoseconds = Annotated[int, Field(ge=0, le=1_000_000_000)]


class Operation(Block):
    ns: Nanoseconds
    """The time in a channel."""
    ns_per_kib: Annotated[int, Field(ge=0, le=1_000_000)]
    """The time on the link."""


class StorageDevice(Block):
    name: Name
    title: Annotated[str, Field(min_length=1, max_length=80)]
    read: Operation
    write: Operation
    flush_ns: Nanoseconds
    """The time of a flush, which makes all writes permanent."""
    jitter_permille: Annotated[int, Field(ge=0, le=1000)]
    """The largest random deviation of a channel's time, longer or shorter, evenly distributed."""
    channels: Annotated[int, Field(ge=1, le=64)]
    """The number of requests that are processed at the same time."""
    queue_depth: Annotated[int, Field(ge=1, le=256)]
    """The number of requests that the device accepts."""
    source: Source


def list_storage() -> list[str]:
    """Return the names of the devices that a platform may name."""
    return sorted(path.stem for path in STORAGE.glob("*.yaml"))


def load_storage(name: str) -> StorageDevice:
    """Return the device with this file name in platforms/storage."""
    if name not in list_storage():
        raise UserError(f"unknown storage device `{name}`; use one of {quoted(list_storage())}")
    file = STORAGE / f"{name}.yaml"
    shown = yaml_file.shown(file)
    with explained(shown, StorageDevice):
        device = StorageDevice.model_validate(yaml_file.read(file, shown, "storage device", "platforms/README.md"))
    if device.name != name:
        raise UserError(f"{shown}: name: `{device.name}` is not the name of the file; write `{name}`")
    return device
