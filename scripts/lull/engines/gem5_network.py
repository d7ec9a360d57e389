# SPDX-License-Identifier: BSD-3-Clause
"""Describes a network for gem5's configuration: the link, and the machine at its other end."""

from lull.platform import machine
from lull.platform.load import load_peer
from lull.platform.network import Network


def describe(network: Network, readfile: str, load: dict[str, object]) -> dict[str, object]:
    return {
        "delay_ns": round(network.delay_us * 1000),
        "mbit_s": network.mbit_s,
        "peer": {"readfile": readfile, "load": load, "soc": machine.describe(load_peer())},
    }
