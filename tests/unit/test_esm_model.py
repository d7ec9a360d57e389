# SPDX-License-Identifier: BSD-3-Clause
"""esm_wait() loses no wake-up: the model of it holds in every order of steps, and each break of it is found."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lull.files import paths

MODEL = paths.ROOT / "kernel-patches" / "esm" / "wait_model.pml"
MODES = {"direct": (), "thread": ("-DTHREAD",)}
MUTANTS = {
    ("direct", 1): "!(queued)",
    ("direct", 2): "!(queued)",
    ("direct", 3): "delivered[0]==accepted[0]",
    ("direct", 4): "registered||told",
    ("thread", 5): "!(queued)",
    ("thread", 6): "!(queued)",
}

pytestmark = [
    pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed"),
]


def verify(folder: Path, *defines: str) -> str:
    """Return spin's words on the model. Spin has to have seen the whole state space unless it found an error."""
    subprocess.run(["spin", "-a", *defines, str(MODEL)], cwd=folder, check=True, capture_output=True)
    subprocess.run(["gcc", "-O2", "-DSAFETY", "-o", "pan", "pan.c"], cwd=folder, check=True)
    said = subprocess.run(["./pan", "-m100000"], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert "max search depth too small" not in said
    return said


@pytest.mark.parametrize("mode", MODES)
def test_no_wake_up_is_lost(tmp_path: Path, mode: str) -> None:
    said = verify(tmp_path, *MODES[mode])
    assert "errors: 0" in said, said
    assert "Search not completed" not in said
    # What the end of every run asserts was reached: nothing of init is left over.
    assert re.search(r"unreached in init\n\t\(0 of \d+ states\)", said), said


@pytest.mark.parametrize(("mode", "mutant"), MUTANTS)
def test_a_break_is_found(tmp_path: Path, mode: str, mutant: int) -> None:
    said = verify(tmp_path, *MODES[mode], f"-DMUTANT={mutant}")
    violated = re.search(r"assertion violated (.*) \(at depth", said)
    assert violated, said
    assert MUTANTS[mode, mutant] in violated[1]
