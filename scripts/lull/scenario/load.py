# SPDX-License-Identifier: BSD-3-Clause
"""Loads a scenario by name or file, and checks it."""

from pathlib import Path

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import explained, quoted
from lull.scenario import experiments, published
from lull.scenario.schema import Parameter, Scenario


def file_of(name_or_path: str) -> str | None:
    """Return the absolute path of the scenario file if a path is given; None for a name."""
    return str(_file(name_or_path).resolve()) if yaml_file.is_path(name_or_path) else None


def load_scenario(name_or_path: str) -> Scenario:
    """Return the scenario with this name, or in this file or folder."""
    file = _file(name_or_path)
    name = yaml_file.shown(file)
    data = yaml_file.read(file, name, "scenario", "benchmarks/README.md")
    with explained(name, Scenario):
        scenario = Scenario.model_validate(data)
    for key, parameter in scenario.parameters.items():
        scenario.parameters[key] = _measured(parameter, f"{name}: parameters: {key}")
    scenario.place(_analysed_in(file, name, scenario), _programs(file))
    analysis = experiments.analysis_in(scenario.folder)
    if scenario.in_pieces and not callable(getattr(analysis, "conclude", None)):
        raise UserError(
            f"{name}: in_pieces: its {experiments.ANALYSIS}.py has no function `conclude(tables, points)`; write one "
            "that returns a Result, or remove the key"
        )
    return scenario


def _measured(parameter: Parameter, where: str) -> Parameter:
    """Return the parameter with its published default, if that value has been published."""
    value = published.value_of(parameter.published) if parameter.published else None
    if value is None:
        return parameter
    if complaint := parameter.complaint(value):
        raise UserError(f"{where}: published: {complaint}, or remove the key")
    return parameter.model_copy(update={"default": value})


def _programs(file: Path) -> Path | None:
    """Return the folder of an experiment outside of the checkout if it has guest programs (a Makefile); else None. A
    scenario file of another name may be in any folder, so its folder is not taken for an experiment."""
    folder = file.resolve().parent
    outside = folder.parent != experiments.BENCHMARKS and file.name == experiments.FILE
    return folder if outside and (folder / "Makefile").is_file() else None


def _analysed_in(file: Path, name: str, scenario: Scenario) -> Path:
    if scenario.analysis is None:
        return file.parent
    folder = experiments.folder_of(scenario.analysis)
    if folder.name not in experiments.names():
        raise UserError(f"{name}: analysis: no experiment `{scenario.analysis}`; use {quoted(experiments.names())}")
    return folder


def _file(name_or_path: str) -> Path:
    own = experiments.folder_of(name_or_path) / experiments.FILE
    file = yaml_file.locate(name_or_path, "scenario", own, experiments.names())
    return file / experiments.FILE if file.is_dir() else file
