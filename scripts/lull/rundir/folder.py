# SPDX-License-Identifier: BSD-3-Clause
"""The folder of one run: its RunSpec, its manifest, and its results."""

import json
import os
import platform as host_platform
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from lull import __version__
from lull.errors import UserError
from lull.files import digest, json_file, paths
from lull.files.claim import make
from lull.rundir import manifest
from lull.rundir.manifest import Manifest
from lull.runspec.spec import RunSpec

RUN = "run.json"
MANIFEST = "manifest.json"
CONSOLE = "console.log"
STDOUT = "stdout"
STATUS = "status"
PEER_STDOUT = "peer.stdout"
"""The output of the command at the network's other end."""
FILES = "files"
CPUIDLE = "cpuidle.jsonl"
FILES_TAR = "files.tar"
PUT = "put.tar"
"""The files that the user put into the guest."""
LEDGER = "energy.parquet"
STATS_TEXT = "stats.txt"
STATS_TABLE = "stats.parquet"
TRACE = "trace.dat"


class RunDir:
    """A run's folder. Its manifest exists from the start, with the state `running`.

    At the end, the state is `finished` (whatever the command's status), `hung` if a limit ended the run, or `failed`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, chosen: Path | None, spec: RunSpec) -> "RunDir":
        path = chosen or _new(Path("runs"), f"{spec.platform.name}-{spec.engine}")
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UserError(f"{path}: exists and is not an empty folder; choose another --out or remove it")
        make(path)
        run = cls(path.resolve())
        run.write_json(RUN, {"hash": spec.hash(), **spec.model_dump(mode="json")})
        return run

    @classmethod
    def open(cls, path: Path) -> "RunDir":
        if not (path / RUN).is_file() or not (path / MANIFEST).is_file():
            raise UserError(
                f"{path}: not a run's folder ({RUN} or {MANIFEST} is missing); name one made by `lull boot`"
            )
        return cls(path.resolve())

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def write_json(self, name: str, value: dict[str, object]) -> None:
        json_file.write(self.path / name, value)

    def read_json(self, name: str) -> dict[str, object]:
        return json_file.read(self.path / name, manifest.REMEDY)

    def manifest(self) -> Manifest:
        return manifest.read(self.path / MANIFEST)

    def spec(self) -> RunSpec:
        """Return the RunSpec as it was for the run. The platform's file may have changed since."""
        asked = self.read_json(RUN)
        asked.pop("hash", None)
        try:
            # As text again: only JSON's lists may become tuples of a strict model.
            return RunSpec.model_validate_json(json.dumps(asked))
        except ValidationError as error:
            raise UserError(f"{self.path / RUN}: of another version of lull; {manifest.REMEDY}") from error

    def begin(self, engine: Mapping[str, object], artifacts: Mapping[str, object]) -> None:
        self.write_json(MANIFEST, {**_environment(), "engine": engine, "artifacts": artifacts, "state": "running"})

    def finish(self, result: dict[str, object]) -> None:
        self.write_json(MANIFEST, {**self.read_json(MANIFEST), "state": "finished", **result})

    def guest_status(self) -> int | None:
        try:
            return int((self.path / STATUS).read_text())
        except (OSError, ValueError):
            return None

    def unpack_files(self) -> list[Path]:
        """Unpack the guest's /out into `files/`. If a killed guest left half a tar, unpack what it holds."""
        archive = self.path / FILES_TAR
        if not archive.is_file() or archive.stat().st_size == 0:
            archive.unlink(missing_ok=True)
            return []
        target = self.path / FILES
        target.mkdir(exist_ok=True)
        # GNU tar keeps every member, and every link that it follows, below the folder. The archive has no times, so
        # that it depends only on contents.
        unpacked = subprocess.run(
            ["tar", "-x", "--no-same-owner", "--touch", "-f", str(archive), "-C", str(target)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if unpacked.returncode:
            said = unpacked.stderr.strip().partition("\n")[0]
            raise UserError(f"{archive}: the guest's files cannot all be unpacked ({said}); see {self.path / CONSOLE}")
        archive.unlink()
        return sorted(path for path in target.rglob("*") if path.is_file())


def _new(folder: Path, name: str) -> Path:
    """Make a new folder, and return its path. Two commands in the same second get different folders."""
    make(folder)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = folder / f"{stamp}-{name}"
    number = 2
    while True:
        try:
            path.mkdir()
            return path
        except FileExistsError:
            path, number = folder / f"{stamp}-{name}-{number}", number + 1


def _environment() -> dict[str, object]:
    return {
        "lull": {"version": __version__, "commit": _commit(), "sources": sources()},
        "command": sys.argv,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "host": {
            "cpus": os.cpu_count(),
            "cpu": _cpu_model(),
            "system": host_platform.platform(),
            "python": host_platform.python_version(),
        },
    }


@cache
def _commit() -> str:
    """Return the checkout's commit, with a mark if files differ from it, at the time of this process's first run.

    Differences in results/ do not count, because runs do not depend on results.
    """
    git = ["git", "-C", str(paths.ROOT)]
    try:
        commit = subprocess.run([*git, "rev-parse", "HEAD"], text=True, capture_output=True, check=True).stdout.strip()
        others = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", ":(exclude)results"], check=False)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + ("-dirty" if others.returncode else "")


@cache
def sources() -> str:
    """Return a hash of lull's own Python, for checkouts without git."""
    package = paths.ROOT / "scripts" / "lull"
    return digest.of_files(package, (path for path in package.rglob("*") if path.suffix in (".py", ".j2")))


@cache
def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return host_platform.machine()
