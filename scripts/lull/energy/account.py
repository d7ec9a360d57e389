# SPDX-License-Identifier: BSD-3-Clause
"""An account: the joules of one place (CPU, cluster or the rest) in one window, by label (state and cause) and part.

An account is checked when it is made. No part may be negative. The parts must sum to the place's joules in the window,
which are computed separately from statistics and residencies.
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
    """The CPU; None for parts that CPUs share."""
    cluster: str | None
    """The cluster; None for parts that clusters share."""
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
    """Seconds in this state for this cause; 0 if another label of the same place has this time already."""


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
    """For each part, the factor from raw to calibrated joules."""

    @property
    def calibrated(self) -> Joules:
        return self.raw * self.factors


def closed(
    place: Place, labels: Sequence[Label], parts: Sequence[Part], raw: Joules, factors: Joules, total: float
) -> Account:
    """Return the account. Raise ClosureError if a part is negative, or if the parts do not sum to `total`."""
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
    """Return shares that sum to 1; `fallback` gets all if the total is 0."""
    total = sum(amounts.values())
    return {name: amount / total for name, amount in amounts.items()} if total > 0 else {fallback: 1.0}
