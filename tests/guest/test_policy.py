# SPDX-License-Identifier: BSD-3-Clause
"""A run's policy is in force when its command starts, and what the CPUs' idle states did comes back."""

import json
from pathlib import Path
from typing import Any

import pytest

from lull.platform.load import load_platform
from tests.conftest import Lull
from tests.machines import DISABLED

pytestmark = pytest.mark.guest


def counted(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "cpuidle.jsonl").read_text().splitlines()]


def test_idle_states_are_counted_for_each_cpu(lull: Lull, tmp_path: Path) -> None:
    ran = lull("boot", "-e", "qemu", "--set", "idle.deepest=C4", "--out", "run", "--exec", "sleep 0.5; echo done")
    assert (ran.returncode, ran.stdout) == (0, "done\n"), ran.stderr
    assert not (tmp_path / "run" / "files").exists(), "nothing of it is in the script's folder"
    rows = counted(tmp_path / "run")
    told = [
        (cpu, number, state.name, state.advertised.latency_us, state.advertised.residency_us)
        for cpu, cluster in enumerate(load_platform("tiny").resolved_clusters())
        for number, state in enumerate(cluster.cstates)
    ]
    assert [tuple(row[k] for k in ("cpu", "state", "name", "latency_us", "residency_us")) for row in rows] == told
    assert {row["governor"] for row in rows} == {"menu"}
    assert not any(row["disabled"] for row in rows)
    for cpu in range(3):
        own = [row for row in rows if row["cpu"] == cpu]
        assert all(row[key] >= 0 for row in own for key in ("usage", "time_us", "above", "below", "rejected"))
        assert all(row["window_us"] > 500_000 for row in own)
        # All were idle for most of the half second, and nobody sleeps longer than the window.
        assert 450_000 < sum(row["time_us"] for row in own) <= own[0]["window_us"]
    assert sum(row["usage"] for row in rows if row["name"] == "C4") > 0


def test_a_run_that_asks_for_nothing_leaves_deep_states_off(lull: Lull, tmp_path: Path) -> None:
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", f"{DISABLED}; sleep 0.1")
    assert ran.stdout.split() == list("0111") * 3
    rows = counted(tmp_path / "run")
    assert {row["name"] for row in rows if not row["disabled"]} == {"C1"}
    assert sum(row["usage"] for row in rows if row["name"] != "C1") == 0


def test_a_full_out_and_a_cpu_that_is_off_do_not_matter(lull: Lull, tmp_path: Path) -> None:
    fill = "dd if=/dev/zero of=/out/fill bs=1M 2>/dev/null; rm -f /out/fill; echo mine > /out/cpuidle.jsonl"
    off = "echo 0 > /sys/devices/system/cpu/cpu2/online"
    full = "mount -t tmpfs -o size=4k none /out; dd if=/dev/zero of=/out/x bs=4k 2>/dev/null"
    ran = lull("boot", "-e", "qemu", "--out", "run", "--exec", f"{fill}; {off}; exit 3")
    assert ran.returncode == 3, ran.stderr
    assert (tmp_path / "run" / "files" / "cpuidle.jsonl").read_text() == "mine\n"
    assert {row["cpu"] for row in counted(tmp_path / "run")} >= {0, 1}
    ran = lull("boot", "-e", "qemu", "--out", "full", "--exec", f"{full}; exit 4")
    assert ran.returncode == 4, ran.stderr
    assert len(counted(tmp_path / "full")) == 12


def test_every_setting_is_in_force_when_the_command_starts(lull: Lull, tmp_path: Path) -> None:
    settings = (
        *("governor=teo", "cpufreq=775000", "idle.deepest=C3", "routing=shadow-when-asleep", "routing.depth=C4"),
        *("cstates.C3.advertised.residency_us=2600", "cstates.C4.advertised.residency_us=9000"),
        "clusters.big.cstates.C4.advertised.exit_us=1300",
    )
    words = [part for setting in settings for part in ("--set", setting)]
    read = f"""
    cd /sys/devices/system/cpu
    cat cpuidle/current_governor cpu*/cpufreq/scaling_cur_freq
    {DISABLED}
    cd /sys/kernel/lull/routing
    cat enabled policy depth
    """
    ran = lull("boot", "-e", "qemu", *words, "--out", "run", "--exec", read)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == [
        *("teo", "775000", "800000", "700000"),
        *(list("0001") * 3),
        *("1", "shadow-when-asleep", "C4"),
    ]
    rows = counted(tmp_path / "run")
    assert {(row["governor"], row["cpufreq_governor"]) for row in rows} == {("teo", "userspace")}
    told = {(row["cpu"], row["name"]): (row["latency_us"], row["residency_us"]) for row in rows}
    assert [told[cpu, "C3"] for cpu in range(3)] == [(1500, 2600)] * 3
    assert [told[cpu, "C4"] for cpu in range(3)] == [(1600, 9000), (1700, 9000), (1600, 9000)]
    shown = lull("show", "run")
    assert "governor=teo" in shown.stdout
    assert "at the end governor teo" in shown.stdout


def test_a_setting_that_does_not_take_effect_ends_the_run(lull: Lull) -> None:
    """No kernel knows this one, and the host would not let it through."""
    ran = lull("boot", "-e", "qemu", "--exec", "lull-policy governor=sloth idle.deepest=C4; status=$?; exit $status")
    assert ran.returncode == 125
    assert ran.stdout == "lull: governor=sloth: /sys/devices/system/cpu/cpuidle/current_governor refuses sloth\n"


def test_a_policy_that_does_not_fit_the_platform_starts_nothing(lull: Lull, tmp_path: Path) -> None:
    for word, sentence in {
        "governor=ladder": "--set governor=ladder: unknown; use `menu`, `teo`, `haltpoll`",
        "cpufreq=1": "--set cpufreq=1: no cluster of tiny has an OPP of 1 kHz; use 450000",
        "cstates.C3.advertised.residency_us=1499": "platforms/tiny.yaml: clusters[0].cstates[2].advertised."
        "residency_us: 1499 is below entry + exit, 1500; raise it or lower those (and 2 more)",
        "cstates.C3.exit_us=-1": "platforms/tiny.yaml: clusters[0].cstates[2].actual.exit_us: -1 is too small; "
        "give 0 or more (and 2 more)",
    }.items():
        ran = lull("boot", "-e", "qemu", "--set", word)
        assert (ran.returncode, ran.stderr) == (2, f"lull: {sentence}\n")
    ran = lull("boot", "-e", "qemu", "--no-shadow", "--set", "routing=always-shadow")
    assert (ran.returncode, ran.stderr) == (
        2,
        "lull: --set routing=always-shadow: tiny has no shadow core here; add --shadow\n",
    )
    assert list(tmp_path.iterdir()) == []
