# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a scenario's runs. It keeps finished points and runs the others.

Every point has its own RunDir. A finished run is kept if RunSpec, artifacts and engine are the same. Any other finished
run is replaced only if the user asks for that. A run that hung is kept as well, because it would hang again.
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NotRequired

from annotated_types import MinLen
from pydantic import AfterValidator, TypeAdapter, with_config

# pydantic takes TypedDict from here before Python 3.12.
from typing_extensions import TypedDict

from lull.engines.base import Artifacts, Engine
from lull.engines.execute import execute
from lull.errors import LimitReached, UserError
from lull.files import json_file, locks
from lull.files.claim import claim
from lull.host.progress import clock, report
from lull.rundir.folder import MANIFEST, RUN, STDOUT, RunDir
from lull.rundir.manifest import Manifest, makers
from lull.runspec.spec import Flavour, RunSpec
from lull.runspec.values import Value
from lull.scenario.points import Point

RECORD = "scenario.json"
FIGURES = "figures"
"""The subfolder for the output of `lull figures`."""
_LOCKS = ".locks"
_REMEDY = "run it again with another --out"
_HASH = re.compile(rb'\{\s*"hash": "([0-9a-f]{64})",')
RAN, KEPT, FAILED, HUNG = "ran", "kept", "failed", "hung"


def _inside(name: str) -> str:
    """Check the name of a point, which is also the path of its run below the folder."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError("leads out of the folder")
    return name


class RecordedPoint(TypedDict):
    """One point in the file RECORD."""

    name: Annotated[str, AfterValidator(_inside)]
    group: str
    values: dict[str, Value]
    hash: str


@with_config(json_file.OPEN)
class Record(TypedDict):
    """The content of the file RECORD."""

    scenario: str
    file: NotRequired[str | None]
    command: str
    engine: str
    cpu: str | None
    platform: str
    points: Annotated[list[RecordedPoint], MinLen(1)]


_RECORD = TypeAdapter(Record)


@dataclass(frozen=True)
class Done:
    """The outcome of a point. `how` is RAN, KEPT, FAILED or HUNG."""

    name: str
    how: str
    note: str = ""
    simulated_s: float | None = None
    wall_s: float | None = None
    instructions: int | None = None


class MadeOtherwise(UserError):
    """The folder has a finished run of this point, but with other settings, engine or artifacts."""


class ScenarioFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(
        cls, path: Path, scenario: str, command: str, points: Sequence[Point], file: str | None = None
    ) -> "ScenarioFolder":
        """Create or reuse the folder, and write the record of all points. A folder with other content is an error.

        `file` is the scenario's file if the scenario is not one of the project's.
        """
        sweep = cls(claim(path, RECORD, "a scenario's runs", "scenario", scenario))
        first = points[0].spec
        record = {
            "scenario": scenario,
            "file": file,
            "command": command,
            "engine": first.engine,
            "cpu": first.cpu,
            "platform": first.platform.name,
            "points": [
                {"name": point.name, "group": point.group, "values": dict(point.values), "hash": point.spec.hash()}
                for point in points
            ],
        }
        json_file.write(sweep.path / RECORD, record)
        return sweep

    @classmethod
    def open(cls, path: Path) -> "ScenarioFolder":
        if not (path / RECORD).is_file():
            raise UserError(f"{path}: not a folder of a scenario's runs ({RECORD} is missing); name one of `lull run`")
        return cls(path.resolve())

    def read(self) -> Record:
        return json_file.read_as(_RECORD, self.path / RECORD, _REMEDY)

    def scenario(self) -> str:
        """Return the scenario's name or file, as `load_scenario` takes it."""
        record = self.read()
        return record.get("file") or record["scenario"]

    def folder(self, point: str) -> Path:
        return self.path / point

    def lock(self, work: str) -> Path:
        """Return the lock file for a point, or for other work that only one command may do at a time."""
        return self.path / _LOCKS / work.replace("/", ".")


def refuse_others(out: Path, points: Sequence[Point], engine: Engine) -> None:
    """Raise MadeOtherwise if a finished point has other settings, engine or artifacts. Nothing is changed."""
    if (out / RECORD).is_file():
        made = made_of(engine, points[0].spec.flavour)
        for point in points:
            _kept(out / point.name, point, made)


