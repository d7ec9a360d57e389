# SPDX-License-Identifier: BSD-3-Clause
"""Idle statistics of a run, summed and shown."""

import json
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner

from lull.cli.app import app
from lull.errors import UserError
from lull.platform.load import load_platform
from lull.rundir import cpuidle
from lull.rundir.folder import CPUIDLE, RunDir
from lull.rundir.manifest import Manifest
from tests.specs import spec


def rows(platform: str, governor: str | None = None) -> list[cpuidle.Row]:
    """Every CPU was 100 ms in C1, in 10 entries, of a second; and in C2 half as much."""
    found: list[cpuidle.Row] = []
    number = 0
    for cluster in load_platform(platform).resolved_clusters():
        for _ in range(cluster.cpus):
            for state, name in enumerate(("C1", "C2", "C3", "C4")):
                row: cpuidle.Row = {
                    "cpu": number, "name": name, "window_us": 1_000_000,
                    "usage": (10, 5, 0, 0)[state], "time_us": (100_000, 50_000, 0, 0)[state],
                    "above": int(state == 1), "below": 2 * int(state == 0), "rejected": 0,
                    "disabled": name == "C4", "governor": "menu", "cpufreq_governor": governor,
                }  # fmt: skip
                found.append(row)
            number += 1
    return found


def test_sums_by_cluster() -> None:
    little, big = cpuidle.by_cluster(rows("exynos5422"), load_platform("exynos5422"))
    assert (little.name, little.cpus, big.cpus) == ("little", "0-3", "4-7")
    assert little.states["C1"] == cpuidle.Use(entries=40, share=0.1, enabled=True)
    assert little.states["C2"] == cpuidle.Use(entries=20, share=0.05, enabled=True)
    assert little.states["C4"] == cpuidle.Use(entries=0, share=0.0, enabled=False)
    assert (little.above, little.below, little.rejected) == (4, 8, 0)


def test_a_state_that_nobody_counted() -> None:
    (little, *_) = cpuidle.by_cluster([], load_platform("tiny"))
    assert little.states["C1"] == cpuidle.Use(entries=0, share=0.0, enabled=False)


def test_governors() -> None:
    assert cpuidle.governors(rows("tiny")) == {"governor": ["menu"], "cpufreq_governor": []}
    assert cpuidle.governors(rows("tiny", "schedutil"))["cpufreq_governor"] == ["schedutil"]
    assert cpuidle.governors([]) == {"governor": [], "cpufreq_governor": []}


def counted(path: Path, platform: str, traced: bool, forwarded: float | None = None) -> cpuidle.ClusterUse:
    """The first cluster of a run whose guest counted for a second, 40 ms of it before the command."""
    (path / CPUIDLE).write_text("".join(json.dumps(row) + "\n" for row in rows(platform)))
    asked = spec(
        platform=platform, engine="gem5", cpu="detailed", trace=("sched",) if traced else (), fast_forward_s=forwarded
    )
    manifest = cast(Manifest, {"simulated_s": 0.96})
    return cpuidle.by_cluster(cpuidle.of_command(path, asked, manifest), load_platform(platform))[0]


def test_idle_seconds_before_a_traced_command_do_not_count(tmp_path: Path) -> None:
    little = counted(tmp_path, "exynos5422", traced=True)
    assert little.states["C1"].share == pytest.approx(0.06 / 0.96)
    assert little.states["C2"].share == pytest.approx(0.05 / 0.96)
    assert little.states["C1"].entries == 40, "nobody knows how many of them came before the command"


@pytest.mark.parametrize(("traced", "forwarded"), [(False, None), (True, 0.01)])
def test_without_such_seconds_all_counts(tmp_path: Path, traced: bool, forwarded: float | None) -> None:
    """In a fast-forward CPUs work, too, so the time in C1 is not known."""
    assert counted(tmp_path, "exynos5422", traced, forwarded).states["C1"].share == pytest.approx(0.1)


def test_no_file_and_a_broken_one(tmp_path: Path) -> None:
    assert cpuidle.read(tmp_path / CPUIDLE) == []
    (tmp_path / CPUIDLE).write_text('{"cpu": 0')
    with pytest.raises(UserError, match=r"cpuidle\.jsonl: line 1: Invalid JSON.*; run the command again$"):
        cpuidle.read(tmp_path / CPUIDLE)


def a_run(folder: Path, platform: str, *words: str) -> RunDir:
    run = RunDir.create(folder, spec(*words, platform=platform, engine="gem5", cpu="detailed"))
    run.begin({"name": "gem5", "version": "24.0.0.1"}, {})
    run.finish(
        {"status": 0, "simulated_s": 1.0, "wall_s": 60.0, "instructions": 10**7, "stats_windows": 2, "details": {}}
    )
    (run / "stdout").write_text("".join(f"line {number}\n" for number in range(100)))
    return run


def shown(run: RunDir) -> str:
    result = CliRunner().invoke(app, ["show", str(run.path)], env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    return result.output


def test_show_has_the_idle_states_of_each_cluster_on_one_screen(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run", "server", "shadow.enabled=true", "governor=teo", "cstates.C3.advertised.exit_us=18")
    cpus = rows("server") + rows("server")[:4]
    for number, row in enumerate(cpus):
        row["cpu"] = number // 4
    (run / CPUIDLE).write_text("".join(json.dumps(row) + "\n" for row in cpus))
    output = shown(run)
    lines = [line.split() for line in output.splitlines()]
    assert ["socket0", "0-5", "60", "10.0%", "30", "5.0%", "0", "0.0%", "off", "6", "12", "0"] in lines
    assert ["shadow", "12", "10", "10.0%", "5", "5.0%", "0", "0.0%", "off", "1", "2", "0"] in lines
    said = " ".join(output.split())
    assert "governor=teo" in said
    assert "other advertised latencies than at boot (socket0 C3, socket1 C3, shadow C3)" in said
    assert "at the end governor menu, frequency governor none" in said
    assert len(lines) <= 32


def test_show_of_a_run_that_counted_nothing(tmp_path: Path) -> None:
    output = shown(a_run(tmp_path / "run", "tiny"))
    assert "as booted" in output
    assert "idle states" not in output
