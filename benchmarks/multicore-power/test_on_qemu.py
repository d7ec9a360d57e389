# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: every steady state is reached, and none has joules."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import lines

pytestmark = pytest.mark.guest


def test_steady_states_are_all_reached(lull: Lull, tmp_path: Path) -> None:
    """Each window is recorded with who is busy; QEMU knows of no joules."""
    ran = lull("run", "multicore-power", "-e", "qemu", "-p", "tiny", "--set", "rest_us=2000", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert "no joules" in ran.stdout
    left = lines(tmp_path / "out" / "steps" / "files" / "windows.jsonl")
    assert [line["busy"] for line in left] == [[], [0], [0, 1], [0, 1, 2]]
