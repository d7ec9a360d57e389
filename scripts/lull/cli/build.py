# SPDX-License-Identifier: BSD-3-Clause
"""`lull build`: artifacts into the cache."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lull.artifacts import debian, store
from lull.artifacts.cache import Entry
from lull.artifacts.store import RootfsSource
from lull.cli.options import FlavourOption, Gem5Option
from lull.engines.gem5 import Gem5
from lull.host.progress import report
from lull.platform.load import load_platform

What = Literal["firmware", "kernel", "rootfs", "checkpoint", "all"]


def build(
    what: Annotated[What, typer.Argument(help="the artifact to build; `all` is firmware, kernel and rootfs")] = "all",
    platform: Annotated[
        str,
        typer.Option(
            "--platform",
            "-p",
            help="machine of the `checkpoint`; all other artifacts are the same for every platform",
            metavar="P",
        ),
    ] = "tiny",
    flavour: FlavourOption = "default",
    rootfs_from: Annotated[
        RootfsSource,
        typer.Option("--from", help="source of the root file system: Debian packages, or the tree in $BUILDROOT"),
    ] = "debian",
    gem5: Gem5Option = None,
    refresh: Annotated[bool, typer.Option(help="look for newer Debian packages first")] = False,
) -> None:
    """Build firmware, kernel, root file system or a checkpoint.

    The artifact is stored in the cache. An artifact that the cache already holds is not built again.

    Example: lull build kernel --flavour debug
    """
    if refresh:
        debian.renew()
    if what in ("firmware", "all"):
        _say("firmware", store.build_firmware())
    if what in ("kernel", "all"):
        _say("kernel", store.build_kernel(flavour))
    if what in ("rootfs", "all"):
        _say("rootfs", store.build_rootfs(rootfs_from))
    if what == "checkpoint":
        machine = load_platform(platform)
        engine = Gem5(gem5)
        _say("checkpoint", engine.checkpoint_of(machine, engine.artifacts(flavour)))


def _say(name: str, entry: Entry) -> None:
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 2**20:.1f} MiB" for path in _largest(entry.path))
    report(f"{name}: {entry.path} ({sizes})")


def _largest(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(files, key=lambda path: path.stat().st_size, reverse=True)[:3]
