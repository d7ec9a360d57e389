# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cells of docs/notebook.ipynb in this process, in their order, without Jupyter; and a run for its views."""

import ast
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lull.files.paths import ROOT
from lull.rundir.folder import RUN, TRACE

FILE = ROOT / "docs" / "notebook.ipynb"
BOOTS = "boots"
"""The tag of cells that take a guest."""


def recorded(folder: Path, trace: Sequence[str] | None = None) -> Path:
    """The recorded run on gem5 with all of its parts; without its trace, if it was to trace only what is given."""
    shutil.copytree(ROOT / "tests" / "unit" / "data" / "trace" / "tiny-gem5", folder, dirs_exist_ok=True)
    if trace is not None:
        asked = json.loads((folder / RUN).read_text())
        (folder / RUN).write_text(json.dumps({**asked, "trace": trace}))
        (folder / TRACE).unlink()
    return folder


def cells(kind: str = "code") -> list[dict[str, Any]]:
    return [cell for cell in json.loads(FILE.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def run(names: dict[str, Any], boots: bool) -> dict[str, Any]:
    """Return what each cell shows, by the cell's id: the value of its last line. `names` are what the cells define."""
    shown = {}
    for cell in cells():
        if boots or BOOTS not in cell["metadata"].get("tags", ()):
            shown[cell["id"]] = _run("".join(cell["source"]), cell["id"], names)
    return shown


def _run(text: str, name: str, names: dict[str, Any]) -> object:
    program = ast.parse(text, name)
    last = program.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(program, name, "exec"), names)
        return None
    exec(compile(ast.Module(program.body[:-1], []), name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names)
