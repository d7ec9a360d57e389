# SPDX-License-Identifier: BSD-3-Clause
"""Linux's own `checkpatch.pl --strict` has nothing to say about our files and patches."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from lull.artifacts import kernel, store
from lull.files.paths import ROOT

pytestmark = pytest.mark.slow

NEEDED = ("checkpatch.pl", "const_structs.checkpatch", "spelling.txt")
WITHOUT_TREE = ("--no-tree", "--strict", "--terse", "--show-types", "--quiet", "--no-summary")
"""A tree is asked for bindings of `compatible` strings, which are in `platforms/bindings`."""


@pytest.fixture(scope="module")
def checkpatch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script out of the sources that the kernel is built of."""
    folder = tmp_path_factory.mktemp("scripts")
    source, _ = store.kernel_source()
    if source.is_dir():
        return source / "scripts" / NEEDED[0]
    archive = source
    if source.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", str(source), str(folder)], check=True)
        archive = next(folder.rglob("linux-source-*.tar.xz"))
    wanted = [f"*/scripts/{name}" for name in NEEDED]
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder), "--wildcards", *wanted], check=True)
    return next(folder.rglob(NEEDED[0]))


def said(checkpatch: Path, *words: str, files: Iterable[Path]) -> list[str]:
    command = ["perl", str(checkpatch), *WITHOUT_TREE, *words, *map(str, files)]
    return subprocess.run(command, text=True, capture_output=True, check=False).stdout.splitlines()


def test_files(checkpatch: Path) -> None:
    files = [file for file in kernel.linked_files(ROOT).values() if file.suffix in (".c", ".h")]
    assert len(files) > 40
    assert said(checkpatch, "--file", files=files) == []


def test_patches(checkpatch: Path) -> None:
    assert said(checkpatch, files=kernel.series(ROOT)) == []


def test_it_would_say_something(checkpatch: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text("// SPDX-License-Identifier: GPL-2.0-only\nint f(void)\n{\n    return(1);\n}\n")
    assert any("RETURN_PARENTHESES" in line for line in said(checkpatch, "--file", files=[bad]))
