# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a sweep: a record of all its points, and their runs, addressed by content.

A run is in `points/<key>`. The key is a hash of everything on which its result depends: RunSpec, engine, kernel, image
and firmware. So a sweep with more values, or with values in another order, reuses the runs of an earlier sweep, and no
run is ever taken for another.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

# pydantic takes TypedDict from here before Python 3.12.
from typing_extensions import TypedDict

from lull.errors import UserError
from lull.files import json_file, locks
from lull.files.claim import claim
from lull.host.progress import report
from lull.runspec.values import Value, text_of

RECORD = "sweep.json"
POINTS = "points"
LOCKS = ".locks"


@dataclass(frozen=True)
class SweepPoint:
    """One point in a sweep's record."""

    name: str
    """The scenario's name for the point: the group, and the values of its matrix."""
    group: str
    values: Mapping[str, Value]
    """Values of the scenario's parameters."""
    settings: Mapping[str, Value]
    """Values of the grid's settings, in its order."""
    seed: int
    hash: str
    """Hash of the RunSpec."""
    key: Annotated[str, Field(pattern=r"^[\w-]*$")] = ""
    """Hash of everything on which the result depends. It is the name of the run's folder."""

    @property
    def title(self) -> str:
        """Return the point's title. Only points that differ in nothing but the seed have the same title."""
        return " ".join([self.name, *(f"{key}={text_of(value)}" for key, value in self.settings.items())])

    @property
    def full_title(self) -> str:
        return f"{self.title} seed={self.seed}"


class SweepRecord(TypedDict):
    """The content of the file RECORD."""

    name: str
    scenario: str
    title: str
    command: str
    engine: str
    grid: dict[str, list[Value]]
    """Each key with its values."""
    seeds: int
    points: list[SweepPoint]


_RECORD = TypeAdapter(SweepRecord)


class SweepFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, name: str) -> "SweepFolder":
        """Create the folder, or reuse it if it is this sweep's. A folder with other content is an error."""
        return cls(claim(path, RECORD, "a sweep", "name", name))

    @classmethod
    def open(cls, path: Path) -> "SweepFolder":
        if not (path / RECORD).is_file():
            raise UserError(f"{path}: not a folder of a sweep ({RECORD} is missing); name one made by `lull sweep`")
        return cls(path.resolve())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the sweep's lock. Only one command at a time may decide which points are missing."""
        with locks.exclusive(
            self.path / LOCKS / "sweep", lambda: report(f"{self.path}: another command is running this sweep, waiting")
        ):
            yield

    @contextmanager
    def locked_run(self, key: str) -> Iterator[None]:
        """Hold the lock of a run. On a cluster, a run may go on after the command that started it has ended."""
        with locks.exclusive(self.path / LOCKS / key, lambda: report(f"{key}: another command is running it, waiting")):
            yield

    def record(self, about: Mapping[str, object], entries: Sequence[SweepPoint]) -> None:
        json_file.write(self.path / RECORD, {**about, "points": [vars(entry) for entry in entries]})

    def read(self) -> SweepRecord:
        return json_file.read_as(_RECORD, self.path / RECORD, "run the sweep again")

    def run_of(self, key: str) -> Path:
        return self.path / POINTS / key
