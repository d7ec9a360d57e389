# SPDX-License-Identifier: BSD-3-Clause
"""Sleep on gem5: it ends, an interrupt in the middle of an entry gives that up, and the last CPU takes the cluster."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull
from tests.selftests import judge

pytestmark = pytest.mark.gem5


@pytest.mark.parametrize(
    "command", ["soak --entries 50", *(pytest.param(name, marks=pytest.mark.slow) for name in ("hotplug 1", "cstates"))]
)
def test_what_the_guest_checks_itself(lull: Lull, command: str) -> None:
    judge(lull("boot", "-e", "gem5", "-p", "tiny", "--cpu", "atomic", "--exec", f"lull-selftest {command}"))


def _soaked(lull: Lull, out: Path, point: str, entries: int) -> dict[str, dict[str, Any]]:
    """Return the fate of the entries of each cluster. Timing CPUs wait for the latency devices, as detailed ones do."""
    words = ("run", "soak", "-e", "gem5", "--cpu", "timing", "--points", point, "--set", f"entries={entries}")
    ran = lull(*words, "--out", str(out))
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    made = lull("figures", str(out))
    assert made.returncode == 0, f"{made.stdout}{made.stderr}"
    rows = pq.read_table(out / "figures" / "tries.parquet").to_pylist()
    return {row["cluster"]: row for row in rows}


def test_an_interrupt_during_an_entry_gives_it_up(lull: Lull, tmp_path: Path) -> None:
    """Not every one that comes then does: PSCI looks before the hardware's time, firmware in the middle of it."""
    tries = _soaked(lull, tmp_path / "out", "real/19-C3", 150)
    assert sum(row["tried"] - row["refused"] - row["reached"] for row in tries.values()) > 0
    for row in tries.values():
        assert 0 < row["reached"] <= row["tried"] - row["refused"]


def test_the_last_cpu_of_a_cluster_turns_it_off(lull: Lull, tmp_path: Path) -> None:
    tries = _soaked(lull, tmp_path / "out", "shared/21-C4", 100)
    for row in tries.values():
        assert 0 < row["cluster_off"] <= row["reached"]
    for name in ("little", "big"):
        assert tries[name]["cluster_off"] < tries[name]["reached"], "a CPU whose neighbour is awake sleeps alone"
    assert tries["shadow"]["cluster_off"] == tries["shadow"]["reached"]
