# SPDX-License-Identifier: BSD-3-Clause
"""What a guest must say of the machine that its platform file describes, computed without the device tree."""

import json
from collections import Counter

from lull.platform.schema import Platform


def expected_cpus(platform: Platform) -> list[dict[str, object]]:
    """Per CPU: model, role, capacity as Linux scales it (the fastest CPU at its highest OPP is 1024), and place.

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


def said_cpus(stdout: str, platform: Platform) -> list[dict[str, object]]:
    """The same facts from the output of `lull-cpus`."""
    keys = expected_cpus(platform)[0].keys()
    cpus = [{key: cpu[key] for key in keys} for cpu in map(json.loads, stdout.splitlines())]
    for cpu in cpus:
        cpu["idle_states"] = [state["name"] for state in cpu["idle_states"]]
    return cpus
