# SPDX-License-Identifier: BSD-3-Clause
"""The finished runs of a scenario, as an analysis reads them."""

import json
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from lull.errors import UserError
from lull.rundir.folder import RunDir
from lull.rundir.manifest import Manifest
from lull.rundir.origin import Origin
from lull.rundir.run import Run
from lull.scenario import experiments
from lull.scenario.folder import RecordedPoint, ScenarioFolder, finished, hung, is_of
from lull.scenario.schema import Scenario


@dataclass(frozen=True)
class Runs:
    """The finished points of a scenario's folder, in its order, and the names of the others."""

    path: Path
    scenario: str
    experiment: Path
    """The folder that the analysis is in."""
    title: str
    command: str
    engine: str
    cpu: str | None
    platform: str
    runs: tuple[Run, ...]
    missing: tuple[str, ...]
    hung: tuple[Run, ...]
    """The missing points that a limit ended."""

    @property
    def analysis(self) -> ModuleType:
        return experiments.analysis_in(self.experiment)

    @property
    def origin(self) -> Origin:
        versions = (run.manifest["engine"]["version"] for run in self.runs)
        return Origin(self.engine, ", ".join(dict.fromkeys(versions)), self.cpu, self.platform)

    @property
    def names(self) -> list[str]:
        """Return the names of all points, finished or not."""
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
        """Return the points grouped by the build, commit and host that made them, usually one group."""
        found: dict[str, dict[str, Any]] = {}
        for run in (*self.runs, *self.hung):
            piece = found.setdefault(json.dumps(run.made_by, sort_keys=True), {**run.made_by, "points": []})
            piece["points"].append(run.name)
        return list(found.values())

    def manifest(self) -> dict[str, object]:
        """Return the manifest: the command, the outcome of every point, and what made the points."""
        return {
            "scenario": self.scenario,
            "analysis": experiments.name_of(self.experiment),
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


def read(sweep: ScenarioFolder, scenario: Scenario) -> Runs:
    """Return the finished points. The names of the others are kept in the result, and reported."""
    record = sweep.read()
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
        experiment=scenario.folder,
        title=scenario.title,
        command=record["command"],
        engine=record["engine"],
        cpu=record["cpu"],
        platform=", ".join(dict.fromkeys(run.spec.platform.name for run in runs)),
        runs=tuple(runs),
        missing=tuple(missing),
        hung=tuple(stuck),
    )


def _run(point: RecordedPoint, folder: Path, manifest: Manifest) -> Run:
    return Run(point["name"], point["group"], point["values"], folder, RunDir.open(folder).spec(), manifest)
