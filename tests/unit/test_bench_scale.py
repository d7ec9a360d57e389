# SPDX-License-Identifier: BSD-3-Clause
"""The engine that does nothing, by which the cost of a sweep itself is measured."""

import json
import subprocess
from pathlib import Path

import pytest

from lull.bench import nothing
from lull.engines import gem5_binary
from tests.conftest import Lull


def _call(program: Path, folder: Path, stage: str) -> dict[str, object]:
    settings = {"stage": stage, "checkpoint": str(folder / "cpt"), "readfile": "", "load": {}}
    (folder / "gem5.json").write_text(json.dumps(settings, indent=1) + "\n")
    subprocess.run([program, "-d", folder, "run.py", folder / "gem5.json"], check=True)
    outcome: dict[str, object] = json.loads((folder / "outcome.json").read_text())
    return outcome


def test_it_answers_as_gem5_and_leaves_what_a_boot_and_a_run_leave(tmp_path: Path, empty_cache: Path) -> None:
    program = nothing.install(tmp_path)
    assert gem5_binary.find(str(program)).version == "24.0"
    assert _call(program, tmp_path, "checkpoint")["cause"] == "checkpoint"
    assert (tmp_path / "cpt" / "m5.cpt").is_file()
    assert not (tmp_path / "status").exists()
    outcome = _call(program, tmp_path, "run")
    assert (outcome["cause"], outcome["ticks"], outcome["tick_hz"]) == ("exit", 10**9, 10**12)
    assert ((tmp_path / "status").read_text(), (tmp_path / "stdout").read_text()) == ("0\n", '{"value": 1}\n')


@pytest.mark.parametrize("sizes", ["", "0", "100,", "1e3", "100001"])
def test_sizes_are_numbers_of_points(lull: Lull, sizes: str) -> None:
    ended = lull("bench", "sweep", "--scale", sizes)
    sentence = f"lull: --scale {sizes}: give numbers of points from 1 to 100000, such as 100,1000\n"
    assert (ended.returncode, ended.stderr) == (2, sentence)
