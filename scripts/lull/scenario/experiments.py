# SPDX-License-Identifier: BSD-3-Clause
"""Experiments: folders with a `scenario.yaml`. Those of `benchmarks/` are found; any other is given by its path.

The Python of an experiment is imported as a package: `benchmarks/wake-latency/linearity.py` is the module
`lull_experiments.wake_latency.linearity`. Inside the folder, `from . import linearity` does. The folder needs no
`__init__.py`, and no list names it.
"""

import importlib
import sys
import traceback
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from lull.errors import UserError
from lull.files import digest, yaml_file
from lull.files.paths import ROOT

BENCHMARKS = ROOT / "benchmarks"
FILE = "scenario.yaml"
ANALYSIS = "analysis"
"""The module that makes tables and figures of an experiment's runs."""
PACKAGE = "lull_experiments"

_elsewhere: dict[str, Path] = {}
"""Folders outside of `benchmarks/`, by the name of their package."""


def names() -> list[str]:
    """The experiments that come with the project."""
    return sorted(path.parent.name for path in BENCHMARKS.glob(f"*/{FILE}"))


def folder_of(name: str) -> Path:
    """Return the folder of the project's experiment with this name. Older files write `_` for `-`."""
    return BENCHMARKS / name.replace("_", "-")


def name_of(folder: Path) -> str:
    """Return the name of the experiment in a manifest: its own, or the path of one that is none of the project's."""
    return folder.name if folder == BENCHMARKS / folder.name else str(folder.resolve())


def named(name: str) -> Path:
    """Return the folder that `name_of` was asked about."""
    return Path(name) if yaml_file.is_path(name) else folder_of(name)


def analysis_in(folder: Path) -> ModuleType:
    """Return the analysis of an experiment. An unusable one is an error before anything is simulated for it."""
    path = folder / f"{ANALYSIS}.py"
    shown = yaml_file.shown(path)
    if not path.is_file():
        raise UserError(
            f"{shown}: no such file; write one with a function `analyse(runs)`, "
            "or name an experiment that has one by `analysis:`"
        )
    try:
        module = importlib.import_module(f"{PACKAGE}.{_package_name(folder)}.{ANALYSIS}")
    except UserError:
        raise
    except Exception as error:  # whatever a module may raise while it is imported
        raise UserError(f"{_place(error, path)}: {type(error).__name__}: {error}; mend the analysis") from error
    if not callable(getattr(module, "analyse", None)):
        raise UserError(f"{shown}: has no function `analyse(runs)`; write one that returns a Result")
    return module


def code_of(analysis: ModuleType) -> dict[str, str]:
    """Return the hashes of lull's own code that an analysis makes its tables with, as its function `code` says; empty
    where the tables follow from the runs alone."""
    code = getattr(analysis, "code", None)
    return {} if code is None else dict(code())


def _package_name(folder: Path) -> str:
    folder = folder.resolve()
    name = folder.name.replace("-", "_")
    if folder == (BENCHMARKS / folder.name).resolve():
        return name
    name = f"{''.join(c if c.isidentifier() or c.isdigit() else '_' for c in name)}_{digest.of_text(str(folder))[:8]}"
    _elsewhere[name] = folder
    return name


def _place(error: Exception, path: Path) -> str:
    """File and line of the folder's own code that an import ended at."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{yaml_file.shown(Path(error.filename))}:{error.lineno}"
    own = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent == path.parent.resolve()]
    return f"{yaml_file.shown(Path(own[-1].filename))}:{own[-1].lineno}" if own else yaml_file.shown(path)


class _Finder(MetaPathFinder):
    """Finds the package of an experiment; what is inside Python then finds by itself."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != PACKAGE or "." in name:
            return None
        found = ModuleSpec(fullname, None, is_package=True)
        if name:
            folder = _elsewhere.get(name) or folder_of(name)
            if not folder.is_dir():
                return None
            found.submodule_search_locations = [str(folder)]
        return found


sys.meta_path.append(_Finder())
