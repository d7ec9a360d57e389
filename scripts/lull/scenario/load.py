# SPDX-License-Identifier: BSD-3-Clause
"""From a name or a file to a checked scenario."""

import importlib.util
from pathlib import Path

from pydantic import ValidationError

from lull import yaml_file
from lull.errors import UserError
from lull.paths import ROOT
from lull.platform.errors import quoted, user_error
from lull.scenario.schema import Scenario

BENCHMARKS = ROOT / "benchmarks"
FILE = "scenario.yaml"


def list_scenarios() -> list[str]:
    """The scenarios that come with the project."""
    return sorted(path.parent.name for path in BENCHMARKS.glob(f"*/{FILE}"))


def load_scenario(name_or_path: str) -> Scenario:
    """A scenario by its name, or by a path: anything with a slash or the suffix .yaml is a path."""
    file = _locate(name_or_path)
    name = yaml_file.shown(file)
    data = yaml_file.read(file, name, "scenario", "benchmarks/README.md")
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        raise user_error(name, error, Scenario) from None
    if importlib.util.find_spec(f"lull.figures.{scenario.analysis}") is None:
        raise UserError(f"{name}: analysis: no module `{scenario.analysis}` in scripts/lull/figures; write it")
    return scenario


def _locate(name_or_path: str) -> Path:
    if "/" in name_or_path or name_or_path.endswith((".yaml", ".yml")):
        return Path(name_or_path)
    file = BENCHMARKS / name_or_path / FILE
    if not file.is_file():
        known = quoted(list_scenarios())
        raise UserError(f"unknown scenario `{name_or_path}`; use one of {known}, or the path of a YAML file")
    return file
