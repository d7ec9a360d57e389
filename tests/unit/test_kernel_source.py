# SPDX-License-Identifier: BSD-3-Clause
"""The sources that `KERNEL_SRC` may name, and the sentence that a user gets for anything else."""

import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lull.artifacts import store
from tests.conftest import Lull

MAKEFILE = "VERSION = {0}\nPATCHLEVEL = {1}\nSUBLEVEL = {2}\nEXTRAVERSION =\n"


def make_tree(path: Path, version: str) -> Path:
    path.mkdir(parents=True)
    (path / "Makefile").write_text(MAKEFILE.format(*version.split(".")))
    return path


def pack(tree: Path, *more: Path) -> Path:
    archive = tree.with_suffix(".tar.xz")
    with tarfile.open(archive, "w:xz") as tar:
        for path in (tree, *more):
            tar.add(path, arcname=path.name)
    return archive


def missing(tmp_path: Path) -> Path:
    return tmp_path / "linux"


def empty_folder(tmp_path: Path) -> Path:
    (tmp_path / "linux").mkdir()
    return tmp_path / "linux"


def folder_of_something_else(tmp_path: Path) -> Path:
    (tmp_path / "hello").mkdir()
    (tmp_path / "hello" / "Makefile").write_text("hello: hello.o\n")
    return tmp_path / "hello"


def old_tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "linux-5", "5.10.0")


def no_archive(tmp_path: Path) -> Path:
    (tmp_path / "linux.tar.xz").write_text("not found")
    return tmp_path / "linux.tar.xz"


def old_tarball(tmp_path: Path) -> Path:
    return pack(make_tree(tmp_path / "linux-5", "5.10.0"))


def tarball_of_two(tmp_path: Path) -> Path:
    return pack(make_tree(tmp_path / "linux", "6.12.9"), make_tree(tmp_path / "other", "6.12.9"))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (missing, "KERNEL_SRC={0}: neither a kernel tree nor a tarball; point it at a Linux 6.12 one"),
        (empty_folder, "{0} has no Makefile of a kernel: set KERNEL_SRC to a Linux 6.12 tree or tarball"),
        (folder_of_something_else, "{0} has no Makefile of a kernel: set KERNEL_SRC to a Linux 6.12 tree or tarball"),
        (old_tree, "{0} is Linux 5.10.0: set KERNEL_SRC to a Linux 6.12 tree or tarball"),
        (no_archive, "KERNEL_SRC={0}: not a tar archive; point it at a Linux 6.12 tree or tarball"),
        (old_tarball, "{0} is Linux 5.10.0: set KERNEL_SRC to a Linux 6.12 tree or tarball"),
        (tarball_of_two, "{0}: expected one folder with a Linux 6.12 tree inside, found 2"),
    ],
)
def test_what_is_no_kernel_is_one_sentence(
    tmp_path: Path, lull: Lull, make: Callable[[Path], Path], sentence: str
) -> None:
    cache, place = tmp_path / "cache", make(tmp_path)
    ran = lull("build", "kernel", env={"LULL_CACHE": str(cache), "KERNEL_SRC": str(place)})
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].rstrip(".") == f"lull: {sentence.format(place)}"
    assert [path for path in cache.glob("work/*/*") if path.is_dir()] == [], "no tree is left behind"


def test_a_tree_is_known_by_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path / "linux", "6.12.9")
    monkeypatch.setenv("KERNEL_SRC", str(tree))
    before = store.kernel_source()
    assert before[0] == tree
    assert store.kernel_source() == before
    (tree / "Kconfig").write_text("# changed\n")
    assert store.kernel_source() != before


def test_a_git_tree_is_its_commit_and_its_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path / "linux", "6.12.9")
    monkeypatch.setenv("KERNEL_SRC", str(tree))
    git = ["git", "-C", str(tree), "-c", "user.name=nobody", "-c", "user.email=nobody@lull.invalid"]
    for words in (["init", "--quiet"], ["add", "Makefile"], ["commit", "--quiet", "--message", "A kernel"]):
        subprocess.run([*git, *words], check=True)
    committed = store.kernel_source()
    (tree / "Makefile").touch()
    assert store.kernel_source() == committed, "when a file was written does not matter"
    with (tree / "Makefile").open("a") as file:
        file.write("# changed\n")
    changed = store.kernel_source()
    assert changed != committed
    (tree / "new.c").write_text("int one;\n")
    added = store.kernel_source()
    assert added != changed
    (tree / "new.c").touch()
    assert store.kernel_source() == added
    (tree / "new.c").write_text("int two;\n")
    assert store.kernel_source() not in (changed, added)


def test_a_tree_that_git_does_not_know_is_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path / "linux", "6.12.9")
    (tree / ".git").mkdir()
    monkeypatch.setenv("KERNEL_SRC", str(tree))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    before = store.kernel_source()
    (tree / "Kconfig").write_text("# changed\n")
    assert store.kernel_source() != before
