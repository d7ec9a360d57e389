# SPDX-License-Identifier: BSD-3-Clause
"""The power of the network card: an assumed constant for each state, which is not in the ledger.

No data sheet of the simulated cards was found, so the numbers are of similar parts. They are for the PHY, without the
controller and its bus. The power does not depend on the traffic, because a gigabit link without 802.3az sends symbols
even without data. docs/network.md names the sources.
"""

from typing import Final

WATTS: Final = {"link": 0.725, "low-power idle": 0.36}
"""`link`: a gigabit link is up; 0.725 W is the middle of 0.45 to 1 W, Texas Instruments' range for such PHYs.
`low-power idle`: about half of `link`, as for Intel's I210 with 802.3az. No card on gem5 or QEMU has this state."""


def machine_mw(power_w: float) -> str:
    """Return the mW of the machine plus its network card, whose link is always up."""
    return f"{1e3 * (power_w + WATTS['link']):.4g}"
