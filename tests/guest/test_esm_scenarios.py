# SPDX-License-Identifier: BSD-3-Clause
"""The ESM experiments on QEMU, at the smallest size: all three ways bring every event; none of it is timing."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.conftest import Lull

pytestmark = pytest.mark.guest

SMALL = ("-e", "qemu", "-p", "tiny", "--set", "windows=2", "--out", "out")


def _points(tmp_path: Path) -> dict[str, dict[str, Any]]:
    rows = pq.read_table(tmp_path / "out" / "figures" / "points.parquet").to_pylist()
    return {row["point"]: row for row in rows}


def test_keys_reach_the_handler_in_all_ways(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "esm-keyboard", *SMALL, "--set", "rate=600", "--set", "window_ms=500")
    assert ran.returncode == 0, ran.stderr
    points = _points(tmp_path)
    assert set(points) == {
        "models/pull-600", "models/epoll-600", "models/esm-600", "pull-longer/600", "esm-shadow/600",
        "epoll-shadow/600", "esm-thread/600",
    }  # fmt: skip
    # Five keys in each half second, each pressed and released; the last release may come after the end.
    assert {row["events"] for row in points.values()} <= {19, 20}
    assert len({row["events"] for row in points.values()}) == 1, "one seed, one schedule"
    assert points["models/pull-600"]["own_wakes_hz"] > 50
    for name in ("models/epoll-600", "models/esm-600"):
        assert points[name]["own_wakes_hz"] == 0
        assert points[name]["device_wakes_hz"] == pytest.approx(20, abs=2)
    assert points["models/pull-600"]["latency_us"] > 3000


def test_an_idle_application_wakes_nobody_by_esm(lull: Lull, tmp_path: Path) -> None:
    small = ("--set", "window_ms=100", "--points", "esm", "--points", "epoll", "--points", "pull-slow/1000")
    ran = lull("run", "esm-idle", *SMALL, *small)
    assert ran.returncode == 0, ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    points = _points(tmp_path)
    for name in ("esm", "epoll"):
        assert (points[name]["cpu_share"], points[name]["own_wakes_hz"]) == (0, 0)
    assert points["pull-slow/1000"]["own_wakes_hz"] > 500


def test_what_nobody_asked_for_does_not_reach_the_application(lull: Lull, tmp_path: Path) -> None:
    words = ("--set", "moves=100", "--set", "window_ms=500", "--points", "clicks-only/*")
    ran = lull("run", "esm-gesture", *SMALL, *words)
    assert ran.returncode == 0, ran.stderr
    made = lull("figures", "out")
    assert made.returncode == 0, made.stderr
    points = _points(tmp_path)
    epoll, esm = points["clicks-only/epoll-100"], points["clicks-only/esm-100"]
    assert epoll["events"] == esm["events"] == 4
    assert epoll["cpu_share"] > 5 * esm["cpu_share"]


def test_a_seed_is_a_schedule(lull: Lull) -> None:
    play = "input-app --mode epoll --keys 1200 --moves 20 --windows 2 --window-ms 200"
    cut = "sed 's/.*hardware_ns\":\\([0-9]*\\),.*/\\1/' /out/events.jsonl"
    begun = "begun=$(sed 's/.*ordered_ns\":\\([0-9]*\\),.*/\\1/' /out/run.jsonl)"
    show = f"{begun}; for at in $({cut}); do echo $((at - begun)); done"
    ran = lull("boot", "-e", "qemu", "--exec", "".join(f"{play} --seed {seed}; {show}; echo;" for seed in (1, 1, 2)))
    assert ran.returncode == 0, ran.stderr
    one, again, other, *_ = [list(map(int, block.split())) for block in ran.stdout.split("\n\n")]
    # Six warm-up events, then 4 keys and 4 motions in each of two windows.
    assert len(one) == len(again) == len(other) in (6 + 23, 6 + 24)
    # The second window is of seed + 1, as the first one of the other run is.
    assert max(abs(a - b) for a, b in zip(one, again, strict=True)) < 100_000
    first, second = ([at % 200_000_000 for at in run[6:]] for run in (one, other))
    assert abs(first[12] - second[0]) < 100_000
    assert max(abs(a - b) for a, b in zip(first, second, strict=True)) > 1_000_000


def test_bad_words_to_the_application_change_nothing(lull: Lull) -> None:
    refused = {
        "input-app": "usage: input-app",
        "input-app --mode push": "usage: input-app",
        "input-app --mode esm --listen none": "usage: input-app",
        "input-app --mode pull --delay-us 0": "input-app: '0' is not a number from 1 to 100000000",
        "input-app --mode esm --dispatch later": "input-app: dispatch: Invalid argument",
        "input-app --mode epoll --cpu 60": "input-app: the CPU: Invalid argument",
    }
    script = "".join(f'said=$({command} 2>&1) && echo accepted; echo "$said" | head -n 1\n' for command in refused)
    ran = lull("boot", "-e", "qemu", "--exec", script)
    said = ran.stdout.splitlines()
    assert [line[: len(sentence)] for line, sentence in zip(said, refused.values(), strict=True)] == list(
        refused.values()
    )


def test_the_record_says_what_was_played(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "--exec", "input-app --mode esm --keys 600 --windows 2; cat /out/run.jsonl")
    assert ran.returncode == 0, ran.stderr
    line = json.loads(ran.stdout)
    assert (line["mode"], line["lost"], line["late"]) == ("esm", 0, 0)
    assert line["handled"] == line["planned"] == 2 * 2 * 10 + 6
    assert line["elapsed_ns"] > 2_200_000_000
    assert line["cpu_ns"] < line["elapsed_ns"] / 100
