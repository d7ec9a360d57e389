# SPDX-License-Identifier: BSD-3-Clause
"""The joules of one place, a CPU, a cluster or the rest, in one window: by label (state and cause) and part.

It closes when made: no part is negative, and the parts sum to what the window's statistics and residencies say
together, computed apart from how they were shared out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lull.energy.occupancy import ClosureError

Kind = Literal["dynamic", "static", "transition"]
Joules = NDArray[np.float64]
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Place:
    cpu: int | None
    """The CPU; None for what CPUs share."""
    cluster: str | None
    """The cluster; None for what clusters share."""
    window: int
    start: int
    end: int

    def __str__(self) -> str:
        owner = f"CPU {self.cpu}" if self.cpu is not None else f"cluster {self.cluster}" if self.cluster else "uncore"
        return f"window {self.window}, {owner}"


@dataclass(frozen=True)
class Label:
    state: str
    cause: str
    seconds: float
    """Seconds in this state for this cause; 0 where another label of the same place has the time already."""


@dataclass(frozen=True)
class Part:
    component: str
    kind: Kind


@dataclass(frozen=True)
class Account:
    place: Place
    labels: Sequence[Label]
    parts: Sequence[Part]
    raw: Joules
    """One row for each label, one column for each part."""
    factors: Joules
    """For each part, calibrated over raw."""

    @property
    def calibrated(self) -> Joules:
        return self.raw * self.factors


def closed(
    place: Place, labels: Sequence[Label], parts: Sequence[Part], raw: Joules, factors: Joules, total: float
) -> Account:
    """The account, if its parts sum to `total` and none is negative."""
    if raw.size and (not np.isfinite(raw).all() or raw.min() < 0):
        label, part = divmod(int(np.argmin(np.nan_to_num(raw, nan=-np.inf))), len(parts))
        raise ClosureError(
            f"{place}: {raw[label, part]:g} J of {parts[part].component} ({parts[part].kind}) in state "
            f"{labels[label].state}; energy is not negative, so the table or the statistics are wrong"
        )
    if abs(raw.sum() - total) > TOLERANCE * max(total, 1e-12):
        raise ClosureError(f"{place}: the parts sum to {raw.sum():.9g} J, not to the {total:.9g} J of the whole")
    return Account(place, labels, parts, raw, factors)


def shared(amounts: Mapping[str, float], fallback: str) -> dict[str, float]:
    """Shares that sum to 1; all to `fallback` where nobody has any."""
    total = sum(amounts.values())
    return {name: amount / total for name, amount in amounts.items()} if total > 0 else {fallback: 1.0}
