# SPDX-License-Identifier: BSD-3-Clause
"""The finished runs of a scenario, as an analysis reads them."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull.errors import UserError
from lull.figures.origin import Origin
from lull.platform.schema import Cluster
from lull.rundir import FILES, RunDir
from lull.runspec import RunSpec
from lull.scenario.schema import Scenario, Value
from lull.scenario.sweep import Sweep, finished, hung, is_of


@dataclass(frozen=True)
class Run:
    """One finished point, or one that hung."""

    name: str
    group: str
    values: Mapping[str, Value]
    path: Path
    spec: RunSpec
    manifest: Mapping[str, Any]

    @property
    def made_by(self) -> dict[str, Any]:
        """Without the places of one machine."""
        return {
            "engine": {key: value for key, value in self.manifest["engine"].items() if key != "path"},
            "artifacts": {name: entry["key"] for name, entry in self.manifest["artifacts"].items()},
            "lull": [self.manifest["lull"]["commit"]],
            "host": self.manifest["host"],
        }

    def rundir(self) -> RunDir:
        return RunDir.open(self.path)

    def file(self, name: str) -> Path:
        path = self.path / FILES / name
        if not path.is_file():
            raise UserError(f"{path}: the guest left no such file; look into {self.path / 'console.log'}")
        return path

    def lines(self, name: str) -> list[dict[str, Any]]:
        """A file of JSON lines that the guest left, each an object."""
        path = self.file(name)
        try:
            found = [json.loads(line) for line in path.read_text().splitlines()]
        except (ValueError, RecursionError) as error:
            raise UserError(f"{path}: not lines of JSON ({error}); run the point again") from None
        for number, line in enumerate(found, start=1):
            if not isinstance(line, dict):
                raise UserError(
                    f"{path}: line {number}: JSON that is not an object; have the guest write names with its values, "
                    'as in {"x": 1}, or another name than .jsonl'
                )
        return found

    @contextmanager
    def understanding(self, name: str) -> Iterator[None]:
        """Around what takes a file's lines apart: lines of anything else are the user's to replace."""
        try:
            yield
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError) as error:
            raise UserError(
                f"{self.file(name)}: not what this scenario writes ({error!r}); run the point again"
            ) from None

    def cluster(self, cpu: int) -> Cluster:
        """That of a CPU, as it was in the run: settings and scales in place."""
        return self.spec.platform.resolved_clusters()[self.place_of(cpu)[0]]

    def cluster_of(self, cpu: int) -> str:
        """The name of a CPU's cluster, by the order in which clusters number theirs."""
        return self.place_of(cpu)[1]

    def place_of(self, cpu: int) -> tuple[int, str, int]:
        """Index and name of a CPU's cluster, and its number within."""
        for index, (cpus, cluster) in enumerate(self.spec.platform.cpu_ranges()):
            if cpu in cpus:
                return index, cluster.name, cpus.index(cpu)
        raise UserError(f"{self.path}: the guest names CPU {cpu}, which {self.spec.platform.name} does not have")


@dataclass(frozen=True)
class Runs:
    """All finished points of a sweep, in its order, and what became of the others."""

    path: Path
    scenario: str
    analysis: str
    title: str
    command: str
    engine: str
    cpu: str | None
    platform: str
    runs: tuple[Run, ...]
    missing: tuple[str, ...]
    hung: tuple[Run, ...]
    """Of the missing ones, those that a limit ended."""

    @property
    def origin(self) -> Origin:
        versions = (str(run.manifest["engine"]["version"]) for run in self.runs)
        return Origin(self.engine, ", ".join(dict.fromkeys(versions)), self.cpu, self.platform)

    @property
    def names(self) -> list[str]:
        """Of all points, whether they have finished or not."""
        return [*(run.name for run in self.runs), *self.missing]

    @property
    def timed(self) -> bool:
        return self.origin.timed

    @property
    def label(self) -> str:
        return self.origin.label

    def group(self, *names: str) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.group in names)

    @property
    def pieces(self) -> list[dict[str, Any]]:
        """What made the data: for each build, commit and host, which points. One, as a rule."""
        found: dict[str, dict[str, Any]] = {}
        for run in (*self.runs, *self.hung):
            made_by = run.made_by
            piece = found.setdefault(json.dumps(made_by, sort_keys=True), {**made_by, "points": []})
            piece["points"].append(run.name)
        return list(found.values())

    def manifest(self) -> dict[str, object]:
        """What was asked, of every point what became of it, and what made them."""
        return {
            "scenario": self.scenario,
            "analysis": self.analysis,
            "command": self.command,
            "platform": self.platform,
            "cpu": self.cpu,
            "pieces": self.pieces,
            "points": {
                run.name: {
                    "hash": run.spec.hash(),
                    "values": dict(run.values),
                    "simulated_s": run.manifest["simulated_s"],
                    "wall_s": run.manifest["wall_s"],
                    "instructions": run.manifest["instructions"],
                }
                for run in self.runs
            }
            | {run.name: {"hash": run.spec.hash(), "values": dict(run.values), "hung": True} for run in self.hung},
        }


def read(sweep: Sweep, scenario: Scenario) -> Runs:
    """Every point that has finished. Which ones have not is kept, and said."""
    record: dict[str, Any] = sweep.read()
    runs: list[Run] = []
    missing: list[str] = []
    stuck: list[Run] = []
    for point in record["points"]:
        folder = sweep.folder(point["name"])
        manifest = finished(folder)
        if manifest is None or not is_of(folder, point["hash"]):
            missing.append(point["name"])
            if (manifest := hung(folder)) and is_of(folder, point["hash"]):
                stuck.append(_run(point, folder, manifest))
            continue
        runs.append(_run(point, folder, manifest))
    if not runs:
        but = f", and {len(stuck)} hung, such as {stuck[0].name}" if stuck else ""
        raise UserError(f"{sweep.path}: none of its {len(missing)} points has finished{but}; run `{record['command']}`")
    return Runs(
        path=sweep.path,
        scenario=record["scenario"],
        analysis=scenario.analysis,
        title=scenario.title,
        command=record["command"],
        engine=record["engine"],
        cpu=record["cpu"],
        platform=", ".join(dict.fromkeys(run.spec.platform.name for run in runs)),
        runs=tuple(runs),
        missing=tuple(missing),
        hung=tuple(stuck),
    )


def _run(point: Mapping[str, Any], folder: Path, manifest: Mapping[str, Any]) -> Run:
    return Run(point["name"], point["group"], point["values"], folder, RunDir.open(folder).spec(), manifest)
