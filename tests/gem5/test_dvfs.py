# SPDX-License-Identifier: BSD-3-Clause
"""Frequency on gem5: what the guest asks for is what its clocks do and how fast a loop runs."""

import json
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lull.platform.load import load_platform
from tests.conftest import Lull

pytestmark = pytest.mark.gem5

EVERY_POINT = """
cd /sys/devices/system/cpu/cpufreq
cat policy*/scaling_governor policy*/stats/total_trans >/out/before
for policy in policy*; do
    echo userspace >$policy/scaling_governor
    for khz in $(cat $policy/scaling_available_frequencies); do
        echo $khz >$policy/scaling_setspeed
        lull-loop -c ${policy#policy} -r 5
    done
done
cat policy*/stats/total_trans >/out/after
"""


@pytest.mark.parametrize("cpu", ["timing", pytest.param("detailed", marks=pytest.mark.slow)])
def test_a_loops_time_is_inverse_to_the_frequency(lull: Lull, tmp_path: Path, cpu: str) -> None:
    ran = lull("boot", "-e", "gem5", "-p", "tiny", "--cpu", cpu, "--out", "run", "--exec", EVERY_POINT)
    assert ran.returncode == 0, ran.stderr
    run = tmp_path / "run"
    clusters = load_platform("tiny").resolved_clusters()
    changes = [len(cluster.opps.table) for cluster in clusters]  # from the fastest to the slowest, and all the way up

    boot = (run / "files" / "before").read_text().split()
    assert boot == ["performance"] * len(clusters) + ["0"] * len(clusters), "no change before the checkpoint"
    assert [int(word) for word in (run / "files" / "after").read_text().split()] == changes
    assert json.loads((run / "manifest.json").read_text())["stats_windows"] == sum(changes) + 1

    # Interrupts and cold caches only ever add: the quickest of the runs has the fewest of them.
    quickest: dict[int, dict[int, int]] = defaultdict(dict)
    for line in map(json.loads, ran.stdout.splitlines()):
        of_cpu = quickest[line["cpu"]]
        of_cpu[line["khz"]] = min(line["ticks"], of_cpu.get(line["khz"], line["ticks"]))
    first = 0
    for cluster in clusters:
        ticks = quickest.pop(first)
        assert sorted(ticks) == [opp.hz // 1000 for opp in cluster.opps.table]
        products = [khz * count for khz, count in ticks.items()]
        assert max(products) / min(products) < 1.01, (cluster.name, ticks)
        first += cluster.cpus
    assert not quickest


def test_the_clocks_of_the_machine_change(lull: Lull, tmp_path: Path) -> None:
    """Each window of statistics has one period, and all together those of the platform file."""
    ran = lull("boot", "-e", "gem5", "-p", "tiny", "--cpu", "timing", "--out", "run", "--exec", EVERY_POINT)
    assert ran.returncode == 0, ran.stderr
    periods: dict[str, list[float]] = defaultdict(list)
    for row in pq.read_table(tmp_path / "run" / "stats.parquet").to_pylist():
        periods[row["statistic"]].append(row["value"])
    for number, cluster in enumerate(load_platform("tiny").resolved_clusters()):
        wanted = [1e12 / opp.hz for opp in cluster.opps.table]
        found = sorted(set(periods[f"system.cluster{number}.clk_domain.clock"]), reverse=True)
        assert found == pytest.approx(wanted, abs=0.51), cluster.name
