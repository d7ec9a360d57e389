# SPDX-License-Identifier: BSD-3-Clause
"""The guest's side of what a system costs: every path is gone, the count repeats, and a system that is on is seen."""

import json
from pathlib import Path

import pytest

from lull.bench import cost
from lull.rundir.folder import RunDir
from tests.conftest import Lull

pytestmark = pytest.mark.guest

PATHS = ["wake", "switch", "fork", "timer", "input", "place", "process", "tcp", "udp", "connect"]


def counted(lull: Lull, place: Path, name: str, *settings: str) -> dict[str, float]:
    ran = lull("boot", "-e", "qemu", *settings, "--out", name, "--exec", "lull-cost -n 50 -r 5")
    assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["path"] for line in lines] == PATHS
    assert all(len(line["took_ns"]) == 5 for line in lines)
    run = RunDir.open(place / name)
    return cost.counted(run, run.spec().platform)


def test_the_count_repeats_and_sees_what_is_on(lull: Lull, tmp_path: Path) -> None:
    off = counted(lull, tmp_path, "off")
    again = counted(lull, tmp_path, "again")
    on = counted(lull, tmp_path, "on", "--set", "quiescence.enabled=1")
    assert off == again
    assert on["wake"] > off["wake"] + 100, "each wake-up is looked at: does the user wait for it?"
    assert on["place"] > off["place"] + 200, "and two wake-ups take twice as much"
    assert off["fork"] > off["process"] > off["switch"] > 100, "each is a way through the kernel"
    assert off["place"] > 2 * off["wake"], "a CPU is chosen for one of two wake-ups"


def test_packets_pass_the_network(lull: Lull, tmp_path: Path) -> None:
    """eanem that is on looks at each packet, and at nothing else. How many instructions a program's start takes differs
    by 1 % between two such boots, and a connection takes 5 % more."""
    off = counted(lull, tmp_path, "off")
    on = counted(lull, tmp_path, "on", "--set", "eanem.enabled=1")
    assert [path for path in PATHS if on[path] > 1.03 * off[path]] == ["tcp", "udp", "connect"]


def test_a_cpu_that_is_not_there_is_one_sentence(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--exec", "lull-cost -c 63 2>&1")
    assert (ran.returncode, ran.stdout) == (1, "lull-cost: cannot run on CPU 63: Invalid argument\n")
