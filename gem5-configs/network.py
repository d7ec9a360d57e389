# SPDX-License-Identifier: BSD-3-Clause
"""A network of two machines in one simulation: a card in each, and the link between them.

The peer is called `peer`, which comes before `system`. gem5 creates its objects in this order, and all clusters of a
process share one pointer to a DVFS handler: that of the handler that was created last. It has to be that of the machine
under test. The peer's only operating point is never left.
"""

from __future__ import annotations

from typing import Any

from m5 import objects
from spec import Network

MACHINE_MAC = "02:00:00:00:00:01"
PEER_MAC = "02:00:00:00:00:02"
"""The guest's init enters each as the other's neighbour."""


def add_card(system: Any, mac: str) -> None:
    """Slot 1 of the PCI bus; it reaches memory as every other device does."""
    card = objects.IGbE_e1000(hardware_address=mac, InterruptLine=1, InterruptPin=1)
    system.realview.network_card = card
    system.realview.attachPciDevice(card, system.iobus)


def link(system: Any, peer: Any, network: Network) -> Any:
    """A cable with a rate in each direction and a delay."""
    return objects.EtherLink(
        int0=system.realview.network_card.interface,
        int1=peer.realview.network_card.interface,
        delay=f"{network.delay_ns}ns",
        speed=f"{network.mbit_s}Mbps",
    )
