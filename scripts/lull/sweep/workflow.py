# SPDX-License-Identifier: BSD-3-Clause
"""The missing runs of a sweep, through Snakemake.

Snakemake decides what runs when and where; what is missing is decided here, from the runs. Its folder is made anew for
each call, so that nothing of a call that was killed (a lock, a list of unfinished files) can be in the way.
"""

import os
import pkgutil
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lull.artifacts import cache
from lull.engines.base import Artifacts, Engine
from lull.engines.gem5 import Gem5
from lull.errors import UserError
from lull.files import disk, json_file
from lull.files.blocks import quoted
from lull.host import process
from lull.host.progress import Progress
from lull.scenario.folder import FAILED, Done
from lull.sweep.expand import Planned
from lull.sweep.folder import SweepFolder
from lull.sweep.job import RUNNING, Job
from lull.sweep.tally import Tally

FOLDER = ".workflow"
"""In the sweep's. Runs are named relative to it in the Snakefile."""
SNAKEFILE = Path(__file__).with_name("Snakefile")
LOG = "sweep.log"
LOGS = "logs"
STATE, BOOTED = "state", "booted"
LOCAL = "local"
PLUGIN = "snakemake_executor_plugin_"
LOOK_S = 0.3
SIMULATOR_MIB = 1024
"""What gem5 takes beside the guest's memory: 0.4 GB were seen with eight detailed CPUs."""
PATIENCE_S = 60.0
"""For Snakemake to cancel what it has given to others."""
SHARED_FILES_S = 60
"""That a file written on another machine may take to be seen here."""
OF_EXECUTOR = {
    # sacct, its first choice, says nothing for ever where a cluster keeps no accounts.
    "slurm": ["--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "10"],
}


@dataclass(frozen=True)
class How:
    """Where runs go: to an executor of Snakemake's, so many at once."""

    executor: str
    jobs: int

    def check(self) -> None:
        """Snakemake would tell it in a page, after a while."""
        found = [module.name for module in pkgutil.iter_modules() if module.name.startswith(PLUGIN)]
        names = [LOCAL, *(name.removeprefix(PLUGIN).replace("_", "-") for name in found if "jobstep" not in name)]
        if self.executor not in names:
            raise UserError(
                f"--executor {self.executor}: Snakemake has no such executor here; use {quoted(names)}, "
                f"or install snakemake-executor-plugin-{self.executor} into .venv"
            )


@dataclass(frozen=True)
class Means:
    """What all runs of a sweep are made with."""

    engine: Engine
    artifacts: Artifacts
    made_of: str
    """The same as a word, which says whether two results are comparable."""


def run(folder: SweepFolder, missing: Sequence[Planned], means: Means, how: How) -> dict[str, Done]:
    """All that is missing, whatever becomes of each: that is the answer, by key."""
    place, log_file = folder.path / FOLDER, folder.path / LOG
    with disk.named_when_full(folder.path), log_file.open("ab") as log:
        waits = _lay_out(place, missing, means)
        begin = log.tell()
        child = _start(place, how, log.fileno())
        boots = [place / BOOTED / boot for boot in sorted(set(waits.values()))]
        tally = Tally(folder, place / STATE, [planned.entry.key for planned in missing], boots)
        try:
            with Progress(f"sweep on {means.engine.name}, {how.jobs} at once", total=len(missing)) as progress:
                while child.poll() is None:
                    now = time.monotonic()
                    tally.look(now)
                    progress.done = tally.ended
                    progress.detail = tally.line(now)
                    progress.tick()
                    time.sleep(LOOK_S)
        finally:
            _end(child)
    tally.look(time.monotonic())
    if child.returncode and not tally.states and not waits:
        said = first_error(log_file, begin) or f"it ended with status {child.returncode}"
        raise UserError(f"Snakemake ran nothing: {said} (whole log: {log_file})")
    return {planned.entry.key: _fate(folder, planned.entry.key, tally, waits) for planned in missing}


def _fate(folder: SweepFolder, key: str, tally: Tally, waits: Mapping[str, str]) -> Done:
    """What became of a run that was missing; of one that ended without a word, what its log says."""
    done = tally.states.get(key)
    if done is None:
        boot = waits.get(key)
        log = folder.path / LOGS / (f"boot-{boot}.log" if boot else f"{key}.log")
        why = f"{'its boot' if boot else 'it'} failed: {first_error(log) or 'without a word'}" if log.exists() else ""
        return Done(key, FAILED, why or f"not begun ({folder.path / LOG} may say why)")
    if done.how == RUNNING:
        said = first_error(folder.path / LOGS / f"{key}.log") or "without a word"
        return Done(key, FAILED, f"it was ended from outside: {said}")
    return done


def _lay_out(place: Path, missing: Sequence[Planned], means: Means) -> dict[str, str]:
    """The files of the workflow. The result is the boot that each run has to wait for, if there is one."""
    shutil.rmtree(place, ignore_errors=True)
    for name in ("jobs", STATE, "done", BOOTED, f"../{LOGS}"):
        (place / name).mkdir(parents=True, exist_ok=True)
    gem5 = means.engine.binary.path if isinstance(means.engine, Gem5) else None
    waits: dict[str, str] = {}
    for planned in missing:
        key = planned.entry.key
        job = Job(key=key, spec=planned.spec, made_of=means.made_of, artifacts=means.artifacts, gem5=gem5)
        job.write(place / "jobs" / f"{key}.json")
        if boot := _missing_boot(means, planned):
            waits[key] = boot
    largest = max(planned.spec.platform.memory.size_mib for planned in missing)
    plan = {
        "lull": f"{shlex.quote(sys.executable)} -m lull",
        "runs": {planned.entry.key: waits.get(planned.entry.key) for planned in missing},
        "boots": {boot: key for key, boot in waits.items()},
        "memory_mib": largest + SIMULATOR_MIB,
    }
    json_file.write(place / "plan.json", plan)
    return waits


def _missing_boot(means: Means, planned: Planned) -> str | None:
    """The key of the checkpoint that a run restores, if it is not there."""
    if not isinstance(means.engine, Gem5):
        return None
    inputs = means.engine.checkpoint_inputs(planned.spec.boot_platform(), means.artifacts)
    return None if cache.find("checkpoint", inputs) else cache.key_of(inputs)


def _start(place: Path, how: How, log: int) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--directory", str(place)]
    words += ["--configfile", str(place / "plan.json"), "--keep-going", "--nolock", "--nocolor"]
    words += ["--scheduler", "greedy", "--rerun-triggers", "mtime", "--executor", how.executor]
    if how.executor == LOCAL:
        words += ["--cores", str(how.jobs)]
    else:
        words += ["--jobs", str(how.jobs), "--latency-wait", str(SHARED_FILES_S), *OF_EXECUTOR.get(how.executor, [])]
    # On SIGTERM it would wait for what runs.
    return process.start(words, dies_by=signal.SIGKILL, cwd=place, stdout=log, stderr=log)


def _end(child: subprocess.Popen[bytes]) -> None:
    """After an interrupt Snakemake cancels what it gave to others, and its own jobs end by the same signal."""
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
