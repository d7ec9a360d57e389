# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a scenario's runs: what belongs in it, what is there already, and running the rest.

Every point has its RunDir. A finished one is kept when it is of the same spec, made of the same artifacts by the same
engine; anything else that finished is never replaced unasked. A point that hung would do so again, and is kept too.
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
"""Below the folder, what `lull figures` makes of all points."""
_LOCKS = ".locks"
_REMEDY = "run it again with another --out"
_HASH = re.compile(rb'\{\s*"hash": "([0-9a-f]{64})",')
RAN, KEPT, FAILED, HUNG = "ran", "kept", "failed", "hung"


def _inside(name: str) -> str:
    """A point's name is the place of its run below the folder."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError("leads out of the folder")
    return name


class RecordedPoint(TypedDict):
    """A point of the record."""

    name: Annotated[str, AfterValidator(_inside)]
    group: str
    values: dict[str, Value]
    hash: str


@with_config(json_file.OPEN)
class Record(TypedDict):
    """The file RECORD."""

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
    """A point is finished, and is not the one that is asked for."""


class ScenarioFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(
        cls, path: Path, scenario: str, command: str, points: Sequence[Point], file: str | None = None
    ) -> "ScenarioFolder":
        """The folder, with the record of all its points. One that holds something else is left alone.

        `file` is of a scenario that is none of the project's.
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
        """A lock for a point, or for something else that one command does at a time."""
        return self.path / _LOCKS / work.replace("/", ".")


def refuse_others(out: Path, points: Sequence[Point], engine: Engine) -> None:
    """Raise an error for finished points of other settings, before anything changes.

    Such points are neither taken for ours nor replaced by ours.
    """
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
    """Run what is not there yet, one after the other. A point that fails does not stop the others.

    With `again`, what is there is run as well; with `renew`, what is there and is not the one that is asked for. What
    another command is running comes last: by then it is there, and several commands have shared the work.
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
    """One run, in place of whatever an earlier one left."""
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
    """The finished run of this very point, if there is one, or the one that hung.

    A finished run of anything else is hours of simulation, which an option typed differently must not throw away.
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
    """The manifest of a run that ended well."""
    manifest = _manifest(folder)
    return manifest if manifest and manifest["state"] == "finished" and manifest["status"] == 0 else None


def hung(folder: Path) -> Manifest | None:
    """Return the manifest of a run that a limit ended."""
    manifest = _manifest(folder)
    return manifest if manifest and manifest["state"] == "hung" else None


def is_of(folder: Path, spec_hash: object) -> bool:
    """Return true if the run has this hash. The first bytes of the record tell fast: a sweep asks this of thousands
    of runs."""
    with (folder / RUN).open("rb") as file:
        if found := _HASH.match(file.read(128)):
            return found[1].decode() == spec_hash
    return RunDir.open(folder).read_json(RUN).get("hash") == spec_hash


def _manifest(folder: Path) -> Manifest | None:
    """Return a run's manifest; None where no run was begun, or where its manifest is damaged."""
    if not (folder / RUN).is_file() or not (folder / MANIFEST).is_file():
        return None
    try:
        return RunDir.open(folder).manifest()
    except UserError:
        return None


def made_of(engine: Engine, flavour: Flavour) -> str:
    return identity(engine.describe(), engine.artifacts(flavour).manifest())


def identity(engine: Mapping[str, object], artifacts: Mapping[str, Mapping[str, object]]) -> str:
    """The engine and artifacts that a result depends on besides its spec, without their paths."""
    return json.dumps(list(makers(engine, artifacts).values()), sort_keys=True)


def _identity(manifest: Manifest) -> str:
    return identity(manifest["engine"], manifest["artifacts"])


def _clear(folder: Path) -> None:
    """Make room for a run. Only what a run left is removed. Its manifest goes first, so that no killed command leaves
    half of a finished run. Its record goes last, because without it nobody knows that a run was here."""
    if not folder.exists():
        return
    if not (folder / RUN).is_file() and any(not path.name.startswith(".") for path in folder.iterdir()):
        raise UserError(f"{folder}: not a run's folder; move it away, or choose another --out")
    for path in sorted(folder.iterdir(), key=lambda path: (path.name == RUN) - (path.name == MANIFEST)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
