# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU, at its smallest: from the command to the figures, and nothing of it is timing."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull
from tests.machines import DISABLED

pytestmark = pytest.mark.guest


def test_wake_latency_from_command_to_figures(lull: Lull, tmp_path: Path) -> None:
    words = ("run", "wake-latency", "-e", "qemu", "--set", "count=10", "--set", "span_us=200", "--out", "out")
    ran = lull(*words, "--points", "states/*")
    assert ran.returncode == 0, ran.stderr
    assert "figures: 30 of 34 points are not there yet" in ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    folder = tmp_path / "out" / "figures"
    summary = {
        (row["cluster"], row["state"]): row["n"] for row in pq.read_table(folder / "summary.parquet").to_pylist()
    }
    assert set(summary) == {(cluster, f"C{n}") for cluster in ("little", "big", "shadow") for n in (1, 2, 3, 4)}
    assert min(summary.values()) >= 7
    assert "functional, no timing" in (folder / "summary.md").read_text()
    refused = lull("figures", "out", "--publish")
    assert refused.returncode == 2
    assert "made by QEMU, which has no timing" in refused.stderr
    again = lull(*words, "--points", "states/*")
    assert again.returncode == 0, again.stderr
    assert again.stderr.count(" kept") == 4


def test_idle_states_are_as_before_after_a_measurement(lull: Lull) -> None:
    measure = "wake-latency --state C3 --count 2 >/dev/null || exit 1"
    ran = lull("boot", "-e", "qemu", "--exec", f"lull-policy idle.deepest=C2; {DISABLED}; {measure}; {DISABLED}")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == list("0011") * 3 * 2


def test_a_failing_point_fails_the_command_and_says_why(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "wake-latency", "-e", "qemu", "--set", "cpus=3-1", "--points", "states/C1", "--out", "out")
    assert ran.returncode == 1
    assert "states/C1 failed: the guest's command ended with status" in ran.stderr
    assert json.loads((tmp_path / "out" / "states" / "C1" / "manifest.json").read_text())["status"] != 0
