# SPDX-License-Identifier: BSD-3-Clause
"""CPUs do what a window was asked to hold, and the ledger says what one more of them burns."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.gem5


@pytest.mark.slow
def test_each_busy_cpu_adds_to_the_power_of_a_machine(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "multicore-power", "-e", "gem5", "-p", "tiny", "--cpu", "detailed", "--out", "out")
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    folder = tmp_path / "out" / "figures"
    checks = json.loads((folder / "checks.json").read_text())
    assert checks[0]["name"] == "CPUs do what was asked"
    assert all(check["passed"] for check in checks), checks
    watts = pq.read_table(folder / "steps.parquet")["calibrated_w"].to_pylist()
    assert len(watts) == 4
    assert watts == sorted(watts)
