# SPDX-License-Identifier: BSD-3-Clause
"""`scripts/check-experiment`: an experiment outside of the checkout has the checks of the project's own."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.files.paths import ROOT

CHECK = ROOT / "scripts" / "check-experiment"
TYPES = ROOT / "scripts" / "check-types"
C_FILE = '// SPDX-License-Identifier: BSD-3-Clause\n#include "jsonl.h"\n\nint main(void)\n{\n\treturn 0;\n}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The experiment of the guide. It is called as one of the project's, and lies in a folder with a blank."""
    place = tmp_path / "my own" / "wake-latency"
    shutil.copytree(ROOT / "tests" / "guides" / "adding-an-experiment" / "after-sleep", place)
    (place / "own.c").write_text(C_FILE)
    return place


def command(beginning: str) -> list[str]:
    """The one of the guide that begins so, without the folder."""
    page = (ROOT / "docs" / "adding-an-experiment.md").read_text(encoding="utf-8")
    (found,) = re.findall(f"`({re.escape(beginning)} [^`]+) ~/after-sleep`", page)
    return str(found).split()


def check(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, text=True, capture_output=True, check=False)


def test_the_guides_experiment_passes_by_a_relative_path(folder: Path) -> None:
    ran = check(CHECK, "my own/wake-latency", cwd=folder.parent.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Success: no issues found in 2 source files" in ran.stdout


def test_every_checker_finds_its_fault_and_names_the_users_file(folder: Path) -> None:
    faults = {
        "analysis.py": ("\nfrom . import other\n\nRUNS: int = other.NAME\n", 'expression has type "str"'),
        "other.py": ('# SPDX-License-Identifier: BSD-3-Clause\nimport os\n\nNAME = "x"\n', "F401"),
        "after-sleep-check": ("echo $1\n", "SC2086"),
        "own.c": ("int  spaced;\n", "clang-format-violations"),
    }
    for name, (text, _) in faults.items():
        with (folder / name).open("a") as stream:
            stream.write(text)
    ran = check(CHECK, folder, cwd=folder)
    assert ran.returncode == 1
    said = ran.stdout + ran.stderr
    for _, sentence in faults.values():
        assert sentence in said
    assert f"{folder}/analysis.py:" in ran.stdout, "mypy names the file itself, not a link to it"


@pytest.mark.parametrize("program", [CHECK, TYPES], ids=lambda program: program.name)
def test_a_folder_that_is_no_experiment_is_one_sentence(program: Path, tmp_path: Path) -> None:
    ran = check(program, "none", cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"{program.name}: none: ")
    assert len(ran.stderr.splitlines()) == 1


def test_nothing_to_check_is_told(tmp_path: Path) -> None:
    ran = check(CHECK, cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (2, "usage: scripts/check-experiment FOLDER...\n")


def test_its_tests_find_the_projects_fixtures_as_the_guide_says(folder: Path) -> None:
    words = command(".venv/bin/python -m pytest")
    ran = check(*words, folder, "--setup-plan", "-p", "no:cacheprovider", cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "test_every_state_has_its_loops (fixtures used: lull, " in ran.stdout


def test_ruff_mends_the_layout_as_the_guide_says(folder: Path) -> None:
    words = command(".venv/bin/ruff format")
    before = (folder / "analysis.py").read_text()
    (folder / "analysis.py").write_text(before.replace("def analyse(runs: Runs)", "def analyse( runs : Runs )"))
    ran = check(*words, folder, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    assert (folder / "analysis.py").read_text() == before
