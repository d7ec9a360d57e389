# SPDX-License-Identifier: BSD-3-Clause
"""Changes of advertised idle latencies after Linux has booted.

A machine always boots with the advertised numbers of its platform file, because the device tree is part of the
checkpoint. A run with other numbers writes them to /sys/kernel/lull/cstates. So a sweep over them needs only one boot.
"""

from lull.platform.cstates import Advertised
from lull.platform.schema import Cluster, Platform, cpu_list

AtBoot = dict[str, dict[str, Advertised]]
"""The latencies of the device tree that the run changes, by cluster and state."""


def difference(platform: Platform, booted: Platform) -> AtBoot:
    """Return the latencies of `booted` that `platform` changes. `booted` has the advertised numbers of the platform
    file."""
    found: AtBoot = {}
    for cluster, original in zip(platform.resolved_clusters(), booted.resolved_clusters(), strict=True):
        for state, before in zip(cluster.cstates, original.cstates, strict=True):
            if _told(state.advertised) != _told(before.advertised):
                found.setdefault(cluster.name, {})[state.name] = before.advertised
    return found


def boot_platform(platform: Platform, at_boot: AtBoot) -> Platform:
    """Return the machine whose device tree is booted."""

    def told(cluster: Cluster) -> Cluster:
        numbers = at_boot.get(cluster.name, {})
        states = [
            state.model_copy(update={"advertised": numbers.get(state.name, state.advertised)})
            for state in cluster.cstates
        ]
        return cluster.model_copy(update={"cstates": states})

    shadow = platform.shadow.model_copy(update={"cluster": told(platform.shadow.cluster)})
    return platform.model_copy(update={"clusters": [told(cluster) for cluster in platform.clusters], "shadow": shadow})


def lines(platform: Platform, at_boot: AtBoot) -> list[str]:
    """Return lines `CPUS:STATE:LATENCY:RESIDENCY`. The latency is entry plus exit, as in Linux.

    All lines must be written at once. After separate writes, a state might for a moment be slower than a deeper one.
    """
    return [
        f"{cpu_list(cpus)}:{state.name}:{state.advertised.latency_us}:{state.advertised.residency_us}"
        for cpus, cluster in platform.cpu_ranges()
        for state in cluster.cstates
        if state.name in at_boot.get(cluster.name, {})
    ]


def _told(state: Advertised) -> tuple[int, int, int]:
    return state.entry_us, state.exit_us, state.residency_us
