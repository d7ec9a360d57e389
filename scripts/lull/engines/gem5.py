# SPDX-License-Identifier: BSD-3-Clause
"""gem5: the engine for all timing and energy.

A machine boots once, with atomic CPUs, to a checkpoint in the cache. Every run restores the checkpoint, and continues
with the CPU models that the run asks for.
"""

import dataclasses
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from lull.artifacts import cache, store
from lull.artifacts import firmware as firmware_build
from lull.artifacts.cache import Entry
from lull.engines import bootargs, gem5_binary, gem5_network, gem5_settings, put
from lull.engines.base import Artifacts, Outcome, Sink, guest_at, guest_panic, status_of, supervise
from lull.engines.gem5_binary import Gem5Binary
from lull.errors import LimitReached, UserError
from lull.files import digest, disk, json_file, paths
from lull.host import process
from lull.host.progress import Progress
from lull.platform import devicetree, machine
from lull.platform.devicetree import Part
from lull.platform.load import load_peer
from lull.platform.schema import Platform
from lull.rundir.folder import CONSOLE, RunDir
from lull.runspec.spec import FORWARDED, EngineName, Flavour, RunSpec

CONFIGS = paths.ROOT / "gem5-configs"
RUN, FORWARD = CONFIGS / "run.py", CONFIGS / "forward.py"
ADDRESSES = {
    "firmware": firmware_build.LOAD_ADDRESS,
    "kernel": firmware_build.KERNEL_ADDRESS,
    "initrd": 0x88000000,
    "dtb": firmware_build.DTB_ADDRESS,
}
"""The address to which gem5 loads each file. The firmware is linked to its own address; it is built with the others."""

BOOTARGS = "console=ttyAMA0 mitigations=off clocksource.arm_arch_timer.evtstrm=0 panic=-1"
BOOT_LIMIT_S = 10.0
"""Simulated seconds that a boot may take; it takes about 0.1."""
BOOT_WALL_S = 3600.0
HANG_MARGIN_S = 1.0
"""Seconds past a command's limit after which the guest counts as hung. A guest that works ends the command at the
limit by itself."""
SETTINGS = "gem5.json"
OUTCOME = "outcome.json"
TERMINAL = "system.terminal"
"""gem5's name for the console's file."""
PEER_TERMINAL = "peer.terminal"
PEER_CONSOLE = "peer-console.log"
PEER_SCRIPT = "peer-script"
PROGRESS = "progress"
FORWARD_FOLDER = "fast-forward"
"""The subfolder of a run in which its beginning is simulated on atomic CPUs."""
PEER_READY = "peer.ready"
"""See `gem5-configs/run.py`."""
GUEST_FILES = ("stdout", "status", "peer.stdout", "peer.status")
"""Files that the guest's init keeps open while the command runs (`benchmarks/guest/end.c`)."""
UNUSED_UARTS = ("system.realview.uart*.device", "peer.realview.uart*.device")
"""Files that gem5 opens for the UARTs other than the console. Firmware that panics writes to one of them."""


