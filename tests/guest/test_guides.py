# SPDX-License-Identifier: BSD-3-Clause
"""The guides of docs/, followed to the letter in a clean clone: nothing but the new folder is touched."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.files.paths import ROOT

pytestmark = pytest.mark.guest


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clean clone that uses this checkout's packages, and its own sources."""
    place = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, place], check=True)
    (place / ".venv").symlink_to(ROOT / ".venv")
    if (ROOT / ".mypy_cache").is_dir():  # as it would be there after the first `make lint`
        shutil.copytree(ROOT / ".mypy_cache", place / ".mypy_cache", symlinks=True)
    return place


def _in(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(clone / "scripts")}
    return subprocess.run(words, cwd=clone, env=env, text=True, capture_output=True, check=False)


def test_adding_an_experiment(clone: Path) -> None:
    shutil.copytree(ROOT / "tests" / "guides" / "after-sleep", clone / "benchmarks" / "after-sleep")
    changed = _in(clone, "git", "status", "--porcelain", "--untracked-files=all").stdout.splitlines()
    assert all(line.startswith("?? benchmarks/after-sleep/") for line in changed)
    linted = _in(clone, "make", "--assume-old=setup", "lint")
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert "benchmarks/after-sleep/after-sleep-check" in linted.stdout
    python = str(clone / ".venv" / "bin" / "python")
    listed = _in(clone, python, "-m", "lull", "run", "--list")
    assert "after-sleep" in listed.stdout
    tested = _in(
        clone,
        python,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "benchmarks/after-sleep",
        "tests/unit/test_experiments.py",
    )
    assert tested.returncode == 0, tested.stdout
    ran = _in(clone, python, "-m", "lull", "run", "after-sleep", "-e", "qemu", "--set", "runs=5", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert "| C4 |" in (clone / "out" / "figures" / "summary.md").read_text()
