# SPDX-License-Identifier: BSD-3-Clause
"""The names of the machine's parts in gem5's statistics, as `gem5-configs` gives them."""


def cluster(number: int) -> str:
    return f"system.cluster{number}"


def cpu(number: int, index: int) -> str:
    """Return the name of the CPU `index` of a cluster."""
    return f"{cluster(number)}.cpu{index}"


def l2(number: int) -> str:
    return f"{cluster(number)}.l2"


def clock(number: int) -> str:
    """Return the name of the statistic with the period of a cluster's clock, in ticks."""
    return f"{cluster(number)}.clk_domain.clock"
