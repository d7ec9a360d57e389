# SPDX-License-Identifier: BSD-3-Clause
"""The experiment on QEMU: every way downloads, and the manager decides."""

import math
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.notebook import opening
from lull.platform.load import load_platform
from tests.conftest import Lull

pytestmark = pytest.mark.guest

KEYS = ("cluster", "speed", "opp", "limit")
"""The first words of the lines of a model."""


def test_every_way_downloads(lull: Lull, tmp_path: Path) -> None:
    ran = lull("run", "eanem-ftp", "-e", "qemu", "--points", "paper/100000-*", "--points", "today/*", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    figures = lull("figures", "out")
    assert figures.returncode == 0, figures.stderr
    tables = tmp_path / "out" / "figures"
    points = {row["point"]: row for row in pq.read_table(tables / "points.parquet").to_pylist()}
    assert {row["way"] for row in points.values()} == {
        "eas", "eanem", "napi", "threaded", "coalesce", "slow_rate", "pacing", "rcvbuf", "uclamp",
    }  # fmt: skip
    for row in points.values():
        assert "power_w" not in row, "QEMU's time is no timing"
        if row["way"] not in ("rcvbuf", "uclamp"):
            assert 0.9 < row["performance"] <= 1
    decisions = pq.read_table(tables / "decisions.parquet").to_pylist()
    assert decisions[0]["why"] == "traffic began"
    assert (decisions[0]["little"] or 0) + (decisions[0]["big"] or 0) >= 1
    assert decisions[0]["at_us"] < 0, "before the window that counts"
    switches = opening.open(tmp_path / "out" / "paper" / "100000-eanem").trace.df_event("sched_switch")
    (usual,) = switches[switches["next_comm"] == "eanemd"]["cpu"].mode()[:1]
    clusters = load_platform("exynos5422").cpu_ranges()
    (packets,) = [cpus[: decisions[0][cluster.name]] for cpus, cluster in clusters if decisions[0].get(cluster.name)]
    assert usual in packets, "the manager is where the packets are"


@pytest.mark.parametrize("platform", ["exynos5422", "rk3399"])
def test_the_model_is_of_the_platform(lull: Lull, platform: str) -> None:
    ran = lull("boot", "-e", "qemu", "-p", platform, "--exec", "eanem-model 1.5 -2 3 0.4 5 6 7 0.8 4.5")
    assert ran.returncode == 0, ran.stderr
    expected = []
    given = (("little", "1.5 -2 3", "0.4"), ("big", "5 6 7", "0.8"))
    for (name, packet, static), (cpus, cluster) in zip(given, load_platform(platform).cpu_ranges(), strict=True):
        watts = cluster.dynamic_power_coefficient.value / 1e3
        expected += [
            f"cluster {name} {cpus.start} {len(cpus)} {packet} {watts:g} {static}",
            f"speed {name} {cluster.capacity_dmips_mhz.value}",
            *(f"opp {name} {opp.mhz:g} {math.floor(opp.mv + 0.5)}" for opp in cluster.opps.table),
        ]
    assert [line for line in ran.stdout.splitlines() if line.split()[0] in KEYS] == [*expected, "limit 4.5"]


def test_a_machine_that_is_not_of_two_clusters_has_no_model(lull: Lull) -> None:
    ran = lull("boot", "-e", "qemu", "-p", "tiny", "--exec", "eanem-model 1 0 0 0 1 0 0 0 1")
    assert ran.returncode == 2
    said = ran.stdout + ran.stderr
    assert re.search("^eanem-model: this machine has [13] clusters .*; the model is of two", said, re.MULTILINE)


WAYS = """
net=/sys/class/net/eth0
bytes() {
    sed 's/.*"bytes":\\([0-9]*\\),"slept.*/\\1/' /out/load.jsonl | tail -n 5 | awk '{sum += $1} END {print sum}'
}
eanem-load --phases 0:0 --interval-us 10000 --settle 1 --intervals 5 --steer 0 --monitor 0
echo free $(bytes)
for way in eas napi threaded coalesce pacing rcvbuf slow_rate uclamp; do
    eanem-way $way 20000 10000 1 5 50000 0 0 0 120000 0 0 0 4.48 2>&1 || exit 1
    echo $way $(bytes) $(cat /sys/kernel/lull/eanem/enabled)
done
echo settings $(cat $net/gro_flush_timeout $net/napi_defer_hard_irqs $net/threaded)
echo limits $(cat /sys/devices/system/cpu/cpufreq/policy*/schedutil/rate_limit_us)
group=/sys/fs/cgroup/download
echo group $(cat $group/cpu.uclamp.max) $(sed -n 's/usage_usec //p' $group/cpu.stat)
for task in /proc/[0-9]*; do
    case $(cat $task/comm 2>/dev/null) in
    napi/eth0*) echo thread $(sed -n 's/^voluntary_ctxt_switches:.//p' $task/status) ;;
    esac
done
"""


def test_each_way_of_linux_does_something(lull: Lull, tmp_path: Path) -> None:
    (tmp_path / "ways.sh").write_text(WAYS)
    machine = ["-p", "exynos5422", "-e", "qemu", "--set", "cpufreq=schedutil", "--set", "eanem.enabled=1"]
    words = ["--peer", "lull-net serve", "--put", "ways.sh:/ways.sh", "--exec", "sh /ways.sh", "--out", "run"]
    ran = lull("boot", *machine, *words)
    assert ran.returncode == 0, (ran.stdout, ran.stderr)
    assert "eanem-coalesce: eth0: Operation not supported\n" in ran.stdout, "by QEMU's card"
    said = {words[0]: words[1:] for words in map(str.split, ran.stdout.splitlines())}
    target = 20e6 / 8 * 0.05
    free = int(said["free"][0])
    assert free > 2 * target, "without anything, more comes"
    for way in ("eas", "napi", "threaded", "coalesce", "pacing", "slow_rate"):
        assert int(said[way][0]) == pytest.approx(target, rel=0.2), way
        assert said[way][1] == ("0" if way == "pacing" else "1")
    assert said["rcvbuf"][1] == "0"
    assert 0 < int(said["rcvbuf"][0]) < free / 2, "a small window limits"
    assert said["settings"] == ["100000", "2", "1"]
    assert set(said["limits"]) == {"50000"}
    assert said["group"][0] == "25.00"
    assert int(said["group"][1]) > 0, "the program was in the group"
    assert int(said["thread"][0]) > 10, "packets were the thread's"
