# SPDX-License-Identifier: BSD-3-Clause
"""Reads finished runs from any folder: one run, the points of a scenario, or the points of a sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lull.errors import UserError
from lull.figures import wake
from lull.figures.sample import Sample
from lull.rundir.folder import FILES, RUN, RunDir
from lull.rundir.manifest import Manifest
from lull.rundir.run import Run
from lull.runspec.spec import RunSpec
from lull.runspec.values import Value
from lull.scenario import runs as source
from lull.scenario.folder import RECORD as SCENARIO_RECORD
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import load_scenario
from lull.sweep import folder as sweep_folder
from lull.sweep import table

Kind = Literal["run", "scenario", "sweep"]


@dataclass(frozen=True)
class Samples:
    path: Path
    kind: Kind
    title: str
    command: str
    points: tuple[Sample, ...]
    missing: tuple[str, ...] = ()

    def by_title(self) -> dict[str, list[Sample]]:
        """Return the runs by title. Runs with the same title differ only in their seed."""
        found: dict[str, list[Sample]] = {}
        for point in self.points:
            found.setdefault(point.title, []).append(point)
        return found


def kind_of(path: Path) -> Kind | None:
    if (path / sweep_folder.RECORD).is_file():
        return "sweep"
    if (path / SCENARIO_RECORD).is_file():
        return "scenario"
    return "run" if (path / RUN).is_file() else None


def read(path: Path) -> Samples:
    kind = kind_of(path)
    if kind is None:
        raise UserError(f"{path}: neither a run's folder nor a sweep's; name one made by lull boot, run or sweep")
    samples = {"run": _of_run, "scenario": _of_scenario, "sweep": _of_sweep}[kind](path)
    if not samples.points:
        raise UserError(f"{path}: none of its {len(samples.missing)} points has finished; run `{samples.command}`")
    return samples


def _of_run(path: Path) -> Samples:
    rundir = RunDir.open(path)
    manifest = rundir.manifest()
    if manifest["state"] != "finished":
        raise UserError(f"{path}: this run has not finished ({manifest['state']}); wait, or run it again")
    spec = rundir.spec()
    run = Run(rundir.path.name, "", _values(rundir, spec), rundir.path, spec, manifest)
    point = Sample("", {}, spec.seed, run)
    return Samples(rundir.path, "run", rundir.path.name, _command(manifest), (point,))


def _of_scenario(path: Path) -> Samples:
    sweep = ScenarioFolder.open(path)
    runs = source.read(sweep, load_scenario(sweep.scenario()))
    varied = _varied([run.values for run in runs.runs])
    points = tuple(
        Sample(run.name, {key: run.values[key] for key in varied if key in run.values}, run.spec.seed, run)
        for run in runs.runs
    )
    return Samples(sweep.path, "scenario", f"{runs.scenario}: {runs.title}", runs.command, points, runs.missing)


def _of_sweep(path: Path) -> Samples:
    found = table.read(path)
    title = f"{found.record['name']}: {found.record['title']}"
    return Samples(found.path, "sweep", title, found.record["command"], found.points, found.missing)


def _values(rundir: RunDir, spec: RunSpec) -> dict[str, Value]:
    """Return a single run's scenario parameters. Only runs of wake-latency record them; for others, return none."""
    path = rundir / FILES / wake.FILE
    if not path.is_file():
        return {}
    rows = wake.read_records(path).rows
    if not len(rows):
        return {"state": ""}
    cpu, state = int(rows["asked_cpu"][0]), int(rows["asked_state"][0])
    names = [own.name for cpus, cluster in spec.platform.cpu_ranges() if cpu in cpus for own in cluster.cstates]
    return {"state": names[state]}


def _varied(values: list[Mapping[str, Any]]) -> list[str]:
    """Return the parameters that differ between points."""
    names = list(dict.fromkeys(name for one in values for name in one))
    return [name for name in names if len({repr(one.get(name)) for one in values}) > 1]


def _command(manifest: Manifest) -> str:
    return " ".join(["./lull", *manifest["command"][1:]])
