# SPDX-License-Identifier: BSD-3-Clause
"""The call of Snakemake: where its jobs run, how many at once, and what a user's own profile says of that."""

import math
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lull.errors import UserError
from lull.files.blocks import quoted

SNAKEFILE = Path(__file__).with_name("Snakefile")
LOCAL = "local"
PLUGIN = "snakemake_executor_plugin_"
AT_ONCE_ELSEWHERE = 100
"""Jobs given at once to an executor that has its own queue."""
SHARED_FILES_S = 60
"""Seconds that a file written on another machine may take to be seen here."""
SINGLE_MAX = 500
"""Up to so many runs have a job each. The start of a job takes 0.8 s of a processor, the run's own part of a sweep
0.06 s."""
JOBS = 200
"""The largest number of jobs. More runs than that are put into jobs together."""
OF_EXECUTOR = {
    # sacct, its first choice, says nothing for ever where a cluster keeps no accounts.
    "slurm": ["--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "10"],
}
TOP = """\
# Made by `lull sweep`, for those who use Snakemake themselves: its jobs, as of the last call.
# Here, `snakemake -n` lists those that have not ended; `lull sweep` makes the list anew, and the table.
from pathlib import Path

HERE = Path(workflow.basedir) / "{folder}"


configfile: str(HERE / "plan.json")


workdir: str(HERE)


include: {snakefile!r}


rule all:
    input:
        rules.sweep.input,
"""


@dataclass(frozen=True)
class How:
    """The executor of Snakemake that runs the jobs, and how many at once. The profile may say what is None."""

    executor: str | None = None
    jobs: int | None = None
    batch: int | None = None
    """Runs in a job; by their number if not given."""
    profile: str | None = None

    @property
    def at_once(self) -> int:
        if self.jobs:
            return self.jobs
        return _processors() if self._is_local else AT_ONCE_ELSEWHERE

    @property
    def _is_local(self) -> bool:
        return self.executor == LOCAL or (self.executor is None and self.profile is None)

    def batch_of(self, missing: int) -> int:
        """Return the number of runs in a job. Up to SINGLE_MAX runs it is one, so that a cluster schedules each run
        and a log is of one run. More runs share jobs: where there are thousands, no run can be long. No lane of
        those at once is left without a job for that."""
        if self.batch:
            return self.batch
        if missing <= SINGLE_MAX:
            return 1
        return max(1, min(math.ceil(missing / JOBS), missing // self.at_once))

    def check(self) -> None:
        """Snakemake would tell it in a page, after a while."""
        found = [module.name for module in pkgutil.iter_modules() if module.name.startswith(PLUGIN)]
        names = [LOCAL, *(name.removeprefix(PLUGIN).replace("_", "-") for name in found if "jobstep" not in name)]
        if self.executor is not None and self.executor not in names:
            raise UserError(
                f"--executor {self.executor}: Snakemake has no such executor here; use {quoted(names)}, "
                f"or install snakemake-executor-plugin-{self.executor} into .venv"
            )
        if self.profile is not None and not any(map(_is_profile, _places(self.profile))):
            raise UserError(
                f"--profile {self.profile}: no folder with a config.yaml; give its path, "
                "or its name in ~/.config/snakemake"
            )

    def words(self, place: Path) -> list[str]:
        """The command for a workflow that was laid out there."""
        words = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--directory", str(place)]
        words += ["--configfile", str(place / "plan.json"), "--keep-going", "--nolock", "--nocolor"]
        words += ["--scheduler", "greedy", "--rerun-triggers", "mtime"]
        if self.profile is not None:
            path = Path(self.profile)
            words += ["--profile", str(path.resolve()) if path.exists() else self.profile]
            words += ["--executor", self.executor] if self.executor else []
            # Of the two, Snakemake takes the one that the profile's executor has a use for.
            return [*words, *(["--jobs", str(self.jobs), "--cores", str(self.jobs)] if self.jobs else [])]
        if self._is_local:
            return [*words, "--executor", LOCAL, "--cores", str(self.at_once)]
        assert self.executor
        words += ["--executor", self.executor, "--jobs", str(self.at_once)]
        return [*words, "--latency-wait", str(SHARED_FILES_S), *OF_EXECUTOR.get(self.executor, [])]

    def list_jobs(self, place: Path) -> None:
        """Print what Snakemake would do, in its own words."""
        words = [*self.words(place), "--dry-run", "--quiet", "host", "reason"]
        listed = subprocess.run(words, cwd=place, text=True, capture_output=True, check=False)
        if listed.returncode:
            said = (listed.stderr.strip() or listed.stdout.strip() or "nothing").splitlines()
            raise UserError(f"Snakemake's dry run ended with status {listed.returncode}: {said[-1]}")
        sys.stdout.write(listed.stdout or listed.stderr)


def write_top(sweep: Path, folder: str) -> None:
    """Write the Snakefile where Snakemake looks for one."""
    (sweep / "Snakefile").write_text(TOP.format(folder=folder, snakefile=str(SNAKEFILE)), encoding="utf-8")


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _places(profile: str) -> Iterator[Path]:
    """Yield the places where Snakemake looks for a profile."""
    yield Path(profile)
    if "/" not in profile:
        for base in (os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config"), "/etc/xdg"):
            yield Path(base) / "snakemake" / profile


def _is_profile(path: Path) -> bool:
    return path.is_file() or any(path.glob("config*.yaml")) or any(path.glob("profile*.yaml"))
