# SPDX-License-Identifier: BSD-3-Clause
"""One job of a sweep, in its own process: runs, one after the other, or the boot that several runs share.

The job file names the sweep's artifacts. A job does not look at their sources: that would take a second for each run,
and the sources may have changed since the sweep began.

The job file has JSON lines: engine and artifacts, then one line per run. The state file has JSON lines, too: one when a
run begins, and one when it has ended. So there is one file to watch for many runs.
"""

import json
import os
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lull.engines.base import Artifacts, Engine
from lull.engines.choose import choose
from lull.engines.gem5 import Gem5
from lull.errors import UserError
from lull.files import whole
from lull.runspec.spec import EngineName, RunSpec
from lull.scenario.folder import FAILED, KEPT, RAN, Done, attempt, finished, identity
from lull.sweep import joules
from lull.sweep.folder import SweepFolder

RUNNING = "running"

Model = TypeVar("Model", bound=BaseModel)


class Item(BaseModel):
    """One run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    spec: RunSpec


class Means(BaseModel):
    """The engine and artifacts of all runs of a sweep."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: EngineName
    gem5: str | None
    artifacts: Artifacts
    made_of: str
    """Engine and artifacts as one text. Only runs with the same text are comparable."""

    def choose(self) -> Engine:
        """Return the engine with which the sweep was planned. Raise a UserError if this host has another one."""
        engine = choose(self.engine, self.gem5)
        made = identity(engine.describe(), self.artifacts.manifest())
        if made != self.made_of:
            raise UserError(f"{engine.name} here is not what the sweep began with; start the sweep again")
        return engine


class Job:
    """A job file of the sweep's workflow. Its runs are read one by one, because there may be thousands."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.means = next(self._lines(Means, 0))

    def items(self) -> Iterator[Item]:
        return self._lines(Item, 1)

    @cached_property
    def engine(self) -> Engine:
        return self.means.choose()

    def _lines(self, kind: type[Model], begin: int) -> Iterator[Model]:
        try:
            with self._path.open("rb") as file:
                for number, line in enumerate(file):
                    if number >= begin:
                        yield kind.model_validate_json(line)
        except (OSError, ValidationError) as error:
            raise UserError(f"{self._path}: not a job of a sweep ({type(error).__name__}); use `lull sweep`") from error


def write(path: Path, means: Means, runs: Iterable[tuple[str, bytes]]) -> None:
    """Write a job file. A run is its key and the JSON of its spec."""
    with whole.written(path) as partial, partial.open("wb") as file:
        file.write(means.model_dump_json().encode() + b"\n")
        for key, spec in runs:
            file.write(b'{"key":%s,"spec":%s}\n' % (json.dumps(key).encode(), spec))


def boot(job: Job) -> None:
    """Boot the machine of the job's first run, and store the checkpoint for this and other runs."""
    assert isinstance(job.engine, Gem5)
    spec = next(job.items()).spec
    job.engine.checkpoint_of(spec.boot_platform(), job.means.artifacts, spec.peer is not None)


def run(job: Job, folder: SweepFolder, state: Path) -> Iterator[Done]:
    """Execute the runs of a job, and yield the outcome of each when it ends. The state file is written first. If a run
    fails, the next one begins. A run that another command has finished meanwhile is kept."""
    for item in job.items():
        with folder.locked_run(item.key):
            done = _run(job, item, folder.run_of(item.key), state)
        _tell(state, done)
        yield done


def _run(job: Job, item: Item, place: Path, state: Path) -> Done:
    if finished(place):
        done = Done(item.key, KEPT)
    else:
        _tell(state, Done(item.key, RUNNING))
        try:
            done = attempt(place, item.key, item.spec, job.engine, job.means.artifacts)
        except UserError as error:
            done = Done(item.key, FAILED, str(error))
        except Exception as error:  # a bug in lull: write the traceback to the log, and go on with the other runs
            traceback.print_exc()
            done = Done(item.key, FAILED, f"{type(error).__name__}: {error}")
    if done.how in (RAN, KEPT) and item.spec.cpu == joules.COUNTED:
        joules.account(place)
    return done


def _tell(state: Path, done: Done) -> None:
    """Append a line to the state file by one write, so that nobody reads half a line."""
    descriptor = os.open(state, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, json.dumps(asdict(done)).encode() + b"\n")
    finally:
        os.close(descriptor)
