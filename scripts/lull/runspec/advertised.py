# SPDX-License-Identifier: BSD-3-Clause
"""Idle latencies that Linux is told anew after it has booted.

The device tree is part of the checkpoint, so a machine always boots with its platform file's advertised numbers. A run
that wants others writes them to /sys/kernel/lull/cstates: no sweep over them needs a second boot.
"""

from lull.platform.cstates import Advertised
from lull.platform.schema import Cluster, Platform, cpu_list

AtBoot = dict[str, dict[str, Advertised]]
"""By cluster and state: what the device tree says where the run wants something else."""


def difference(platform: Platform, booted: Platform) -> AtBoot:
    """What `booted`, the same machine by its own file's advertised numbers, tells Linux otherwise."""
    found: AtBoot = {}
    for cluster, original in zip(platform.resolved_clusters(), booted.resolved_clusters(), strict=True):
        for state, before in zip(cluster.cstates, original.cstates, strict=True):
            if _told(state.advertised) != _told(before.advertised):
                found.setdefault(cluster.name, {})[state.name] = before.advertised
    return found


def boot_platform(platform: Platform, at_boot: AtBoot) -> Platform:
    """The machine whose device tree is booted."""

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
    """`CPUS:STATE:LATENCY:RESIDENCY`, latency being entry and exit together, as Linux has it.

    The kernel takes all of them in one write: on the way from one to the next a state might pass a deeper one.
    """
    return [
        f"{cpu_list(cpus)}:{state.name}:{state.advertised.latency_us}:{state.advertised.residency_us}"
        for cpus, cluster in platform.cpu_ranges()
        for state in cluster.cstates
        if state.name in at_boot.get(cluster.name, {})
    ]


def _told(state: Advertised) -> tuple[int, int, int]:
    return state.entry_us, state.exit_us, state.residency_us
