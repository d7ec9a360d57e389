# SPDX-License-Identifier: BSD-3-Clause
"""C-states: advertised latencies (for Linux), actual latencies (of the hardware), and the order from light to deep."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from lull.files.blocks import Block, fault
from lull.platform.values import Source

StateKind = Literal["wfi", "retention", "core-off", "cluster-off"]

STATE_NAMES: dict[StateKind, str] = {
    "wfi": "C1",
    "retention": "C2",
    "core-off": "C3",
    "cluster-off": "C4",
}
"""The name of each kind of state. Names are the same on every platform, so a sweep over C3 varies one kind of state."""

KEEPING_CACHES: tuple[StateKind, ...] = ("wfi", "retention")


class Advertised(Block):
    """Latencies in the device tree: worst cases that the idle governor uses."""

    entry_us: Annotated[int, Field(ge=0, le=1_000_000)]
    exit_us: Annotated[int, Field(ge=0, le=1_000_000)]
    residency_us: Annotated[int, Field(ge=0, le=10_000_000)]
    source: Source

    @property
    def latency_us(self) -> int:
        """Return Linux's exit latency of a state: entry + exit, because an entry that has begun must finish first."""
        return self.entry_us + self.exit_us

    @model_validator(mode="after")
    def _worth_the_trip(self) -> "Advertised":
        if self.residency_us < self.latency_us:
            raise fault(
                f"{self.residency_us} is below entry + exit, {self.latency_us}; raise it or lower those",
                "residency_us",
            )
        return self


class Actual(Block):
    """The time that hardware adds to the firmware's instructions, which the simulator executes.

    `flush_us` and `refill_us` are for a full cache. The share min(1, active / fill_us) of each is charged, where active
    is the time since the core last woke from a state that loses the cache.
    """

    entry_us: Annotated[float, Field(ge=0, le=1e6)]
    exit_us: Annotated[float, Field(ge=0, le=1e6)]
    flush_us: Annotated[float, Field(ge=0, le=1e6)]
    """The time in the entry to write back a cache full of dirty lines."""
    refill_us: Annotated[float, Field(ge=0, le=1e6)] = 0
    """The time after a wake-up for the misses that fill the cache again."""
    fill_us: Annotated[float, Field(ge=0, le=1e6)] = 0
    """Active time after which the cache counts as full of lines, and of dirty lines."""
    source: Source

    @model_validator(mode="after")
    def _in_proportion_to_something(self) -> "Actual":
        if self.flush_us + self.refill_us > 0 and self.fill_us == 0:
            raise fault(
                "0, while flush_us and refill_us are charged in proportion to it; "
                "give the active time after which the cache is full",
                "fill_us",
            )
        return self


class CState(Block):
    name: Literal["C1", "C2", "C3", "C4"]
    kind: StateKind
    advertised: Advertised
    actual: Actual

    @model_validator(mode="after")
    def _name_says_kind(self) -> "CState":
        if STATE_NAMES[self.kind] != self.name:
            raise fault(f"{self.kind} is {STATE_NAMES[self.kind]}, not {self.name}; change name or kind", "kind")
        told = self.advertised
        if self.kind == "wfi" and (told.entry_us, told.exit_us, told.residency_us) != (0, 1, 1):
            raise fault(
                "Linux takes no numbers for WFI from a device tree; leave entry_us 0, exit_us 1, residency_us 1",
                "advertised",
            )
        real = self.actual
        if self.kind == "wfi" and real.entry_us + real.exit_us > 0:
            raise fault("nothing stands between a core and WFI that could wait; leave entry_us and exit_us 0", "actual")
        if self.kind in KEEPING_CACHES and real.flush_us + real.refill_us > 0:
            raise fault(f"{self.name} keeps the caches; leave flush_us and refill_us 0", "actual")
        return self


def check_order(states: Sequence[CState]) -> None:
    """Check the order of a cluster's states, from light to deep. The path of a fault begins at the cluster."""
    if states[0].kind != "wfi":
        raise fault("the first C-state is not wfi; start with C1", "cstates", 0, "kind")
    depth = list(STATE_NAMES)
    for number, (light, deep) in enumerate(pairwise(states), start=1):
        if depth.index(deep.kind) <= depth.index(light.kind):
            raise fault(
                f"{deep.name} ({deep.kind}) comes after {light.name} ({light.kind}); order C-states from light to deep",
                *("cstates", number, "kind"),
            )
        _check_deeper(light, deep, number)


def _check_deeper(light: CState, deep: CState, number: int) -> None:
    """Check that `deep` is deeper. Exit latencies may be equal, as on Juno. Residencies may not: with equal ones, Linux
    would never choose the lighter state."""
    if deep.advertised.exit_us < light.advertised.exit_us:
        raise fault(
            f"{deep.advertised.exit_us} is below the {light.advertised.exit_us} of {light.name}; "
            "a deeper C-state takes no less time to leave, so raise it or reorder",
            *("cstates", number, "advertised", "exit_us"),
        )
    if deep.advertised.latency_us < light.advertised.latency_us:
        raise fault(
            f"entry + exit, {deep.advertised.latency_us}, is below the {light.advertised.latency_us} of {light.name}; "
            "Linux takes the sum for the time to leave, so raise one or reorder",
            *("cstates", number, "advertised", "entry_us"),
        )
    if deep.advertised.residency_us <= light.advertised.residency_us:
        raise fault(
            f"{deep.advertised.residency_us} is not above the {light.advertised.residency_us} of {light.name}; "
            "a deeper C-state needs a longer residency, so raise it or reorder",
            *("cstates", number, "advertised", "residency_us"),
        )
