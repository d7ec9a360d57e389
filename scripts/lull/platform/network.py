# SPDX-License-Identifier: BSD-3-Clause
"""The link between a machine and its peer. A machine without a peer has no link."""

from typing import Annotated

from pydantic import Field

from lull.files.blocks import Block
from lull.files.paths import ROOT
from lull.platform.values import Source

PEER = ROOT / "platforms" / "network" / "peer.yaml"
"""The machine at the other end, on gem5. On QEMU the peer is a part of the same guest."""

MAC = {"machine": "02:00:00:00:00:01", "peer": "02:00:00:00:00:02"}
"""The MAC addresses of the two network cards. The guest's init expects them."""


class Network(Block):
    delay_us: Annotated[float, Field(ge=0, le=1_000_000)] = 10.0
    """The time from the end of a frame at one card to its end at the other."""
    mbit_s: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """The rate in each direction."""
    source: Source = (
        "assumed: gigabit Ethernet with one switch, which stores a frame before it forwards it (0.7 us for the "
        "shortest, 12 us for the longest), and 100 m of cable (0.5 us)"
    )
