# SPDX-License-Identifier: BSD-3-Clause
"""Finds experiments: folders with a `scenario.yaml`, in `benchmarks/` by name, elsewhere by path.

The Python of an experiment is imported as a package: `benchmarks/wake-latency/linearity.py` is the module
`lull_experiments.wake_latency.linearity`. Inside the folder, write `from . import linearity`. The folder needs no
`__init__.py` and no entry in a list.
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
"""The name of the module that makes an experiment's tables and figures."""
PACKAGE = "lull_experiments"

_elsewhere: dict[str, Path] = {}
"""Folders outside of `benchmarks/`, by the name of their package."""


def names() -> list[str]:
    """Return the names of the experiments in `benchmarks/`."""
    return sorted(path.parent.name for path in BENCHMARKS.glob(f"*/{FILE}"))


def folder_of(name: str) -> Path:
    """Return the folder of `benchmarks/` for a name. `wake_latency`, as in older files, means `wake-latency`."""
    return BENCHMARKS / name.replace("_", "-")


def name_of(folder: Path) -> str:
    """Return the experiment's name in a manifest: the folder's name in `benchmarks/`, or the path of another folder."""
    return folder.name if folder == BENCHMARKS / folder.name else str(folder.resolve())


def named(name: str) -> Path:
    """Return the folder of an experiment from its name in a manifest, the inverse of `name_of`."""
    return Path(name) if yaml_file.is_path(name) else folder_of(name)


def analysis_in(folder: Path) -> ModuleType:
    """Return the analysis of an experiment; raise a UserError if it cannot be used. Call this before simulating."""
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
    """Return the hashes of lull's code on which an analysis' tables depend, from its function `code`. Without this
    function, the tables depend on the runs alone: return an empty dict."""
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
    """Return the file and line of the experiment's code at which its import failed."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{yaml_file.shown(Path(error.filename))}:{error.lineno}"
    own = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).parent == path.parent.resolve()]
    return f"{yaml_file.shown(Path(own[-1].filename))}:{own[-1].lineno}" if own else yaml_file.shown(path)


class _Finder(MetaPathFinder):
    """Finds the package of an experiment. Python then finds the modules inside the package by itself."""

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
