# SPDX-License-Identifier: BSD-3-Clause
"""`lull doctor`: list the tools that lull needs, with the place, the version and the use of each."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import typer

from lull.artifacts import buildroot, debian, kernel
from lull.energy import mcpat_run
from lull.engines import gem5_binary
from lull.engines.qemu import Qemu
from lull.errors import UserError
from lull.files import paths


class Need(Enum):
    DEMO = "needed by `make demo`"
    OPTIONAL = "optional"


@dataclass(frozen=True)
class Finding:
    component: str
    need: Need
    found: str | None
    """The component's place and version; None when it is missing."""
    consequence: str
    """The consequence of a missing component, and what to do about it."""


TOOLS = {
    "aarch64-linux-gnu-gcc": (
        "gcc-aarch64-linux-gnu",
        "building the kernel, the firmware and guest programs",
    ),
    "dtc": ("device-tree-compiler", "every run: no device tree"),
    "make": ("make", "every build"),
    "bison": ("bison", "building the kernel"),
    "flex": ("flex", "building the kernel"),
    "bc": ("bc", "building the kernel"),
    "patch": ("patch", "building the kernel and the firmware"),
    "dpkg-source": ("dpkg-dev", "building the firmware"),
}
OPTIONAL_TOOLS = {
    "ccache": ("ccache", "nothing but quick rebuilds"),
    "shellcheck": ("shellcheck", "`make lint`"),
    "sbatch": ("slurm-client", "`lull sweep --executor slurm`"),
}


def doctor() -> None:
    """List the tools found on this machine, and the missing ones.

    For a missing tool, `lull doctor` says what does not work without it. The exit status is 0 if `make demo` can run.

    Example: lull doctor
    """
    findings = list(examine())
    width = max(len(finding.component) for finding in findings)
    for finding in findings:
        if finding.found:
            typer.echo(f"{finding.component:{width}}  {finding.found}")
        else:
            mark = "MISSING" if finding.need is Need.DEMO else "not found"
            typer.echo(f"{finding.component:{width}}  {mark}, which disables {finding.consequence}")
    lacking = [finding.component for finding in findings if finding.need is Need.DEMO and not finding.found]
    typer.echo("")
    if lacking:
        typer.echo(f"`make demo` cannot run: {', '.join(lacking)} missing")
        raise typer.Exit(1)
    typer.echo("`make demo` can run")


def examine() -> Iterator[Finding]:
    yield _try("QEMU", Need.DEMO, _qemu, "the qemu engine: apt-get install qemu-system-arm")
    yield _try("gem5", Need.OPTIONAL, _gem5, "the gem5 engine, so every number that is timing or energy")
    for tool, (package, use) in TOOLS.items():
        yield _tool(tool, package, use, Need.DEMO)
    yield _try("Debian archive", Need.DEMO, debian.mirror, "downloads; what the cache holds still works")
    yield _try("kernel source", Need.DEMO, _kernel_source, "building the kernel")
    yield _try("McPAT", Need.OPTIONAL, _mcpat, "regenerating power tables; the committed ones are used")
    use = "`lull build rootfs --from buildroot`; the Debian image is used"
    yield _try("Buildroot", Need.OPTIONAL, _buildroot, use)
    for tool, (package, use) in OPTIONAL_TOOLS.items():
        yield _tool(tool, package, use, Need.OPTIONAL)
    yield _try("cache", Need.DEMO, _cache, "every build: set LULL_CACHE to a folder that can be written")


def _try(component: str, need: Need, probe: Callable[[], str], consequence: str) -> Finding:
    try:
        return Finding(component, need, probe(), consequence)
    except UserError as error:
        return Finding(component, need, None, f"{consequence} ({error})")


def _tool(tool: str, package: str, use: str, need: Need) -> Finding:
    found = shutil.which(tool)
    version = _version(found) if found else None
    return Finding(tool, need, f"{found} ({version})" if found else None, f"{use}: apt-get install {package}")


def _version(path: str) -> str:
    try:
        result = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "no version"
    found = re.search(r"\d+(\.\d+)+", result.stdout + result.stderr)
    return found[0] if found else "no version"


def _qemu() -> str:
    qemu = Qemu()
    return f"{qemu.path} ({qemu.version})"


def _gem5() -> str:
    binary = gem5_binary.find()
    return f"{binary.path} ({binary.version}, ARM)"


def _kernel_source() -> str:
    chosen = os.environ.get("KERNEL_SRC")
    if not chosen:
        return f"Debian's {kernel.SOURCE_PACKAGE}, downloaded when needed"
    path = Path(chosen)
    if path.is_dir():
        return f"KERNEL_SRC={chosen} ({kernel.detect_version(path)})"
    if path.is_file():
        return f"KERNEL_SRC={chosen}"
    raise UserError(f"KERNEL_SRC={chosen}: does not exist; point it at a Linux 6.12 tree or tarball")


def _mcpat() -> str:
    return mcpat_run.find().path


def _buildroot() -> str:
    return str(buildroot.tree())


def _cache() -> str:
    place = paths.cache_dir()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{place}: {error.strerror}") from error
    if not os.access(place, os.W_OK):
        raise UserError(f"{place}: cannot be written")
    free = shutil.disk_usage(place).free // 2**20
    return f"{place} ({free} MiB free)"
