# SPDX-License-Identifier: BSD-3-Clause
"""Private first-level caches, a second level for each cluster, and the small one that makes devices coherent.

Sizes, ways and latencies come with the core and the cluster. What gem5 wants to know beyond that (requests merged
into one miss, cycles to hand on a returning line) describes its bookkeeping, no processor, and is the same for all.
"""

from __future__ import annotations

from typing import Any

from m5 import objects
from spec import Cluster

TARGETS_PER_MSHR = 16
RETURN_CYCLES = 2


def level1(core: dict[str, Any]) -> tuple[Any, Any]:
    """Instruction and data cache of one CPU."""
    instruction = objects.Cache(is_read_only=True, **_geometry(core["l1i"]))
    data = objects.Cache(write_buffers=core["l1d"]["write_buffers"], **_geometry(core["l1d"]))
    _prefetch(data, core["l1d"]["prefetch_degree"])
    return instruction, data


def level2(cluster: Cluster) -> Any:
    """The cluster's cache. The SoC chose its size, and the core's design its prefetcher.

    The cache is filled with each line that a CPU fetches, which is gem5's default (mostly inclusive). A Cortex-A7 or
    A53 does that for instructions only: data comes when the first level evicts it. gem5 has one policy for both. The
    other policy, mostly exclusive, would be worse: it drops each line that a CPU takes, and the bus drops the line when
    this CPU evicts it while the first level of another CPU, which may sleep, has a copy. Each CPU would then fetch the
    kernel's code from DRAM again and again: 200 times for a packet of the network, in place of about 30 times.
    """
    cache = objects.Cache(write_buffers=16, **_geometry(vars(cluster.l2)))
    _prefetch(cache, cluster.core["l2"]["prefetch_degree"])
    return cache


def for_devices(ranges: list[Any]) -> Any:
    """Without a cache of its own, a device's write would leave stale lines in the CPUs' caches."""
    return objects.Cache(
        size="1KiB",
        assoc=8,
        tag_latency=50,
        data_latency=50,
        response_latency=50,
        mshrs=20,
        tgts_per_mshr=12,
        addr_ranges=ranges,
    )


def _geometry(cache: dict[str, int]) -> dict[str, Any]:
    return {
        "size": f"{cache['size_kib']}KiB",
        "assoc": cache["ways"],
        "tag_latency": cache["latency_cycles"],
        "data_latency": cache["latency_cycles"],
        "response_latency": RETURN_CYCLES,
        "mshrs": cache["mshrs"],
        "tgts_per_mshr": TARGETS_PER_MSHR,
    }


def _prefetch(cache: Any, degree: int) -> None:
    if degree:
        cache.prefetcher = objects.StridePrefetcher(degree=degree, prefetch_on_access=True)
