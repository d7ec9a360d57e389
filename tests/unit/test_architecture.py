# SPDX-License-Identifier: BSD-3-Clause
"""The package is layered: a layer imports those below it. `docs/architecture.md` draws the layers for a reader."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from lull.files.paths import ROOT

PACKAGE = ROOT / "scripts" / "lull"

LAYERS = (
    ("errors",),
    ("files", "statistics"),
    ("host", "plotting"),
    ("platform",),
    ("runspec",),
    ("artifacts", "rundir"),
    ("engines",),
    ("scenario", "trace"),
    ("results",),
    ("energy",),
    ("figures",),
    ("sweep", "timeline"),
    ("compare",),
    ("page", "bench"),
    ("cli",),
    ("__main__",),
)
"""From the bottom to the top. Packages of one layer do not import each other."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imports(file: Path) -> Iterator[str]:
    """The packages of ours that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("lull."):
                yield name.split(".")[1]


def place(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_module_imports_only_from_below(file: Path) -> None:
    own = place(file)
    if own == "__init__":
        return
    for other in imports(file):
        if other in LEVEL and other != own:
            assert LEVEL[other] < LEVEL[own], f"{own} is below {other}, or beside it"


def test_every_package_has_its_layer() -> None:
    found = {place(file) for file in PACKAGE.rglob("*.py")} - {"__init__"}
    assert found == set(LEVEL)


def test_an_analysis_imports_neither_commands_nor_sweeps() -> None:
    """An experiment stands on the library, and nothing of the library on an experiment."""
    for file in sorted((ROOT / "benchmarks").glob("*/*.py")):
        if not file.name.startswith("test_"):
            assert all(LEVEL[other] <= LEVEL["figures"] for other in imports(file)), file
    for file in PACKAGE.rglob("*.py"):
        assert "lull_experiments." not in file.read_text().replace("`lull_experiments.", ""), file