def run_points(
    sweep: ScenarioFolder,
    points: Sequence[Point],
    engine: Engine,
    again: bool,
    say: Callable[[str], None] = report,
    renew: bool = False,
) -> list[Done]:
    """Run the points without a result, one after the other. A point that fails does not stop the others.

    With `again`, finished points run again, too. With `renew`, finished points run again if they were made with other
    settings, engine or artifacts. Points that another command is running are waited for at the end, so several commands
    share the work.
    """
    made = made_of(engine, points[0].spec.flavour)
    done: dict[str, Done] = {}
    took: list[float] = []

    def finish(point: Point) -> None:
        folder = sweep.folder(point.name)
        try:
            result = None if again else _kept(folder, point, made)
        except MadeOtherwise:
            if not renew:
                raise
            result = None
        if result is None:
            begun = time.monotonic()
            result = attempt(folder, point.name, point.spec, engine)
            took.append(time.monotonic() - begun)
        done[point.name] = result
        left = len(points) - len(done)
        estimate = f"; about {clock(sum(took) / len(took) * left)} left" if took and left else ""
        note = f": {result.note}" if result.note else ""
        say(f"{len(done)} of {len(points)}: {point.name} {result.how}{note}{estimate}")

    for point in points:
        with locks.if_free(sweep.lock(point.name)) as free:
            if free:
                finish(point)
    for point in points:
        if point.name not in done:
            with locks.exclusive(sweep.lock(point.name), _waiting(say, point.name)):
                finish(point)
    return [done[point.name] for point in points]


def _waiting(say: Callable[[str], None], name: str) -> Callable[[], None]:
    return lambda: say(f"{name}: another command is running it, waiting")


def attempt(folder: Path, name: str, spec: RunSpec, engine: Engine, artifacts: Artifacts | None = None) -> Done:
    """Run one point, and return its outcome. The files of an earlier run are removed."""
    _clear(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        rundir, outcome = execute(spec, engine, folder, lambda _: None, artifacts)
    except LimitReached as error:
        return Done(name, HUNG, str(error))
    except UserError as error:
        return Done(name, FAILED, str(error))
    if outcome.status != 0:
        said = (rundir / STDOUT).read_text(errors="replace").strip().rpartition("\n")[2]
        note = f"the guest's command ended with status {outcome.status} ({said or 'it said nothing'})"
        return Done(name, FAILED, note, outcome.simulated_s, outcome.wall_s)
    return Done(name, RAN, "", outcome.simulated_s, outcome.wall_s, outcome.instructions)


def _kept(folder: Path, point: Point, made: str) -> Done | None:
    """Return the outcome of this very point if it has finished or hung; None if it has to run.

    Raise MadeOtherwise for any other finished run: a mistyped option must not delete hours of simulation.
    """
    if (manifest := hung(folder)) and is_of(folder, point.spec.hash()) and _identity(manifest) == made:
        return Done(point.name, HUNG, manifest["error"])
    manifest = finished(folder)
    if manifest is None:
        return None
    if not is_of(folder, point.spec.hash()):
        what = "with other settings"
    elif _identity(manifest) != made:
        what = "with another engine, kernel, image or firmware"
    else:
        return Done(point.name, KEPT, "", manifest["simulated_s"], manifest["wall_s"])
    raise MadeOtherwise(f"{folder}: this point is finished, {what}; choose another --out, or --again to run it again")


def finished(folder: Path) -> Manifest | None:
    """Return the manifest of a run that finished with status 0; None for any other run."""
    manifest = _manifest(folder)
    return manifest if manifest and manifest["state"] == "finished" and manifest["status"] == 0 else None


def hung(folder: Path) -> Manifest | None:
    """Return the manifest of a run that a time limit ended; None for any other run."""
    manifest = _manifest(folder)
    return manifest if manifest and manifest["state"] == "hung" else None


def is_of(folder: Path, spec_hash: object) -> bool:
    """Return true if the run's RunSpec has this hash. Only the first bytes of the record are read if possible, because
    a sweep asks this for thousands of runs."""
    with (folder / RUN).open("rb") as file:
        if found := _HASH.match(file.read(128)):
            return found[1].decode() == spec_hash
    return RunDir.open(folder).read_json(RUN).get("hash") == spec_hash


def _manifest(folder: Path) -> Manifest | None:
    """Return a run's manifest; None if no run was begun, or if the manifest is damaged."""
    if not (folder / RUN).is_file() or not (folder / MANIFEST).is_file():
        return None
    try:
        return RunDir.open(folder).manifest()
    except UserError:
        return None


def made_of(engine: Engine, flavour: Flavour) -> str:
    return identity(engine.describe(), engine.artifacts(flavour).manifest())


def identity(engine: Mapping[str, object], artifacts: Mapping[str, Mapping[str, object]]) -> str:
    """Return, as one text, the engine and artifacts on which a result depends besides its RunSpec, without paths."""
    return json.dumps(list(makers(engine, artifacts).values()), sort_keys=True)


def _identity(manifest: Manifest) -> str:
    return identity(manifest["engine"], manifest["artifacts"])


def _clear(folder: Path) -> None:
    """Remove an earlier run from a folder; raise an error for a folder with other content. The manifest is removed
    first: a command killed meanwhile leaves no half of a finished run. The record is removed last: it marks a run."""
    if not folder.exists():
        return
    if not (folder / RUN).is_file() and any(not path.name.startswith(".") for path in folder.iterdir()):
        raise UserError(f"{folder}: not a run's folder; move it away, or choose another --out")
    for path in sorted(folder.iterdir(), key=lambda path: (path.name == RUN) - (path.name == MANIFEST)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