class Gem5:
    name: EngineName = "gem5"

    def __init__(self, chosen: str | None = None, checkpoint: Path | None = None, programs: Path | None = None) -> None:
        self.binary: Gem5Binary = gem5_binary.find(chosen)
        self.checkpoint = checkpoint
        self.programs = programs
        self._image_bytes: dict[Entry, int] = {}
        self._machines: dict[str, str] = {}
        self._whole: set[Path] = set()
        """Three caches, for all runs of one command: sizes of images, hashes of machines, and checked checkpoints."""

    def describe(self) -> dict[str, object]:
        return {**gem5_binary.as_manifest(self.binary), "configs": self._configs}

    @cached_property
    def _configs(self) -> str:
        return configs()

    def artifacts(self, flavour: Flavour) -> Artifacts:
        return Artifacts(
            store.build_kernel(flavour), store.build_rootfs(programs=self.programs), store.build_firmware()
        )

    def run(self, spec: RunSpec, artifacts: Artifacts, rundir: RunDir, sink: Sink) -> Outcome:
        checkpoint = self.checkpoint_of(spec.boot_platform(), artifacts, spec.peer is not None)
        begin = self._with_trace(spec, checkpoint) if spec.starts_with_trace else checkpoint
        _copy_guest_files(begin.path, rundir.path)
        (rundir / "script").write_text(spec.script())
        peer_script = rundir / PEER_SCRIPT
        if spec.peer is not None:
            peer_script.write_text(spec.peer_script())
        limit_s = spec.limits.simulated_s + HANG_MARGIN_S
        settings = gem5_settings.to_run(spec.platform, spec.seed, spec.cpu, begin, limit_s, spec.stats_period_s)
        started = time.monotonic()
        what = f"run {spec.platform.name} on gem5 ({spec.cpu})"
        with (
            put.readfile(spec, rundir, rundir / "script") as readfile,
            put.readfile(spec, rundir, peer_script) as peer_readfile,
            Progress(what) as progress,
        ):
            settings["readfile"] = str(readfile)
            if spec.peer is not None:
                settings["network"] = gem5_network.describe(spec.platform.network, str(peer_readfile), {})
            with self._forwarded(settings, rundir, spec, progress) as forwarded:
                spent_s = time.monotonic() - started if forwarded else 0.0
                outcome = self._simulate(settings, rundir.path, spec.limits.wall_s - spent_s, progress, sink)
        if outcome["cause"] == "limit":
            raise LimitReached(
                f"{rundir / CONSOLE}: the guest hung past its limit of {spec.limits.simulated_s:g} simulated seconds "
                f"({guest_panic(rundir.path) or 'no panic'}); the log's last lines say where"
            )
        return Outcome(
            status=status_of(rundir, spec.limits.simulated_s),
            simulated_s=_number(outcome, "ticks") / _number(outcome, "tick_hz"),
            wall_s=time.monotonic() - started,
            instructions=int(_number(outcome, "instructions")),
            details={"checkpoint": checkpoint.key, **outcome, **forwarded},
        )

    @contextmanager
    def _forwarded(
        self, settings: dict[str, object], rundir: RunDir, spec: RunSpec, progress: Progress
    ) -> Iterator[dict[str, object]]:
        """Run the command's beginning on atomic CPUs in a subfolder, and make `settings` continue from its checkpoint.
        Yield the manifest's part about the fast-forward; empty without one. The checkpoint exists until the end."""
        if not spec.forwards:
            yield {}
            return
        folder = rundir / FORWARD_FOLDER
        folder.mkdir()
        if spec.peer is not None:
            (folder / PEER_READY).touch()  # since the boot
        place = folder / "cpt"
        try:
            atomic = {**settings, "cpu": "atomic", "stats_period_s": None}
            outcome = self._simulate(atomic, folder, spec.limits.wall_s, progress, None, FORWARD, str(place))
            if outcome["cause"] != "checkpoint":
                raise UserError(
                    f"{folder / CONSOLE}: the command ended, or its limit came, within its fast-forward of "
                    f"{spec.fast_forward_s:g} s; give a shorter fast-forward"
                )
            _copy_guest_files(folder, rundir.path)
            (folder / "readfile").write_text(FORWARDED + "\n")
            settings |= {"checkpoint": str(place), "readfile": str(folder / "readfile")}
            yield {"fast_forward": {name: outcome[name] for name in ("ticks", "instructions", "host_seconds")}}
        finally:
            shutil.rmtree(place, ignore_errors=True)
            for file in folder.iterdir():
                if file.name not in (SETTINGS, OUTCOME, CONSOLE, "engine.log"):
                    file.unlink()

    def _with_trace(self, spec: RunSpec, checkpoint: Entry) -> Entry:
        """Return a checkpoint in which tracing is already on. Make it from the machine's checkpoint if it is missing.

        To switch tracing on takes millions of instructions: the guest allocates buffers, and enables about a hundred
        events. Atomic CPUs simulate this several times as fast, and all points of a sweep share the checkpoint.
        """
        text = spec.start_script()
        inputs = {"checkpoint": checkpoint.key, "script": text, "forward": digest.of_file(FORWARD)}
        platform = spec.boot_platform()

        def start(out: Path, work: Path) -> None:
            shutil.rmtree(work)
            work.mkdir()
            (work / "script").write_text(text)
            settings = gem5_settings.to_run(platform, 1, "atomic", checkpoint, BOOT_LIMIT_S, None)
            settings["readfile"] = str(work / "script")
            if spec.peer is not None:
                (work / PEER_READY).touch()  # since the boot
                settings["network"] = gem5_network.describe(platform.network, "", {})
            with Progress(f"start the trace of {platform.name} on gem5, once") as progress:
                outcome = self._simulate(settings, work, BOOT_WALL_S, progress, None, FORWARD, str(out / "cpt"))
            if outcome["cause"] != "checkpoint":
                said = (work / "stdout").read_text(errors="replace").strip() if (work / "stdout").exists() else ""
                why = guest_panic(work) or said.rpartition("\n")[2] or f"it ended by {outcome['cause']}"
                raise UserError(f"{_kept(work)}: the trace of {platform.name} did not start ({why})")
            _copy_guest_files(work, out)
            shutil.copy2(work / OUTCOME, out / OUTCOME)

        return self._verified(cache.get("trace", inputs, start))

    def checkpoint_inputs(self, platform: Platform, artifacts: Artifacts, networked: bool = False) -> dict[str, object]:
        """Return all inputs of a boot. The checkpoint's key is made from them."""
        firmware = artifacts.firmware
        assert firmware is not None
        return {
            "gem5": dataclasses.asdict(self.binary) | {"path": ""},
            "firmware": firmware.key,
            "kernel": artifacts.kernel.key,
            "rootfs": artifacts.rootfs.key,
            "machine": self._machine(platform, artifacts, "machine" if networked else None),
            "configs": self._configs,
            **({"peer": self._peer(artifacts)} if networked else {}),
        }

    def _peer(self, artifacts: Artifacts) -> str:
        peer = load_peer()
        return digest.of_json([self._machine(peer, artifacts, "peer"), machine.describe(peer)])

    def _machine(self, platform: Platform, artifacts: Artifacts, network: Part | None) -> str:
        """Return a hash of the device tree and the addresses.

        Points of a sweep that differ only in actual latencies have the same hash: the device tree has no such latency.
        """
        platform = gem5_settings.without_actual(platform)
        key = digest.of_json([platform.model_dump(mode="json"), artifacts.rootfs.key, network])
        if key not in self._machines:
            self._machines[key] = digest.of_json([self._tree(platform, artifacts, network), ADDRESSES])
        return self._machines[key]

    def _tree(self, platform: Platform, artifacts: Artifacts, network: Part | None) -> str:
        size = self._image_bytes.get(artifacts.rootfs)
        if size is None:
            size = artifacts.rootfs.file("rootfs.cpio").stat().st_size
            self._image_bytes[artifacts.rootfs] = size
        arguments = bootargs.complete(BOOTARGS, platform)
        initrd = (ADDRESSES["initrd"], ADDRESSES["initrd"] + size)
        return devicetree.render(platform, "gem5", arguments, initrd, network)

    def checkpoint_of(self, platform: Platform, artifacts: Artifacts, networked: bool = False) -> Entry:
        """Return the checkpoint of the booted machine; boot the machine if the cache has none. A networked machine
        boots together with its peer.

        The checkpoint's key has only settings that can change a boot.
        """
        firmware = artifacts.firmware
        assert firmware is not None
        inputs = self.checkpoint_inputs(platform, artifacts, networked)
        if self.checkpoint:
            return self._verified(_opened(self.checkpoint, inputs))

        def boot(out: Path, work: Path) -> None:
            shutil.rmtree(work)
            work.mkdir()
            files = {
                "firmware": firmware.file("bl31.bin"),
                "kernel": artifacts.kernel.file("Image"),
                "initrd": artifacts.rootfs.file("rootfs.cpio"),
            }

            def load(name: str, platform: Platform, network: Part | None) -> dict[str, object]:
                devicetree.compile(self._tree(platform, artifacts, network), work / name)
                own = {**files, "dtb": work / name}
                return {name: {"path": str(path), "addr": ADDRESSES[name]} for name, path in own.items()}

            settings = {
                **gem5_settings.of_machine(platform, seed=1),
                "stage": "checkpoint",
                "cpu": "atomic",
                "checkpoint": str(out / "cpt"),
                "readfile": "",
                "limit_s": BOOT_LIMIT_S,
                "stats_period_s": None,
                "load": load("machine.dtb", platform, "machine" if networked else None),
            }
            if networked:
                peer = load("peer.dtb", load_peer(), "peer")
                settings["network"] = gem5_network.describe(platform.network, "", peer)
            try:
                with Progress(f"boot {platform.name} on gem5, once") as progress:
                    outcome = self._simulate(settings, work, BOOT_WALL_S, progress, None)
            except LimitReached as error:
                raise UserError(
                    f"{_kept(work)}: {platform.name} did not boot within {BOOT_WALL_S:g} s here; "
                    "run it on a machine that is less busy"
                ) from error
            if outcome["cause"] != "checkpoint":
                why = guest_panic(work) or f"it ended by {outcome['cause']}"
                raise UserError(f"{_kept(work)}: {platform.name} did not boot to its checkpoint ({why})")
            for name in (CONSOLE, OUTCOME, "machine.dtb"):
                shutil.copy2(work / name, out / name)

        return self._verified(cache.get("checkpoint", inputs, boot))

    def _verified(self, entry: Entry) -> Entry:
        """Check every byte of a checkpoint, once for all runs of one command: each check takes seconds."""
        if entry.path not in self._whole:
            for file in sorted((entry.path / "cpt").glob("*")):
                entry.file(str(file.relative_to(entry.path)))
            entry.file("cpt/m5.cpt")
            self._whole.add(entry.path)
        return entry

    def _simulate(
        self,
        settings: dict[str, object],
        folder: Path,
        wall_s: float,
        progress: Progress,
        sink: Sink | None,
        script: Path = RUN,
        *arguments: str,
    ) -> dict[str, object]:
        """Run one gem5 process in `folder`, by its settings, and return its outcome."""
        (folder / SETTINGS).write_text(json.dumps(settings, indent=1) + "\n")
        (folder / CONSOLE).symlink_to(TERMINAL)
        log_path = folder / "engine.log"
        with log_path.open("wb") as log:
            child = process.start(
                [self.binary.path, "-d", str(folder), str(script), str(folder / SETTINGS), *arguments],
                cwd=folder, stdout=log, stderr=log,
            )  # fmt: skip
            try:
                status = supervise(child, folder, wall_s, progress, sink, how_far)
            finally:
                (folder / PROGRESS).unlink(missing_ok=True)
                for terminal, console in ((TERMINAL, CONSOLE), (PEER_TERMINAL, PEER_CONSOLE)):
                    if (folder / terminal).exists():
                        (folder / terminal).replace(folder / console)
                for file in (file for pattern in UNUSED_UARTS for file in folder.glob(pattern)):
                    if file.stat().st_size == 0:
                        file.unlink()
        if status != 0:
            said = log_path.read_text(errors="replace").splitlines()
            ours = [line.removeprefix("lull-gem5: ") for line in said if line.startswith("lull-gem5: ")]
            theirs = [line for line in said if line.startswith(("fatal:", "panic:"))] or said[-1:]
            message = (ours or theirs or ["no message"])[0]
            if "No space left" in message:
                raise disk.full(folder)
            raise UserError(f"gem5 ended with status {status}: {message} (whole log: {_kept(folder) / 'engine.log'})")
        return json_file.read(folder / OUTCOME, "gem5 left no outcome, and engine.log there says why")


