# SPDX-License-Identifier: BSD-3-Clause
"""The power of the network card: a stated constant for each state, outside the ledger's account.

No data sheet of the simulated cards was found, so the figures are those of parts of the same kind. They are the PHY's,
without the controller and its bus. A gigabit link without 802.3az sends symbols also when there is no data, so its
power does not depend on the traffic. docs/network.md names the sources.
"""

from typing import Final

WATTS: Final = {"link": 0.725, "low-power idle": 0.36}
"""`link`: a gigabit link is up: the middle of 0.45 to 1 W, which Texas Instruments says of such PHYs. `low-power idle`:
about half of it, as Intel says of its I210 with 802.3az; neither the card on gem5 nor that on QEMU has this state."""


def machine_mw(power_w: float) -> str:
    """The machine and its card, whose link is up throughout."""
    return f"{1e3 * (power_w + WATTS['link']):.4g}"
