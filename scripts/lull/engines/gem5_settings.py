# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a simulation on gem5 (`gem5.json`), and the part of a machine that its boot depends on."""

from lull.artifacts.cache import Entry
from lull.files import digest
from lull.platform import machine
from lull.platform.cstates import Actual
from lull.platform.schema import Cluster, Platform
from lull.runspec.spec import RunSpec

_NO_LATENCY = Actual(entry_us=0, exit_us=0, flush_us=0, source="not in the device tree")


def of_machine(platform: Platform, seed: int) -> dict[str, object]:
    """Return the settings that every stage has."""
    return {"schema": 6, "seed": seed, "soc": machine.describe(platform), "network": None}


def to_run(
    platform: Platform, seed: int, cpu: str | None, begin: Entry, limit_s: float, stats_period_s: float | None
) -> dict[str, object]:
    """Return the settings to continue from a checkpoint, without the files that the guests read."""
    return {
        **of_machine(platform, seed),
        "stage": "run",
        "cpu": cpu,
        "checkpoint": str(begin.path / "cpt"),
        "limit_s": limit_s,
        "stats_period_s": stats_period_s,
        "load": {},
    }


def boots_as(spec: RunSpec) -> str:
    """Return a key. Runs with the same key restore the same checkpoint. Runs with other keys may share it, too.

    The key is fast to make, because it needs no device tree.
    """
    told = spec.model_dump(mode="json", include={"platform", "told_at_boot"})
    told["platform"].pop("network", None)  # the link is no part of a boot
    if spec.peer is not None:
        told["networked"] = True
    for cluster in (*told["platform"]["clusters"], told["platform"]["shadow"]["cluster"]):
        for state in cluster["cstates"]:
            del state["actual"]
    return digest.of_json(told)


def without_actual(platform: Platform) -> Platform:
    """Return the platform without actual latencies, which gem5's device tree does not have."""

    def plain(cluster: Cluster) -> Cluster:
        states = [state.model_copy(update={"actual": _NO_LATENCY}) for state in cluster.cstates]
        return cluster.model_copy(update={"cstates": states})

    shadow = platform.shadow.model_copy(update={"cluster": plain(platform.shadow.cluster)})
    return platform.model_copy(update={"clusters": list(map(plain, platform.clusters)), "shadow": shadow})
