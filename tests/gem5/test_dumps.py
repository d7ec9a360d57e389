# SPDX-License-Identifier: BSD-3-Clause
"""Statistics are written as gem5 itself writes them."""

import subprocess
from pathlib import Path

import pytest

from lull.engines import gem5_binary
from lull.engines.gem5 import CONFIGS
from lull.rundir.stats import HOST_STATISTICS
from tests.conftest import Lull

pytestmark = pytest.mark.gem5

AS_GEM5_DOES = """
import sys

sys.path.insert(0, sys.argv[1])

import dumps
import run

dumps.remember = lambda: None
run.main(sys.argv[2:])
"""


def _lines(statistics: Path) -> list[str]:
    return [line for line in statistics.read_text().splitlines() if line.partition(" ")[0] not in HOST_STATISTICS]


def test_a_remembered_dump_is_that_of_gem5(lull: Lull, tmp_path: Path) -> None:
    ran = lull("boot", "-e", "gem5", "--cpu", "detailed", "--out", "run", "--exec", "lull-m5 dump; lull-m5 dump")
    assert ran.returncode == 0, ran.stderr
    (tmp_path / "machine.py").write_text(AS_GEM5_DOES)
    command = [gem5_binary.find().path, "-d", "again", "machine.py", str(CONFIGS), "run/gem5.json"]
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    lines = _lines(tmp_path / "run" / "stats.txt")
    assert sum("Begin Simulation Statistics" in line for line in lines) == 3
    assert lines == _lines(tmp_path / "again" / "stats.txt")
