# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: every steady state is reached, and none has joules."""

from pathlib import Path

import pytest

from tests.conftest import Lull
from tests.outcomes import lines

pytestmark = pytest.mark.guest


def test_steady_states_are_all_reached(lull: Lull, tmp_path: Path) -> None:
    """Each window is recorded with who is busy, at every operating point of `tiny`; QEMU knows of no joules."""
    small = ("--set", "rest_us=2000", "--set", "memory_kib=256")
    ran = lull("run", "energy-validation", "-e", "qemu", "-p", "tiny", *small, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert "no joules" in ran.stdout
    for loop, name in {"busy": "primes", "memory": "memory"}.items():
        left = lines(tmp_path / "out" / loop / "files" / "windows.jsonl")
        assert [(line["busy"], line["khz"] // 1000) for line in left] == [
            *(([0], mhz) for mhz in (450, 575, 700, 775, 850)),
            *(([1], mhz) for mhz in (450, 625, 800, 950, 1100)),
            *(([2], mhz) for mhz in (450, 575, 700)),
        ]
        assert {line["loop"] for line in left} == {name}
    idle = lines(tmp_path / "out" / "idle" / "files" / "windows.jsonl")
    assert [(line["state"], line["busy"]) for line in idle] == [(f"C{n}", []) for n in (1, 2, 3, 4)]