def configs() -> str:
    """Return the hash of gem5-configs/*.py, without the script that only a fast-forward runs."""
    return digest.of_files(CONFIGS, (path for path in CONFIGS.glob("*.py") if path != FORWARD))


def _copy_guest_files(begun: Path, folder: Path) -> None:
    """Copy the files that the guest wrote until a checkpoint. gem5 appends to them after it restores the checkpoint."""
    for name in GUEST_FILES:
        if (begun / name).exists():
            shutil.copy2(begun / name, folder / name)


def how_far(folder: Path) -> str:
    """Return the progress as text: gem5's simulated time, or before that the time of the guest's last message."""
    try:
        simulated_s, instructions = (folder / PROGRESS).read_text().split()
    except (OSError, ValueError):
        return guest_at(folder)
    return f"{float(simulated_s):.3f} s simulated, {int(instructions) / 1e6:.1f} M instructions"


def _number(outcome: dict[str, object], key: str) -> float:
    value = outcome[key]
    assert isinstance(value, int | float)
    return float(value)


def _opened(path: Path, inputs: dict[str, object]) -> Entry:
    """Return the checkpoint that the user names; raise a UserError for one of another machine."""
    entry = Entry("checkpoint", path.name, path.resolve())
    theirs = entry.inputs()
    for name, value in inputs.items():
        if theirs.get(name) != value:
            raise UserError(
                f"{path}: this checkpoint is of another {name} than this run's; "
                "drop --checkpoint and the run makes or finds its own"
            )
    return entry


def _kept(folder: Path) -> Path:
    """Copy a failed boot's folder to the logs, and return the copy. The next boot clears the original."""
    if paths.cache_dir() / "work" not in folder.parents:
        return folder
    kept = paths.cache_dir() / "logs" / folder.name
    shutil.rmtree(kept, ignore_errors=True)
    # Links are kept as links, because the console's may point to a file that gem5 never made.
    shutil.copytree(folder, kept, symlinks=True, ignore=shutil.ignore_patterns("cpt"))
    return kept
