# SPDX-License-Identifier: BSD-3-Clause
"""Measures the overhead of a sweep by its number of points, on an engine that does nothing (`nothing`).

Each point is a different machine, by the exit latency of C3, so that no point can reuse another's work. All restore the
same checkpoint, which exists already. A sweep is started, run to its end, started again, opened, and resumed with half
of its points removed.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from resource import struct_rusage

from lull.bench import child, nothing
from lull.errors import UserError
from lull.files import json_file, paths
from lull.host.progress import report
from lull.sweep import folder
from lull.sweep.table import TABLE

SHARED = ("debian", "firmware", "kernel", "rootfs")
LOOK_S = 0.02
_OPEN = """
from pathlib import Path
from lull.sweep import table
table.kept(table.read(Path(sys.argv[2])))
"""


@dataclass(frozen=True)
class ScaleTook:
    points: int
    jobs: int
    """The number of Snakemake's jobs."""
    wall_s: float
    processor_s: float
    peak_bytes: int
    """Peak memory of the largest process."""
    start_s: float
    """Seconds until the first run begins."""
    again_s: float
    """Seconds of the whole command if there is nothing to run, including the table."""
    open_s: float
    open_peak_bytes: int
    resume_s: float
    """Seconds until the first run begins, if half of the runs are missing."""


class Bench:
    def __init__(self, scratch: Path, at_once: int) -> None:
        self._scratch = scratch
        cache = scratch / "cache"
        cache.mkdir()
        for name in SHARED:
            (paths.cache_dir() / name).mkdir(parents=True, exist_ok=True)
            (cache / name).symlink_to(paths.cache_dir() / name)
        self._env = {**os.environ, "LULL_CACHE": str(cache), "GEM5": str(nothing.install(scratch))}
        self._at_once = at_once

    def warm(self) -> None:
        """Build what all sweeps share, and boot the machine once."""
        self._run(self._file(1))

    def measure(self, points: int) -> ScaleTook:
        file = self._file(points)
        out = self._out(file)
        begun = time.monotonic()
        started, usage = self._run(file)
        wall_s = time.monotonic() - begun
        report(f"{points} points: the first began after {started:.1f} s, the last ended after {wall_s:.0f} s")
        jobs = len(json_file.read(out / ".workflow" / "plan.json", "run the benchmark again", ["jobs"])["jobs"])
        begun = time.monotonic()
        self._run(file)
        again_s = time.monotonic() - begun
        opened = child.run(_OPEN, [out])
        if not (out / TABLE).is_file():
            raise UserError(f"{out}: a sweep left no table; run the benchmark again")
        for run in sorted((out / folder.POINTS).iterdir())[::2]:
            shutil.rmtree(run)
        resumed, _ = self._run(file, to_the_end=False)
        shutil.rmtree(out)
        return ScaleTook(
            points, jobs, wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, started, again_s,
            opened.wall_s, opened.peak_bytes, resumed,
        )  # fmt: skip

    def _file(self, points: int) -> Path:
        file = self._scratch / f"scale-{points}.yaml"
        values = [number + 1 for number in range(points)]
        file.write_text(
            f"scenario: wake-latency\npoints: [states/C3]\ncpu: atomic\ngrid: {{cstates.C3.exit_us: {values}}}\n"
        )
        return file

    def _out(self, file: Path) -> Path:
        return self._scratch / file.stem

    def _run(self, file: Path, to_the_end: bool = True) -> tuple[float, struct_rusage]:
        """Return the seconds until the first run began, and the resources that the whole command used."""
        out = self._out(file)
        runs = out / folder.POINTS
        before = _changed(runs)
        begun, started = time.monotonic(), 0.0
        words = ["sweep", str(file), "-e", "gem5", "-j", str(self._at_once), "--out", str(out)]
        log = self._scratch / "log"
        with log.open("wb") as stream:
            command = subprocess.Popen(
                [sys.executable, "-m", "lull", *words], env=self._env, stdout=stream, stderr=stream
            )
        while True:
            ended, status, usage = os.wait4(command.pid, os.WNOHANG)
            if not started and _changed(runs) != before:
                started = time.monotonic() - begun
                if not to_the_end:
                    command.send_signal(signal.SIGINT)
            if ended:
                break
            time.sleep(LOOK_S)
        command.returncode = os.waitstatus_to_exitcode(status)
        if command.returncode and to_the_end:
            raise UserError(f"`lull sweep` ended with status {command.returncode}: {log.read_text()[-500:].strip()}")
        return started, usage


def _changed(runs: Path) -> int:
    """Return the time at which a run last began in this folder; 0 if none did."""
    try:
        return runs.stat().st_mtime_ns
    except OSError:
        return 0
