# SPDX-License-Identifier: BSD-3-Clause
"""A command begins on atomic CPUs and goes on with detailed ones, as if nothing had happened."""

import json
from pathlib import Path

import pytest

from lull.rundir.folder import RunDir
from lull.trace import recording
from tests.conftest import Lull

pytestmark = pytest.mark.gem5

COMMAND = "echo begun; for i in 1 2 3 4 5 6 7 8; do sleep 0.005; done; cat /proc/uptime; lull-cpus; exit 3"


def test_detailed_cpus_take_over_in_the_middle_of_a_command(lull: Lull, tmp_path: Path) -> None:
    ran = lull(
        "boot", "-e", "gem5", "--cpu", "detailed", "--set", "idle.deepest=C4", "--set", "cpufreq=schedutil",
        "--trace", "power", "--trace", "sched", "--fast-forward", "20ms", "--exec", COMMAND, "--out", "run",
    )  # fmt: skip
    assert ran.returncode == 3, f"the status is the command's own: {ran.stderr}"
    said = (tmp_path / "run" / "stdout").read_text().splitlines()
    assert said[0] == "begun", "what was said on atomic CPUs is there once"
    assert said.count("begun") == 1

    rundir = RunDir.open(tmp_path / "run")
    details = json.loads((tmp_path / "run" / "manifest.json").read_text())["details"]
    forwarded = details["fast_forward"]
    assert forwarded["ticks"] > 0.02e12, "and the start of the trace"
    assert not (tmp_path / "run" / "fast-forward" / "cpt").exists(), "some hundred megabytes"
    record = recording.load(rundir)
    assert record.begin >= details["start_tick"], "the trace is of the detailed CPUs alone"
    assert record.end - record.begin > 15e9

    ran = lull("energy", "run")
    assert ran.returncode == 0, ran.stderr


def test_a_fast_forward_that_outlasts_the_command_is_refused(lull: Lull, tmp_path: Path) -> None:
    ran = lull(
        "boot",
        "-e",
        "gem5",
        "--cpu",
        "detailed",
        "--fast-forward",
        "50ms",
        "--sim-limit",
        "0.01",
        "--exec",
        "sleep 0.02",
    )
    assert ran.returncode == 2
    assert "within its fast-forward of 0.05 s; give a shorter fast-forward" in ran.stderr
