# SPDX-License-Identifier: BSD-3-Clause
"""The package is layered, and `docs/architecture.md` says how: a package imports only those that stand below it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lull.files.paths import ROOT

PACKAGE = ROOT / "scripts" / "lull"

PAGE = ROOT / "docs" / "architecture.md"


def _order() -> list[str]:
    """The packages as the page has them, from the top down: each imports only from those behind it."""
    _, _, table = PAGE.read_text(encoding="utf-8").partition("| layer | packages | what |")
    rows = [line.split("|")[2] for line in table.split("\n\n")[0].splitlines()[2:]]
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


ORDER = _order()
ENTRIES = {"__init__", "__main__"}
"""Modules that Python looks for by these names. They stand above all layers."""


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
    if own in ENTRIES:
        return
    for other in set(imports(file)) & set(ORDER) - {own}:
        assert ORDER.index(other) > ORDER.index(own), f"{own} imports {other}, which stands above it"


def test_every_package_has_its_layer() -> None:
    found = {place(file) for file in PACKAGE.rglob("*.py")} - ENTRIES
    assert found == set(ORDER)
    assert len(ORDER) == len(set(ORDER))


def test_an_analysis_imports_neither_commands_nor_sweeps() -> None:
    """An experiment stands on the library, and nothing of the library on an experiment."""
    for file in sorted((ROOT / "benchmarks").glob("*/*.py")):
        if not file.name.startswith("test_"):
            assert {"cli", "sweep", "page"}.isdisjoint(imports(file)), file
    for file in PACKAGE.rglob("*.py"):
        assert "lull_experiments." not in file.read_text().replace("`lull_experiments.", ""), file
