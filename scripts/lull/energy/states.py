# SPDX-License-Identifier: BSD-3-Clause
"""The share of a core's power that remains in each idle state: power-models/states.yaml has numbers and sources."""

from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import Field

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained
from lull.files.paths import ROOT
from lull.platform.values import Source

FOLDER = ROOT / "power-models"

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[float, Field(ge=0)]

IDLE = ("C1", "C2", "C3", "C4")
SWITCH = "switch"
"""The state of a CPU on the way into or out of an idle state that waits for a power switch or a rail."""
TRANSITIONS = ("entry", "exit", "transition", SWITCH)
"""The states on the way into and out of an idle state. The third stands where no trace says which of the two."""
ACTIVE, OFF, UNTRACED = "active", "off", "untraced"
STATES = (ACTIVE, *IDLE, *TRANSITIONS, OFF)
"""`off` is a CPU that hotplug has turned off."""


class Remaining(Block):
    """Shares of the power of a core that is active and does nothing."""

    clock: Share
    leakage: Share
    source: Source


class CoreStates(Block):
    C1: Remaining
    C2: Remaining
    C3: Remaining
    C4: Remaining

    def of(self, state: str) -> Remaining:
        """A CPU that is turned off is as much off as one that sleeps in C3."""
        found: Remaining = getattr(self, "C3" if state == OFF else state)
        return found


class RetainedL2(Block):
    a7: Share
    a15: Share
    a15_shadow: Share = Field(alias="a15-shadow")
    a53: Share
    a57: Share
    a72: Share
    source: Source


class L2States(Block):
    retained_when_off: RetainedL2

    def when_off(self, core: str) -> float:
        """The share of its leakage that the L2 of a cluster of these cores keeps while the cluster is off."""
        name = core.replace("-", "_")
        if name not in RetainedL2.model_fields or name == "source":
            raise UserError(f"power-models/states.yaml: l2.retained_when_off.{core}: missing; add it, with its source")
        share: float = getattr(self.retained_when_off, name)
        return share


class SourcedNumber(Block):
    value: Positive
    source: Source


class LineEnergy(Block):
    l1_to_l2: Positive
    dram: dict[str, Positive]
    """Joules by device (a file of platforms/dram), and by kind for runs that name no device."""
    source: Source


class WakeEnergy(Block):
    """Microseconds at the power of the fastest operating point, for way in and way out together."""

    core_off: Positive
    cluster_off: Positive


class Given(Block):
    a15: WakeEnergy
    source: Source

    def of(self, core: str) -> WakeEnergy | None:
        return self.a15 if core == "a15" else None


class SourcedShare(Block):
    value: Share
    source: Source


class Transition(Block):
    switch_leakage: SourcedShare
    dirty_share: SourcedNumber
    line_nj: LineEnergy
    rail_nf_per_mm2: SourcedNumber
    given_us_of_full_power: Given
    regulator_uf: SourcedNumber


class StatesModel(Block):
    core: CoreStates
    l2: L2States
    transition: Transition


AnyBlock = TypeVar("AnyBlock", bound=Block)


@cache
def load() -> StatesModel:
    return read("states.yaml", StatesModel)


def read(name: str, model: type[AnyBlock]) -> AnyBlock:
    file = FOLDER / name
    shown = yaml_file.shown(file)
    data: dict[str, Any] = yaml_file.read(file, shown, "power model", "power-models/README.md")
    with explained(shown, model):
        return model.model_validate(data)
