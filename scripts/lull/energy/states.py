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
"""The state of a CPU that waits for a power switch or a rail, during entry into or exit from an idle state."""
TRANSITIONS = ("entry", "exit", "transition", SWITCH)
"""The states during entry into and exit from an idle state. `transition` is either of them, if no trace says which."""
ACTIVE, OFF, UNTRACED = "active", "off", "untraced"
STATES = (ACTIVE, *IDLE, *TRANSITIONS, OFF)
"""`off` is a CPU that hotplug has turned off."""


class Remaining(Block):
    """The rest of a core's power in an idle state, as shares of that of an active core that does nothing."""

    clock: Share
    leakage: Share
    source: Source


class CoreStates(Block):
    C1: Remaining
    C2: Remaining
    C3: Remaining
    C4: Remaining

    def of(self, state: str) -> Remaining:
        """Return the shares in a state. A CPU that hotplug has turned off has those of C3."""
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
        """Return the share of its leakage that the L2 of a cluster of these cores keeps while the cluster is off."""
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
    """Energy by device (a file of platforms/dram), or by kind of memory for runs that name no device."""
    source: Source


class WakeEnergy(Block):
    """The energy of entry and exit together, in microseconds at the power of the fastest operating point."""

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
