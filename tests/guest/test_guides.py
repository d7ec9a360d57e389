# SPDX-License-Identifier: BSD-3-Clause
"""Follows the guides of docs/ to the letter, in clean clones: a folder is added, and nothing else is edited."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lull.files.paths import ROOT
from tests.guides.pages import EXPERIMENT, MECHANISM, Guide
from tests.selftests import judge

pytestmark = pytest.mark.guest

Ran = subprocess.CompletedProcess[str]


class Clone:
    """A checkout whose Python packages are this one's: to install them again would prove nothing of a guide."""

    def __init__(self, place: Path) -> None:
        self.place = place
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place)], check=True)
        (place / ".venv").symlink_to(ROOT / ".venv")
        if (ROOT / ".mypy_cache").is_dir():  # as it would be there after the first `make lint`
            shutil.copytree(ROOT / ".mypy_cache", place / ".mypy_cache", symlinks=True)
        assert self.run(sys.executable, "-c", "import lull; print(lull.__file__)").stdout.startswith(str(place))

    def add(self, guide: Guide, into: str) -> None:
        shutil.copytree(guide.folder, self.place / into / guide.example)

    def run(self, *words: str) -> Ran:
        env = {**os.environ, "PYTHONPATH": str(self.place / "scripts")}
        return subprocess.run(words, cwd=self.place, env=env, capture_output=True, text=True, check=False)

    def line(self, command: str) -> Ran:
        """A line of the guide. `./lull` is a launcher of the environment, which here is made already."""
        assert command.startswith("./lull ")
        return self.run("sh", "-c", f"{sys.executable} -m lull {command.removeprefix('./lull ')}")

    def changed(self) -> set[str]:
        told = self.run("git", "status", "--porcelain", "--untracked-files=all").stdout
        return {line[3:] for line in told.splitlines()}

    def lint(self) -> str:
        ran = self.run("make", "--old-file=setup", "lint")
        assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
        return ran.stdout

    def test(self, *files: str) -> None:
        ran = self.run(sys.executable, "-m", "pytest", "-q", *files)
        assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"


@pytest.fixture(scope="module")
def with_experiment(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    made = Clone(tmp_path_factory.mktemp("guide") / "clone")
    made.add(EXPERIMENT, "benchmarks")
    return made


@pytest.fixture(scope="module")
def with_mechanism(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    made = Clone(tmp_path_factory.mktemp("guide") / "clone")
    made.add(MECHANISM, "kernel-patches")
    return made


def test_an_experiment_runs_and_nothing_else_was_touched(with_experiment: Clone) -> None:
    (run,) = EXPERIMENT.commands
    ran = with_experiment.line(run)
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    assert "| C4 |" in ran.stdout
    assert all(name.startswith("benchmarks/after-sleep/") for name in with_experiment.changed())


@pytest.mark.slow
def test_lint_and_the_suite_find_an_experiment_and_are_content(with_experiment: Clone) -> None:
    assert "benchmarks/after-sleep/after-sleep-check" in with_experiment.lint()
    assert "after-sleep" in with_experiment.line("./lull run --list").stdout
    with_experiment.test("benchmarks/after-sleep", "tests/unit/test_experiments.py", "tests/unit/test_pages.py")


@pytest.mark.slow
def test_a_mechanism_is_built_and_boots(with_mechanism: Clone) -> None:
    update, build, count, selftest = MECHANISM.commands
    for command in (update, build):
        ran = with_mechanism.line(command)
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
    counted = with_mechanism.line(count)
    assert counted.returncode == 0, f"{counted.stdout}{counted.stderr}"
    assert int(counted.stdout) > 0
    judge(with_mechanism.line(selftest))
    own = {f"kernel-patches/nap/{path.relative_to(MECHANISM.folder)}" for path in MECHANISM.folder.rglob("*.*")}
    assert own <= with_mechanism.changed()
    outside = {name for name in with_mechanism.changed() if not name.startswith(("kernel-patches/nap/", "runs/"))}
    assert outside == {"docs/settings.md"}, "only what a command wrote"


@pytest.mark.slow
def test_lint_and_the_suite_find_a_mechanism_and_are_content(with_mechanism: Clone) -> None:
    assert with_mechanism.line(MECHANISM.commands[0]).returncode == 0
    assert "kernel-patches/nap/selftests/nap" in with_mechanism.lint()
    found = with_mechanism.run(sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "", "tests/guest").stdout
    for test in ("test_selftests.py::test_selftest[nap]", "test_debug_flavour.py", "[nap]"):
        assert test in found
    with_mechanism.test(*(f"tests/unit/test_{name}.py" for name in ("kernel", "systems", "selftests", "pages")))
