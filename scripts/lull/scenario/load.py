# SPDX-License-Identifier: BSD-3-Clause
"""From a name or a file to a checked scenario."""

import importlib.util
from pathlib import Path

from lull import yaml_file
from lull.blocks import explained
from lull.errors import UserError
from lull.paths import ROOT
from lull.scenario.schema import Scenario

BENCHMARKS = ROOT / "benchmarks"
FILE = "scenario.yaml"


def list_scenarios() -> list[str]:
    """The scenarios that come with the project."""
    return sorted(path.parent.name for path in BENCHMARKS.glob(f"*/{FILE}"))


def file_of(name_or_path: str) -> str | None:
    """The file, from wherever it is asked for, of a scenario that is given by its path."""
    return str(Path(name_or_path).resolve()) if yaml_file.is_path(name_or_path) else None


def load_scenario(name_or_path: str) -> Scenario:
    """A scenario by its name, or by a path: anything with a slash or the suffix .yaml is a path."""
    file = yaml_file.locate(name_or_path, "scenario", BENCHMARKS / name_or_path / FILE, list_scenarios())
    name = yaml_file.shown(file)
    data = yaml_file.read(file, name, "scenario", "benchmarks/README.md")
    with explained(name, Scenario):
        scenario = Scenario.model_validate(data)
    if importlib.util.find_spec(f"lull.figures.{scenario.analysis}") is None:
        raise UserError(f"{name}: analysis: no module `{scenario.analysis}` in scripts/lull/figures; write it")
    return scenario
