# SPDX-License-Identifier: BSD-3-Clause
"""Loads a platform by name or file, and checks it."""

from collections.abc import Sequence
from functools import cache

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import explained, quoted
from lull.files.paths import ROOT
from lull.platform.accelerator import list_kernels, load_kernel
from lull.platform.cores import list_cores
from lull.platform.dram import list_devices, load_device
from lull.platform.network import PEER
from lull.platform.overrides import apply
from lull.platform.schema import BUS_BITS, Platform
from lull.platform.storage import list_storage, load_storage

PLATFORMS = ROOT / "platforms"


def list_platforms() -> list[str]:
    """Return the names of the platforms that come with the project."""
    return sorted(path.stem for path in PLATFORMS.glob("*.yaml"))


def load_platform(name_or_path: str, overrides: Sequence[str] = ()) -> Platform:
    """Return a platform by its name, or by its path: a text with a slash or the suffix .yaml is a path."""
    file = yaml_file.locate(name_or_path, "platform", PLATFORMS / f"{name_or_path}.yaml", list_platforms())
    shown = yaml_file.shown(file)
    data = apply(yaml_file.read(file, shown, "platform", "platforms/README.md"), overrides)
    with explained(shown, Platform):
        platform = Platform.model_validate(data)
    _check_cores(platform, shown)
    _check_memory(platform, shown)
    _check_devices(platform, shown)
    return platform


@cache
def load_peer() -> Platform:
    """Return the machine at the other end of a network on gem5. It is the same for all platforms."""
    return load_platform(str(PEER))


def _check_cores(platform: Platform, shown: str) -> None:
    clusters = [(f"clusters[{number}]", cluster) for number, cluster in enumerate(platform.clusters)]
    known = list_cores()
    for key, cluster in [*clusters, ("shadow.cluster", platform.shadow.cluster)]:
        if cluster.core not in known:
            raise UserError(f"{shown}: {key}.core: unknown core `{cluster.core}`; use one of {quoted(known)}")


def _check_memory(platform: Platform, shown: str) -> None:
    memory = platform.memory
    if memory.parts is None:
        return
    key, known = f"{shown}: memory.parts.device", list_devices()
    if memory.parts.device not in known:
        raise UserError(f"{key}: unknown DRAM device `{memory.parts.device}`; use one of {quoted(known)}")
    device = load_device(memory.parts.device)
    if device.kind != memory.kind:
        raise UserError(
            f"{key}: {device.name} has the timing of {device.kind}, and memory.kind is {memory.kind}; "
            "name a device of that kind"
        )
    if BUS_BITS[memory.kind] % device.bits:
        raise UserError(f"{key}: devices of {device.bits} bits do not fill {BUS_BITS[memory.kind]} bits; use others")
    have = memory.devices(device.bits) * device.mib
    if memory.size_mib > have:
        raise UserError(f"{shown}: memory.size_mib: {memory.size_mib}, and the parts hold {have}; set {have} or less")


def _check_devices(platform: Platform, shown: str) -> None:
    for number, name in enumerate(platform.devices.storage):
        if name not in list_storage():
            raise UserError(
                f"{shown}: devices.storage[{number}]: unknown storage device `{name}`; use one of "
                f"{quoted(list_storage())}"
            )
        load_storage(name)
    for number, name in enumerate(platform.devices.accelerator):
        if name not in list_kernels():
            raise UserError(
                f"{shown}: devices.accelerator[{number}]: unknown kernel of an accelerator `{name}`; use one of "
                f"{quoted(list_kernels())}"
            )
        load_kernel(name)
