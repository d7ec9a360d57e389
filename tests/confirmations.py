# SPDX-License-Identifier: BSD-3-Clause
"""A published result of a copy of wake-latency that says how it is confirmed, and an engine that answers as asked."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner
from typer.testing import Result as Told

from lull.cli.app import app
from lull.energy import version
from lull.engines.base import Outcome, Sink
from lull.figures import wake
from lull.files import paths
from lull.results import age, confirmed, confirming, result, tree
from lull.results.tree import Tree
from lull.rundir.folder import FILES, RunDir
from lull.runspec.spec import Flavour, RunSpec
from lull.scenario import experiments
from lull.scenario.load import load_scenario
from tests import wakes

POINTS = ["exit/C3-50", "exit/C4-50"]
CONFIRM: dict[str, Any] = {
    "points": POINTS,
    "values": [{"table": "wakes", "by": ["point", "cluster"], "interval": ["task_ns"], "equal": ["delay_ns"]}],
}
COUNT = 30
TASK_US = 9.0
NAME = "wake-latency"


def wake_ups(state: str, task_us: float, count: int = COUNT) -> np.ndarray[Any, Any]:
    """Of each CPU, with a spread of about 1 µs that is the same in each call."""
    spread = np.random.default_rng(1).normal(0, 1, count)
    phases = {"entry": 5, "hardware": 60, "firmware": 4, "kernel": 3, "task": task_us + spread}
    found: np.ndarray[Any, Any] = np.concatenate([wakes.good(cpu, state, phases, count) for cpu in wakes.CPUS])
    return found


class _Artifacts:
    @staticmethod
    def manifest() -> dict[str, dict[str, object]]:
        return {name: {"key": key} for name, key in KEYS.items()}


KEYS = {"kernel": "new", "rootfs": "r", "firmware": "f"}


class Engine:
    """gem5, as far as a run needs it: its guest writes wake-ups."""

    name = "gem5"

    def __init__(self, task_us: float = TASK_US) -> None:
        self.task_us = task_us
        self.ran: list[str] = []
        self.fails: Callable[[str], None] = lambda command: None
        self.status = 0

    def describe(self) -> dict[str, object]:
        return {**wakes.ENGINE, "configs": "model"}

    def artifacts(self, flavour: Flavour) -> _Artifacts:
        return _Artifacts()

    def run(self, spec: RunSpec, artifacts: object, rundir: RunDir, sink: Sink) -> Outcome:
        self.fails(spec.command)
        self.ran.append(spec.command)
        (rundir / FILES).mkdir()
        state = next(state for state in ("C3", "C4") if f"--state {state}" in spec.command)
        wakes.write(rundir / FILES / wake.FILE, wake_ups(state, self.task_us))
        return Outcome(self.status, 1.0, 2.0, 3, {})


class Place:
    """A copy of the experiment with a `confirm:`, what is published of it, and the command."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = tmp_path
        self.folder = tmp_path / "results" / NAME
        self.file = tmp_path / "mine" / "scenario.yaml"
        self.file.parent.mkdir()
        self.describe(CONFIRM)
        self.engine = Engine()
        self.tree = Tree(dict(KEYS), "model", version.ledger())
        monkeypatch.setattr(paths, "ROOT", tmp_path)
        monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
        monkeypatch.setattr(confirming, "engine", lambda chosen: self.engine)
        monkeypatch.setattr(tree, "now", lambda: self.tree)

    def describe(self, confirm: Mapping[str, object] | None, **changes: object) -> None:
        about = yaml.safe_load((experiments.folder_of(NAME) / experiments.FILE).read_text())
        about |= {"analysis": NAME, "confirm": confirm, **changes}
        about = {key: value for key, value in about.items() if value is not None}
        self.file.write_text(yaml.safe_dump(about, sort_keys=False))

    def publish(self) -> None:
        def make(point: Any, cpu: int) -> np.ndarray[Any, Any]:
            every = wake_ups(point.values["state"], TASK_US)
            own: np.ndarray[Any, Any] = every[every["cpu"] == cpu]
            return own

        asked = load_scenario(str(self.file))
        runs = wakes.runs(self.path / "published", make, patterns=["exit/*"], scenario=str(self.file))
        result.write(asked_result(runs), runs, self.folder)
        about = json.loads((self.folder / "manifest.json").read_text())
        about["command"] = f"./lull run {self.file} -p tiny -e gem5 --cpu {asked.cpu}"
        (self.folder / "manifest.json").write_text(json.dumps(about))

    def confirm(self, *words: str) -> Told:
        out = ("--out", str(self.path / "out"))
        return CliRunner().invoke(app, ["confirm", *(words or (NAME,)), *out])

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / confirmed.FILE).read_text())
        return found

    @property
    def age(self) -> str:
        return age.of(self.folder, self.tree)


def asked_result(runs: Any) -> result.Result:
    found: result.Result = runs.analysis.analyse(runs)
    return found
