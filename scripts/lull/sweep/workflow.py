# SPDX-License-Identifier: BSD-3-Clause
"""Runs the missing points of a sweep through Snakemake.

This module decides which runs are missing. Snakemake decides when and where they run. Snakemake's folder is made anew
for each call, because a killed call may leave a lock or a list of unfinished files.
"""

import math
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lull.artifacts import cache
from lull.engines.base import Engine
from lull.engines.gem5 import Gem5
from lull.errors import UserError
from lull.files import disk, json_file
from lull.host import process
from lull.host.progress import Progress
from lull.scenario.folder import FAILED, Done
from lull.sweep import job
from lull.sweep.expand import Planned
from lull.sweep.folder import SweepFolder, SweepPoint
from lull.sweep.job import RUNNING, Means
from lull.sweep.snakemake import How, write_top
from lull.sweep.tally import Tally

FOLDER = ".workflow"
"""The workflow's subfolder in the sweep's folder. The Snakefile names runs relative to this subfolder."""
LOG = "sweep.log"
LOGS = "logs"
STATE, BOOTED = "state", "booted"
LOOK_S = 0.3
SIMULATOR_MIB = 1024
"""MiB that gem5 needs besides the guest's memory. With eight detailed CPUs, 0.4 GB were measured."""
PATIENCE_S = 60.0
"""Seconds that Snakemake has to cancel jobs on a cluster."""
BEYOND_S = 60.0
"""The most seconds that a run takes besides its engine, including the account of its energy."""


@dataclass(frozen=True)
class SnakemakeJob:
    """A job of Snakemake."""

    name: str
    points: Sequence[Planned]
    boot: str | None
    """The key of the checkpoint that the job's runs wait for, if it has to be made."""

    @property
    def minutes(self) -> int | None:
        """Return the longest time for which a cluster must grant a job. None for a single run."""
        if len(self.points) == 1:
            return None
        seconds = sum(planned.wall_s + BEYOND_S for planned in self.points)
        return math.ceil(seconds / 60)


Known = Iterable[tuple[SweepPoint, float]]
"""Points that ended before, with the seconds that they simulated."""


def run(
    folder: SweepFolder, missing: Sequence[Planned], engine: Engine, means: Means, how: How, known: Known = ()
) -> dict[str, Done]:
    """Run all missing points, and return the outcome of each by key. A failed point does not stop the others."""
    place, log_file = folder.path / FOLDER, folder.path / LOG
    with disk.named_when_full(folder.path), log_file.open("ab") as log:
        batches = lay_out(folder, missing, engine, means, how)
        begin = log.tell()
        # SIGKILL, because after SIGTERM Snakemake would wait for the running jobs.
        child = process.start(how.words(place), dies_by=signal.SIGKILL, cwd=place, stdout=log, stderr=log)
        boots = [place / BOOTED / boot for boot in sorted({batch.boot for batch in batches if batch.boot})]
        tally = Tally(folder, place / STATE, [planned.entry for planned in missing], boots, known)
        try:
            with Progress(f"sweep on {engine.name}, {how.at_once} at once") as progress:
                while child.poll() is None:
                    now = time.monotonic()
                    tally.look(now)
                    progress.share, progress.left_s = tally.share(), tally.left_s(how.at_once)
                    progress.detail = tally.line(now)
                    progress.tick()
                    time.sleep(LOOK_S)
        finally:
            _end(child)
    tally.look(time.monotonic())
    if child.returncode and not tally.states and not boots:
        said = first_error(log_file, begin) or f"it ended with status {child.returncode}"
        raise UserError(f"Snakemake ran nothing: {said} (whole log: {log_file})")
    return {
        planned.entry.key: _fate(folder, planned.entry.key, batch, tally)
        for batch in batches
        for planned in batch.points
    }


def _fate(folder: SweepFolder, key: str, batch: SnakemakeJob, tally: Tally) -> Done:
    """Return the outcome of a run. If its job has not reported one, take the reason from the log."""
    done = tally.states.get(key)
    if done is None:
        log = folder.path / LOGS / (f"boot-{batch.boot}.log" if batch.boot else f"{batch.name}.log")
        what = "its boot" if batch.boot else "it" if len(batch.points) == 1 else f"its batch, {batch.name},"
        why = f"{what} failed: {first_error(log) or 'without a word'}" if log.exists() else ""
        return Done(key, FAILED, why or f"not begun ({folder.path / LOG} may say why)")
    if done.how == RUNNING:
        said = first_error(folder.path / LOGS / f"{batch.name}.log") or "without a word"
        return Done(key, FAILED, f"it was ended from outside: {said}")
    return done


def lay_out(
    folder: SweepFolder, missing: Sequence[Planned], engine: Engine, means: Means, how: How
) -> Sequence[SnakemakeJob]:
    """Write the files of the workflow, and return its jobs."""
    place = folder.path / FOLDER
    shutil.rmtree(place, ignore_errors=True)
    for name in ("jobs", STATE, "done", BOOTED, f"../{LOGS}"):
        (place / name).mkdir(parents=True, exist_ok=True)
    batches = batched(missing, engine, means, how.batch_of(len(missing)))
    for batch in batches:
        runs = ((planned.entry.key, planned.packed.json) for planned in batch.points)
        job.write(place / "jobs" / f"{batch.name}.jsonl", means, runs)
    plan = {
        "lull": f"{shlex.quote(sys.executable)} -m lull",
        "jobs": {batch.name: batch.boot for batch in batches},
        "boots": {batch.boot: batch.name for batch in batches if batch.boot},
        "minutes": {batch.name: batch.minutes for batch in batches if batch.minutes},
        "memory_mib": max(planned.memory_mib for planned in missing) + SIMULATOR_MIB,
    }
    json_file.write(place / "plan.json", plan)
    write_top(folder.path, FOLDER)
    return batches


def batched(missing: Sequence[Planned], engine: Engine, means: Means, size: int) -> list[SnakemakeJob]:
    """Return the jobs, each with up to `size` neighbouring runs that wait for the same boot."""
    boots: dict[str, str | None] = {}
    by_boot: dict[str | None, list[Planned]] = {}
    for planned in missing:
        if planned.machine not in boots:
            boots[planned.machine] = _missing_boot(engine, means, planned)
        by_boot.setdefault(boots[planned.machine], []).append(planned)
    found: list[SnakemakeJob] = []
    for boot, points in by_boot.items():
        for begin in range(0, len(points), size):
            part = points[begin : begin + size]
            name = part[0].entry.key if len(part) == 1 else f"batch-{len(found) + 1:04}"
            found.append(SnakemakeJob(name, part, boot))
    return found


def _missing_boot(engine: Engine, means: Means, planned: Planned) -> str | None:
    """Return the key of the checkpoint that a run restores, if the cache lacks it; else None."""
    if not isinstance(engine, Gem5):
        return None
    inputs = engine.checkpoint_inputs(planned.spec.boot_platform(), means.artifacts, planned.spec.peer is not None)
    return None if cache.find("checkpoint", inputs) else cache.key_of(inputs)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End Snakemake by SIGINT. Snakemake then cancels jobs on a cluster; local jobs end by the same signal."""
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE_S)
    process.stop(child)


def first_error(log: Path, offset: int = 0) -> str | None:
    try:
        with log.open("rb") as stream:
            stream.seek(offset)
            return process.first_error_line(stream.read().decode(errors="replace"))
    except OSError:
        return None
