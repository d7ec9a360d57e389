# SPDX-License-Identifier: BSD-3-Clause
"""The answers that a guest must give about the machine of a platform file, computed without the device tree."""

import json
from collections import Counter

from lull.platform.schema import Platform

DISABLED = "cat /sys/devices/system/cpu/cpu*/cpuidle/state*/disable"
"""A command that shows which idle states are off, a line each, by CPU."""


def expected_cpus(platform: Platform) -> list[dict[str, object]]:
    """Return, per CPU: model, role, capacity as Linux scales it (the fastest CPU at its highest OPP is 1024), and
    place.

    Linux counts clusters within a package.
    """
    clusters = platform.resolved_clusters()
    strength = {
        cluster.name: cluster.capacity_dmips_mhz.value * max(opp.mhz for opp in cluster.opps.table)
        for cluster in clusters
    }
    strongest = max(strength.values())
    cpus: list[dict[str, object]] = []
    seen: Counter[int] = Counter()
    for cluster in clusters:
        for _ in range(cluster.cpus):
            cpus.append(
                {
                    "cpu": len(cpus),
                    "online": True,
                    "model": f"arm,cortex-{cluster.core.removesuffix('-shadow')}",
                    "role": platform.role(cluster),
                    "capacity": int(strength[cluster.name] * 1024 // strongest),
                    "idle_states": [state.name for state in cluster.cstates],
                    "package": cluster.socket,
                    "cluster": seen[cluster.socket],
                }
            )
        seen[cluster.socket] += 1
    return cpus


POLICIES = """
cd /sys/devices/system/cpu/cpufreq
for policy in $(ls | grep policy | sort -t y -k 2 -n); do
    cat $policy/scaling_driver $policy/scaling_governor $policy/stats/total_trans
    cat $policy/cpuinfo_cur_freq $policy/cpuinfo_transition_latency
    cat $policy/related_cpus
done
"""


def expected_policies(platform: Platform) -> list[str]:
    """Return what `POLICIES` prints: each cluster is a policy of our driver, at its fastest point, and never
    changed."""
    clusters = platform.resolved_clusters()
    latency_ns = max(round(cluster.transition_latency_us.value * 1000) for cluster in clusters)
    lines, first = [], 0
    for cluster in clusters:
        khz = max(opp.hz for opp in cluster.opps.table) // 1000
        cpus = " ".join(str(first + cpu) for cpu in range(cluster.cpus))
        lines += ["lull-cpufreq", "performance", "0", str(khz), str(latency_ns), cpus]
        first += cluster.cpus
    return lines


def assert_cpus(said: str, platform: Platform) -> None:
    """The output of `nproc; lull-cpus` is of this machine."""
    count, *lines = said.splitlines()
    assert int(count) == platform.cpu_count - platform.shadow.enabled, "what is not pinned does not get the shadow"
    expected = expected_cpus(platform)
    cpus = [{key: cpu[key] for key in expected[0]} for cpu in map(json.loads, lines)]
    for cpu in cpus:
        cpu["idle_states"] = [state["name"] for state in cpu["idle_states"]]
    assert cpus == expected
