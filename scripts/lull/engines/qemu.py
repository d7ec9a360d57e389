# SPDX-License-Identifier: BSD-3-Clause
"""QEMU: the functional engine. Virtual time counts executed instructions, so a run repeats to the byte.

Virtual time says nothing about timing: all CPUs share one instruction clock, and there are no caches.
"""

import shutil
import subprocess
import time
from pathlib import Path

from lull.artifacts import store
from lull.engines import bootargs, put
from lull.engines.base import Artifacts, Outcome, Sink, guest_at, guest_time, status_of, supervise
from lull.errors import UserError
from lull.host import process
from lull.host.progress import Progress
from lull.platform import devicetree
from lull.platform.network import MAC
from lull.rundir.folder import CONSOLE, CPUIDLE, FILES_TAR, PEER_STDOUT, STATUS, STDOUT, RunDir
from lull.runspec.spec import EngineName, Flavour, RunSpec

BINARY = "qemu-system-aarch64"
OLDEST = (7, 2)
BOOTARGS = "console=ttyAMA0 mitigations=off panic=-1"
SHORT_DELAYS = "lpj=25000"
"""Loops per jiffy, a tenth of the real ones: Linux's `udelay()` takes a tenth of its time. The driver e1000 reads the
card's EEPROM bit by bit with delays of 50 µs. QEMU's card needs no delays, and to emulate them took 80 % of a boot.
Still shorter delays would end Linux's wait for the other CPUs when it powers off, before they have stopped."""
ONE_CLOCK = ("-icount", "shift=0,sleep=off")
AT_ONCE = ("-accel", "tcg,thread=multi")
"""Each CPU has a thread of the host. Several CPUs execute the kernel at the same time, differently in each run."""
MACHINE = "virt,gic-version=3,secure=on,dtb-randomness=off"
"""`secure=on` gives the GIC two security states, although nothing here runs in secure state. With one security state,
Linux would switch interrupts off before every state that loses the core: it expects a power controller to wake the
core, which this machine lacks."""

_NETWORK = [
    word
    for slot, (part, mac) in enumerate(MAC.items(), start=1)
    for word in (
        "-netdev", f"hubport,id={part},hubid=0",
        "-device", f"e1000,netdev={part},mac={mac},addr={slot},romfile=",
    )
]  # fmt: skip
"""Two network cards on one hub, both in the same guest: one is the peer's. The hub has neither a rate nor a delay."""


class Qemu:
    name: EngineName = "qemu"

    def __init__(self, programs: Path | None = None) -> None:
        self.programs = programs
        found = shutil.which(BINARY)
        if found is None:
            raise UserError(f"{BINARY}: not found on PATH; install Debian's qemu-system-arm")
        self.path = Path(found)
        self.version = _version(self.path)

    def describe(self) -> dict[str, object]:
        return {"name": self.name, "version": self.version, "path": str(self.path)}

    def artifacts(self, flavour: Flavour) -> Artifacts:
        return Artifacts(store.build_kernel(flavour), store.build_rootfs(programs=self.programs), None)

    def run(self, spec: RunSpec, artifacts: Artifacts, rundir: RunDir, sink: Sink) -> Outcome:
        (rundir / "script").write_text(spec.script())
        dtb = rundir / "machine.dtb"
        network: devicetree.Part | None = "machine" if spec.peer is not None else None
        devicetree.compile(devicetree.render(spec.boot_platform(), "qemu", _bootargs(spec), None, network), dtb)
        started = time.monotonic()
        with (
            (rundir / "engine.log").open("wb") as log,
            put.initrd(spec, rundir, artifacts.rootfs.file("rootfs.cpio")) as initrd,
            Progress(f"run {spec.platform.name} on QEMU") as progress,
        ):
            child = process.start(self._command(spec, artifacts, initrd, dtb), cwd=rundir.path, stdout=log, stderr=log)
            status = supervise(child, rundir.path, spec.limits.wall_s, progress, sink, guest_at)
        if status != 0:
            said = (rundir / "engine.log").read_text(errors="replace").strip().splitlines()
            raise UserError(f"QEMU ended with status {status}: {said[-1] if said else 'no message'} (in {rundir.path})")
        virtual = guest_time(rundir.path)
        return Outcome(
            status=status_of(rundir, spec.limits.simulated_s),
            simulated_s=virtual,
            wall_s=time.monotonic() - started,
            instructions=None,
            details={
                "timing": "none: QEMU's clock counts "
                + ("the host's time" if spec.cpu == "parallel" else "instructions")
            },
        )

    def _command(self, spec: RunSpec, artifacts: Artifacts, initrd: Path, dtb: Path) -> list[str]:
        ports = {"lull.stdout": STDOUT, "lull.files": FILES_TAR, "lull.cpuidle": CPUIDLE, "lull.status": STATUS}
        if spec.peer is not None:
            ports["lull.peer"] = PEER_STDOUT
        serial = [
            word
            for number, (port, file) in enumerate(ports.items(), start=1)
            for word in (
                "-chardev", f"file,id=port{number},path={file}",
                "-device", f"virtserialport,chardev=port{number},name={port}",
            )
        ]  # fmt: skip
        return [
            str(self.path),
            "-machine", MACHINE,
            "-cpu", "cortex-a57",
            "-smp", str(spec.platform.cpu_count),
            "-m", f"{spec.platform.memory.size_mib}M",
            *(AT_ONCE if spec.cpu == "parallel" else ONE_CLOCK),
            "-rtc", "clock=vm,base=2026-01-01",
            "-seed", str(spec.seed),
            "-nodefaults", "-no-reboot",
            "-display", "none", "-monitor", "none", "-net", "none",
            "-serial", f"file:{CONSOLE}",
            "-global", "virtio-mmio.force-legacy=false",
            "-global", "virtio-mmio.ioeventfd=off",
            "-device", f"virtio-serial-device,max_ports={len(ports) + 1}",
            *serial,
            *(_NETWORK if spec.peer is not None else ()),
            "-fw_cfg", "name=opt/lull/script,file=script",
            "-kernel", str(artifacts.kernel.file("Image")),
            "-initrd", str(initrd),
            "-dtb", dtb.name,
            "-append", _bootargs(spec),
        ]  # fmt: skip


def _bootargs(spec: RunSpec) -> str:
    own = BOOTARGS if spec.peer is None else f"{BOOTARGS} {SHORT_DELAYS}"
    return bootargs.complete(own, spec.platform)


def _version(path: Path) -> str:
    shown = subprocess.run([str(path), "--version"], text=True, capture_output=True, check=False).stdout
    words = shown.split()
    text = words[words.index("version") + 1] if "version" in words else ""
    numbers = tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
    if numbers < OLDEST:
        raise UserError(
            f"{path}: QEMU {text or 'of unknown version'}; lull needs {'.'.join(map(str, OLDEST))} or newer"
        )
    return text
