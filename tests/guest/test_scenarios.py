# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios on QEMU, at the smallest size: every part of the way is there, and none of it is timing."""

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


def test_platform_check_from_command_to_figures(lull: Lull, tmp_path: Path) -> None:
    small = ["count=2", "sleep_ms=50", "loops=1", "events=5", "tasks=2"]
    words = [word for setting in small for word in ("--set", setting)]
    ran = lull("run", "platform-check", "-e", "qemu", *words, "--out", "out")
    assert ran.returncode == 0, ran.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "residency.parquet").to_pylist()
    assert {(row["asked"], row["cpu"]) for row in rows} == {(f"C{n}", cpu) for n in (1, 2, 3, 4) for cpu in (0, 1, 2)}
    for row in rows:
        assert 0.09 < row["linux_s"] <= row["window_s"]
        assert row["sleeps"] >= 2
        assert (row["firmware_s"], row["gem5_s"]) == (None, None)
    cpuidle = pq.read_table(tmp_path / "out" / "figures" / "cpuidle.parquet").to_pylist()
    assert cpuidle
    for row in cpuidle:
        assert (row["usage"] > 0) == (row["state"] == row["point"].removeprefix("residency/")), row
    loops = pq.read_table(tmp_path / "out" / "figures" / "frequency.parquet").to_pylist()
    assert {(row["cluster"], row["runs"]) for row in loops} == {("little", 1), ("big", 1), ("shadow", 1)}
    routing = pq.read_table(tmp_path / "out" / "figures" / "routing.parquet").to_pylist()
    assert [sum(row["events"] for row in routing if row["window"] == name) for name in ("quiet", "unrouted")] == [0, 5]


@pytest.mark.parametrize(
    ("name", "points"),
    [("multicore-power", {"steps"}), ("energy-validation", {"busy", "memory", "idle"})],
)
def test_steady_states_are_all_reached(lull: Lull, tmp_path: Path, name: str, points: set[str]) -> None:
    """Each window is recorded with who is busy, at every operating point of `tiny`; QEMU knows of no joules."""
    words = ["rest_us=2000", *(["memory_kib=256"] if name == "energy-validation" else [])]
    ran = lull("run", name, "-e", "qemu", "-p", "tiny", *(f"--set={word}" for word in words), "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert "no joules" in ran.stdout
    left = {
        point: list(map(json.loads, (tmp_path / "out" / point / "files" / "windows.jsonl").read_text().splitlines()))
        for point in points
    }
    for loop in {"busy", "memory"} & points:
        assert [(line["busy"], line["khz"] // 1000) for line in left[loop]] == [
            *(([0], mhz) for mhz in (450, 575, 700, 775, 850)),
            *(([1], mhz) for mhz in (450, 625, 800, 950, 1100)),
            *(([2], mhz) for mhz in (450, 575, 700)),
        ]
        assert {line["loop"] for line in left[loop]} == {"primes" if loop == "busy" else "memory"}
    if "idle" in points:
        assert [(line["state"], line["busy"]) for line in left["idle"]] == [(f"C{n}", []) for n in (1, 2, 3, 4)]
    if "steps" in points:
        assert [line["busy"] for line in left["steps"]] == [[], [0], [0, 1], [0, 1, 2]]


def test_a_soak_goes_on_and_is_summed(lull: Lull, tmp_path: Path) -> None:
    words = ("run", "soak", "-e", "qemu", "--set", "entries=20", "--out", "out")
    for points in (["quick/1-C3"], ["quick/1-*", "real/19-C4", "shared/*"]):
        ran = lull(*words, *(word for point in points for word in ("--points", point)))
        assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count(" kept") == 1
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    rows = pq.read_table(tmp_path / "out" / "figures" / "entries.parquet").to_pylist()
    assert {(row["state"], row["cpu"]) for row in rows} == {(f"C{n}", cpu) for n in (2, 3, 4) for cpu in (0, 1, 2)}
    for row in rows:
        assert row["entries"] >= 20 * row["points"]
        assert row["timer"] > 0
    assert sum(row["device"] for row in rows) > 0
    assert sum(row["call"] for row in rows) > 0
    shared = pq.read_table(tmp_path / "out" / "figures" / "shared.parquet").to_pylist()
    assert [row["cluster"] for row in shared] == ["little", "little", "big", "big", "shadow"]


def test_bad_words_to_the_guest_programs_change_nothing(lull: Lull) -> None:
    refused = {
        "wake-latency --state C9": "wake-latency: C9: No such file or directory",
        "wake-latency --state C1 --cpus 99": "wake-latency: the list of CPUs",
        "wake-latency --state C1 --count 0": "wake-latency: '0' is not a number from 1 to 1000000",
        "wake-latency --count 1": "usage: wake-latency",
        "wake-latency --state": "usage: wake-latency",
        "platform-check --state C9": "platform-check: C9: No such file or directory",
        "platform-check": "usage: platform-check",
        "steady-power --plan run": "usage: steady-power",
        "steady-power --plan idle --loop none": "usage: steady-power",
        "steady-power --plan steps --state C9": "steady-power: steps, C9: No such file or directory",
    }
    script = "".join(f'said=$({command} 2>&1) && echo accepted; echo "$said" | head -n 1\n' for command in refused)
    ran = lull("boot", "-e", "qemu", "--exec", f"{script}{DISABLED} | paste -s")
    *said, disabled = ran.stdout.splitlines()
    for line, sentence in zip(said, refused.values(), strict=True):
        assert line.startswith(sentence)
    assert disabled.split() == list("0111") * 3


def test_what_fails_within_a_guest_program_fails_it(lull: Lull) -> None:
    """A loop in the background, and a file that has no room for what is written to it."""
    script = """\
mkdir /tmp/bin && printf '#!/bin/sh\\nexit 3\\n' >/tmp/bin/lull-loop && chmod +x /tmp/bin/lull-loop || exit 1
PATH=/tmp/bin:$PATH placement-check 2 1
echo $?
platform-check --state C2 --count 1 --sleep-ms 1 --out /dev/full 2>&1
echo $?
lull-selftest soak --entries 1 --state C2 --out /dev/full | tail -n 1
"""
    ran = lull("boot", "-e", "qemu", "--exec", script)
    assert ran.stdout.splitlines() == [
        "3",
        "platform-check: No space left on device",
        "1",
        "Bail out! cannot write all of /dev/full",
    ]


def test_a_failing_point_fails_the_command_and_says_why(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "wake-latency", "-e", "qemu", "--set", "cpus=3-1", "--points", "states/C1", "--out", "out")
    assert ran.returncode == 1
    assert "states/C1 failed: the guest's command ended with status" in ran.stderr
    assert json.loads((tmp_path / "out" / "states" / "C1" / "manifest.json").read_text())["status"] != 0
