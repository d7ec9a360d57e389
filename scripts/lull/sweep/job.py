# SPDX-License-Identifier: BSD-3-Clause
"""One job of a sweep, in a process of its own: a run, or the boot that several runs share.

It is told the artifacts of the sweep and asks nothing of their sources: that takes a second for each run, and they may
have changed since the sweep began.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lull.engines.base import Artifacts, Engine
from lull.engines.choose import choose
from lull.engines.gem5 import Gem5
from lull.errors import UserError
from lull.files import json_file
from lull.runspec.spec import RunSpec
from lull.scenario.folder import FAILED, KEPT, RAN, Done, attempt, finished, identity
from lull.sweep import joules
from lull.sweep.folder import SweepFolder

RUNNING = "running"


class Job(BaseModel):
    """A file in the sweep's workflow, for each run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    spec: RunSpec
    made_of: str
    artifacts: Artifacts
    gem5: str | None

    def write(self, path: Path) -> None:
        json_file.write(path, self.model_dump(mode="json"))

    def engine(self) -> Engine:
        """The one that the sweep was planned with: a node that finds another one must not answer for it."""
        engine = choose(self.spec.engine, self.gem5)
        made = identity({"engine": engine.describe(), "artifacts": self.artifacts.manifest()})
        if made != self.made_of:
            raise UserError(f"{engine.name} here is not what the sweep began with; start the sweep again")
        return engine


def read(path: Path) -> Job:
    try:
        return Job.model_validate_json(path.read_text())
    except (OSError, ValidationError) as error:
        raise UserError(f"{path}: not a job of a sweep ({type(error).__name__}); use `lull sweep`") from error


def boot(job: Job) -> None:
    """To the checkpoint that the run, and others, will restore."""
    engine = job.engine()
    assert isinstance(engine, Gem5)
    engine.checkpoint_of(job.spec.boot_platform(), job.artifacts)


def run(job: Job, folder: SweepFolder, state: Path) -> Done:
    """The run, unless another command finished it meanwhile; `state` says how far it is."""
    place = folder.run_of(job.key)
    with folder.locked_run(job.key):
        if finished(place):
            done = Done(job.key, KEPT)
        else:
            _tell(state, Done(job.key, RUNNING))
            try:
                done = attempt(place, job.key, job.spec, job.engine(), job.artifacts)
            except UserError as error:
                done = Done(job.key, FAILED, str(error))
        if done.how in (RAN, KEPT):
            joules.account(place)
    _tell(state, done)
    return done


def _tell(state: Path, done: Done) -> None:
    json_file.write(state, vars(done))
