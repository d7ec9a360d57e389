# SPDX-License-Identifier: BSD-3-Clause
"""Builds the call of Snakemake: the executor of its jobs, how many run at once, and a user's profile."""

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
"""The number of jobs that an executor with its own queue gets at once."""
SHARED_FILES_S = 60
"""Seconds until a file that another host has written must be visible here."""
SINGLE_MAX = 500
"""Up to this number of runs, each run has its own job. To start a job takes 0.8 s of processor time, to manage one more
run in a job 0.06 s."""
JOBS = 200
"""The largest number of jobs for more than SINGLE_MAX runs, unless more jobs run at once."""
OF_EXECUTOR = {
    # The plugin would prefer sacct, which never answers on a cluster without accounting.
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
    """The executor of Snakemake, and how many jobs run at once. The profile may set what is None."""

    executor: str | None = None
    jobs: int | None = None
    batch: int | None = None
    """Runs in a job; if not given, `batch_of` chooses."""
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
        """Return the number of runs in a job, for a number of missing runs.

        Up to SINGLE_MAX runs it is 1, so that a cluster schedules each run, and each run has its own log. More runs
        share jobs, because thousands of runs must be short ones. There are always enough jobs for `at_once`.
        """
        if self.batch:
            return self.batch
        if missing <= SINGLE_MAX:
            return 1
        return max(1, min(math.ceil(missing / JOBS), missing // self.at_once))

    def check(self) -> None:
        """Raise a UserError for an unknown executor or profile. Snakemake's own message is late and a page long."""
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
        """Return the command line for the workflow in the folder `place`."""
        words = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--directory", str(place)]
        words += ["--configfile", str(place / "plan.json"), "--keep-going", "--nolock", "--nocolor"]
        words += ["--scheduler", "greedy", "--rerun-triggers", "mtime"]
        if self.profile is not None:
            path = Path(self.profile)
            words += ["--profile", str(path.resolve()) if path.exists() else self.profile]
            words += ["--executor", self.executor] if self.executor else []
            # Snakemake uses --jobs or --cores, whichever the profile's executor needs.
            return [*words, *(["--jobs", str(self.jobs), "--cores", str(self.jobs)] if self.jobs else [])]
        if self._is_local:
            return [*words, "--executor", LOCAL, "--cores", str(self.at_once)]
        assert self.executor
        words += ["--executor", self.executor, "--jobs", str(self.at_once)]
        return [*words, "--latency-wait", str(SHARED_FILES_S), *OF_EXECUTOR.get(self.executor, [])]

    def list_jobs(self, place: Path) -> None:
        """Print the jobs as `snakemake --dry-run` lists them."""
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
