# SPDX-License-Identifier: BSD-3-Clause
"""The interface of an engine. An engine boots a RunSpec's artifacts, streams the guest's output, and applies limits."""

import re
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lull.artifacts import kernel
from lull.artifacts.cache import Entry
from lull.errors import LimitReached, UserError
from lull.host import process
from lull.host.progress import Progress
from lull.rundir.folder import CONSOLE, STDOUT, RunDir
from lull.runspec.spec import EngineName, Flavour, RunSpec

Sink = Callable[[bytes], None]

SCRIPT_TIMED_OUT = 124
STOPPED_AT_LIMIT = b"lull: the script was stopped at its limit"
"""The guest's init prints this as the last line of output when it ends a command at its limit of simulated time. The
exit status is not enough to recognise this, because a command may have the same status."""

_PRINTK_TIME = re.compile(rb"^\[ *(\d+\.\d{6})\]", re.MULTILINE)
_PANIC = re.compile(rb"Kernel panic - not syncing: (.*)")


@dataclass(frozen=True)
class Artifacts:
    kernel: Entry
    rootfs: Entry
    firmware: Entry | None
    """For gem5, which boots at EL3. QEMU needs none, because it implements PSCI itself."""

    def manifest(self) -> dict[str, dict[str, object]]:
        entries = {"kernel": self.kernel, "rootfs": self.rootfs, "firmware": self.firmware}
        found = {name: {"key": entry.key, **entry.inputs()} for name, entry in entries.items() if entry}
        governors = self.kernel.path / kernel.GOVERNORS_HASH
        if governors.is_file():  # kernels that were built earlier do not have it
            found["kernel"]["governors"] = governors.read_text(encoding="utf-8").strip()
        return found


@dataclass(frozen=True)
class Outcome:
    """The end of a run. `simulated_s` counts from the start of the stage that ran the command."""

    status: int
    simulated_s: float
    wall_s: float
    instructions: int | None
    details: dict[str, object]


class Engine(Protocol):
    name: EngineName

    def describe(self) -> dict[str, object]:
        """Return the engine's version and place, for the manifest."""

    def artifacts(self, flavour: Flavour) -> Artifacts:
        """Return all artifacts that a run needs. Build those that the cache lacks."""

    def run(self, spec: RunSpec, artifacts: Artifacts, rundir: RunDir, sink: Sink) -> Outcome:
        """Run the command, and pass the guest's output to `sink` while it is printed."""


def supervise(
    child: subprocess.Popen[bytes],
    rundir: Path,
    wall_s: float,
    progress: Progress,
    sink: Sink | None,
    how_far: Callable[[Path], str],
) -> int:
    """Wait for a simulator, streaming its guest's output. Return the simulator's exit status."""
    deadline = time.monotonic() + wall_s
    follow = _Follower(rundir / STDOUT, sink)
    try:
        while child.poll() is None:
            if time.monotonic() > deadline:
                process.stop(child)
                follow()
                raise LimitReached(
                    f"{rundir}: the run took longer than {wall_s:g} s of this machine's time and was stopped; "
                    "raise --wall-limit if that is what it needs"
                )
            if not follow():
                with suppress(subprocess.TimeoutExpired):  # wait only briefly at first: a run may end at once
                    child.wait(0.05)
            progress.detail = how_far(rundir)
            progress.tick()
    finally:
        process.stop(child)
    while follow():
        pass
    return child.returncode


def guest_time(rundir: Path) -> float:
    """Return the guest's clock at its last kernel message."""
    times = _PRINTK_TIME.findall(_tail(rundir / CONSOLE))
    return float(times[-1]) if times else 0.0


def guest_at(rundir: Path) -> str:
    """Return the guest's progress as text, from the time of its last kernel message."""
    return f"guest at {guest_time(rundir):.3f} s"


def guest_panic(rundir: Path) -> str | None:
    match = _PANIC.search(_tail(rundir / CONSOLE, 65536))
    return match.group(1).decode(errors="replace").strip() if match else None


def status_of(rundir: RunDir, limit_s: float) -> int:
    """Return the command's exit status. If there is none, raise a UserError that says why."""
    status = rundir.guest_status()
    if status is None:
        if panic := guest_panic(rundir.path):
            raise UserError(f"{rundir / CONSOLE}: the guest's kernel panicked ({panic}); the log has the trace")
        raise UserError(f"{rundir / CONSOLE}: the guest ended without a status; the log's last lines say why")
    last_line = _tail(rundir / STDOUT).rstrip().rpartition(b"\n")[2]
    if status == SCRIPT_TIMED_OUT and last_line.startswith(STOPPED_AT_LIMIT):
        raise LimitReached(
            f"{rundir.path}: the command did not end within {limit_s:g} simulated seconds and was stopped; "
            "raise --sim-limit if that is what it needs"
        )
    return status


def _tail(path: Path, size: int = 4096) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - size))
            return stream.read()
    except OSError:
        return b""


class _Follower:
    """Passes on what was appended to a file since the last call."""

    def __init__(self, path: Path, sink: Sink | None) -> None:
        self.path, self.sink, self.offset = path, sink, 0

    def __call__(self) -> bool:
        if self.sink is None:
            return False
        try:
            with self.path.open("rb") as stream:
                stream.seek(self.offset)
                data = stream.read(1 << 16)
        except OSError:
            return False
        if data:
            self.offset += len(data)
            self.sink(data)
        return bool(data)
