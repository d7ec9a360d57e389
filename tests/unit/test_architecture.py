# SPDX-License-Identifier: BSD-3-Clause
"""The package is layered, and `docs/architecture.md` says how: a package imports only those that stand below it."""

import ast
import re
from collections.abc import Iterable, Iterator
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


OTHER_SIDE = ROOT / "gem5-configs" / "spec.py"
"""Reads the JSON file that lies between gem5 and the library. What both sides describe has one name on both sides:
`Cluster` is the platform's cluster."""


def classes(file: Path) -> Iterator[str]:
    """The classes that a file defines, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            yield node.name


def defined_twice(files: Iterable[Path]) -> list[str]:
    """One sentence for each class whose name another class has."""
    first: dict[str, Path] = {}
    found = []
    for file in files:
        for name in classes(file):
            if name in first:
                found.append(f"class {name} is defined in {first[name]} and in {file}; rename one of the two")
            first.setdefault(name, file)
    return found


def test_a_class_name_has_one_meaning() -> None:
    ours = [file for top in (PACKAGE, ROOT / "benchmarks") for file in sorted(top.rglob("*.py"))]
    machine = sorted((ROOT / "gem5-configs").glob("*.py"))
    assert defined_twice([*ours, *(file for file in machine if file != OTHER_SIDE)]) == []
    assert defined_twice(machine) == []


def test_a_class_name_with_two_meanings_is_told_with_both_files(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("class Row:\n    pass\n")
    other.write_text("def made():\n    class Row:\n        pass\n")
    assert defined_twice([one, other]) == [f"class Row is defined in {one} and in {other}; rename one of the two"]
    assert len(defined_twice([one, one])) == 1


def test_no_module_is_longer_than_scripts_readme_allows() -> None:
    (most,) = re.findall(r"has (\d+) lines at most", (ROOT / "scripts" / "README.md").read_text(encoding="utf-8"))
    lengths = {str(file): file.read_text(encoding="utf-8").count("\n") for file in PACKAGE.rglob("*.py")}
    assert {file: length for file, length in lengths.items() if length > int(most)} == {}
