# SPDX-License-Identifier: BSD-3-Clause
"""Follows docs/adding-a-mechanism.md to the letter, in a clean clone: a folder is added, and nothing else is edited."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lull.files.paths import ROOT
from tests.guides import mechanism
from tests.selftests import judge

pytestmark = [pytest.mark.guest, pytest.mark.slow]

Ran = subprocess.CompletedProcess[str]


class Clone:
    """A checkout whose Python packages are this one's: to install them again would prove nothing of a mechanism."""

    def __init__(self, place: Path) -> None:
        self.place = place
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(place)], check=True)
        (place / ".venv").symlink_to(ROOT / ".venv")

    def run(self, *words: str) -> Ran:
        env = {**os.environ, "PYTHONPATH": str(self.place / "scripts")}
        return subprocess.run(words, cwd=self.place, env=env, capture_output=True, text=True, check=False)

    def line(self, command: str) -> Ran:
        """A line of the guide. `./lull` is a launcher of the environment, which here is made already."""
        assert command.startswith("./lull ")
        return self.run("sh", "-c", f"{sys.executable} -m lull {command.removeprefix('./lull ')}")

    def changed(self) -> set[str]:
        told = self.run("git", "status", "--porcelain", "--untracked-files=all").stdout
        return {line[3:] for line in told.splitlines() if line[3:] != ".venv"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    made = Clone(tmp_path_factory.mktemp("guide") / "clone")
    assert made.run(sys.executable, "-c", "import lull; print(lull.__file__)").stdout.startswith(str(made.place))
    shutil.copytree(mechanism.SYSTEM, made.place / "kernel-patches" / "nap")
    return made


def test_its_commands_build_boot_and_pass(clone: Clone) -> None:
    update, build, count, selftest = mechanism.COMMANDS.read_text().splitlines()
    for command in (update, build):
        ran = clone.line(command)
        assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
    counted = clone.line(count)
    assert counted.returncode == 0, f"{counted.stdout}{counted.stderr}"
    assert int(counted.stdout) > 0
    judge(clone.line(selftest))
    own = {f"kernel-patches/nap/{path.relative_to(mechanism.SYSTEM)}" for path in mechanism.SYSTEM.rglob("*.*")}
    assert own <= clone.changed()
    outside = {name for name in clone.changed() if not name.startswith(("kernel-patches/nap/", "runs/"))}
    assert outside == {"docs/settings.md"}, "only what a command wrote"


def test_lint_and_the_suite_find_it_and_are_content(clone: Clone) -> None:
    assert clone.line(mechanism.COMMANDS.read_text().splitlines()[0]).returncode == 0
    lint = clone.run("make", "--old-file=setup", "lint")
    assert lint.returncode == 0, f"{lint.stdout}{lint.stderr}"
    assert "kernel-patches/nap/selftests/nap" in lint.stdout
    pytest_ = (sys.executable, "-m", "pytest", "-q")
    found = clone.run(*pytest_, "--collect-only", "-m", "", "tests/guest").stdout
    for test in ("test_selftests.py::test_selftest[nap]", "test_debug_flavour.py", "[nap]"):
        assert test in found
    checks = clone.run(
        *pytest_, *(f"tests/unit/test_{name}.py" for name in ("kernel", "systems", "selftests", "pages"))
    )
    assert checks.returncode == 0, f"{checks.stdout}{checks.stderr}"
