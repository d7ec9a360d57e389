# SPDX-License-Identifier: BSD-3-Clause
"""The interface of a backend. A backend computes the joules of a CPU and of a cluster's L2 in one window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lull.energy.account import Account, Place
from lull.energy.occupancy import Stay
from lull.energy.residency import Residency
from lull.energy.windows import Window
from lull.platform.schema import Opp


@dataclass(frozen=True)
class OfCpu:
    """One CPU in one window. Times are in gem5's ticks; `hz` is ticks per second."""

    place: Place
    window: Window
    path: str
    """gem5's name of the object. The same holds for `path` below."""
    cluster: int
    opp: Opp
    period: float
    """Ticks per cycle."""
    stays: Sequence[Stay]
    residency: Residency
    hz: float


@dataclass(frozen=True)
class OfL2:
    """A cluster's L2 in one window."""

    place: Place
    window: Window
    path: str
    cluster: int
    opp: Opp
    users: Mapping[str, float]
    """Seconds in which each task or interrupt used the cluster's CPUs."""
    off_s: float
    seconds: float


@dataclass(frozen=True)
class OfMemory:
    """The memory controllers in one window."""

    place: Place
    window: Window
    users: Mapping[str, float]
    """Seconds in which each task or interrupt used the CPUs."""
    seconds: float


class Backend(Protocol):
    @property
    def name(self) -> str: ...

    def core(self, own: OfCpu) -> Account: ...

    def l2(self, own: OfL2) -> Account: ...

    def memory(self, own: OfMemory) -> Account: ...
