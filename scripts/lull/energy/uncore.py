# SPDX-License-Identifier: BSD-3-Clause
"""Energy of all parts besides cores and L2s: memory, interconnect, and a constant for the rest of the platform.

DRAM energy is gem5's own, computed from the commands of its controllers. Opened rows and moved data are charged to the
users of CPUs, by time. DRAM's background power, the interconnect's static power and the rest are always charged to the
platform.
"""

import re
from functools import cache

import numpy as np

from lull.energy import states
from lull.energy.account import Account, Label, Part, Place, closed, shared
from lull.energy.memory_controller import MemoryTable
from lull.energy.occupancy import ClosureError
from lull.energy.states import SourcedNumber
from lull.energy.windows import Window
from lull.errors import UserError
from lull.files.blocks import Block
from lull.platform.schema import LINE_BYTES, Memory

INTERCONNECT = Part("interconnect", "dynamic")
PLATFORM = "platform"
PARTS = (
    Part("dram-access", "dynamic"),
    INTERCONNECT,
    Part("dram-background", "static"),
    Part("interconnect", "static"),
    Part("rest", "static"),
)

_RANK = re.compile(r"system\.mem_ctrls\d*\.dram\.rank\d+\.totalEnergy")
_BUS_BYTES = re.compile(r"system\.membus\.pktSize_.*::total")
STANDBY, POWER_DOWN, SELF_REFRESH = "standby", "power-down", "self-refresh"
"""States of a rank of DRAM. Standby is all other time, including accesses and refreshes."""
ACCESS = ("actEnergy", "preEnergy", "readEnergy", "writeEnergy")
BACKGROUND = {
    STANDBY: ("refreshEnergy", "actBackEnergy", "preBackEnergy"),
    POWER_DOWN: ("actPowerDownEnergy", "prePowerDownEnergy"),
    SELF_REFRESH: ("selfRefreshEnergy",),
}
TIMES = {
    STANDBY: ("IDLE", "REF", "ACT"),
    POWER_DOWN: ("PRE_PDN", "ACT_PDN"),
    SELF_REFRESH: ("SREF",),
}
"""gem5's states of a rank, for each state here."""
PICOJOULE = 1e-12
DRAM_TOLERANCE = 1e-5
"""The allowed relative error of sums: gem5 prints six decimals of each part."""


class Interconnect(Block):
    pj_per_byte: SourcedNumber
    static_w: SourcedNumber


class Rest(Block):
    watts: SourcedNumber


class UncoreModel(Block):
    interconnect: Interconnect
    rest: Rest


@cache
def load() -> UncoreModel:
    return states.read("uncore.yaml", UncoreModel)


class Uncore:
    """The model of all parts besides cores and L2s. If given, `rest_w` replaces the file's constant."""

    def __init__(self, rest_w: float | None = None) -> None:
        self.model = load()
        self.rest_w = self.model.rest.watts.value if rest_w is None else rest_w

    def account(self, place: Place, window: Window, causes: dict[str, float], seconds: float) -> Account:
        """Return the account of one window. `causes` are the users of CPUs, with their time."""
        access, background = dram_joules(window)
        fabric = self.model.interconnect
        moved = bus_bytes(window) * fabric.pj_per_byte.value * PICOJOULE
        shares = shared(causes, PLATFORM)
        rows = [[access * share, moved * share, 0.0, 0.0, 0.0] for share in shares.values()]
        labels = [Label("on", cause, seconds * share) for cause, share in shares.items()]
        rows.append([0.0, 0.0, 0.0, fabric.static_w.value * seconds, self.rest_w * seconds])
        labels.append(Label("on", PLATFORM, 0.0))
        for state, share in dram_shares(window).items():
            rows.append([0.0, 0.0, background[state], 0.0, 0.0])
            labels.append(Label(state, PLATFORM, seconds * share))
        total = access + moved + sum(background.values()) + (fabric.static_w.value + self.rest_w) * seconds
        return closed(place, labels, PARTS, np.array(rows), np.ones(len(PARTS)), total)


def line_joules(memory: Memory, controller: MemoryTable) -> float:
    """Return the energy of a line to or from memory that gem5 did not move: in DRAM, controller and interconnect."""
    name = memory.parts.device if memory.parts else memory.kind
    known = states.load().transition.line_nj.dram
    if name not in known:
        raise UserError(f"power-models/states.yaml: transition.line_nj.dram.{name}: missing; add it, with its source")
    dram = known[name] * 1e-9
    fabric = load().interconnect.pj_per_byte.value * PICOJOULE * LINE_BYTES
    return dram + controller.line_j + fabric


def dram_joules(window: Window) -> tuple[float, dict[str, float]]:
    """Return the joules of accesses, and those of each state without accesses. Raise an error if the sum is not gem5's.

    For self-refresh, gem5 prints only the energy of the current. gem5's total also has the refreshes inside it. So in a
    window with self-refresh, the difference between the total and the parts is added to self-refresh.
    """
    access, background = 0.0, dict.fromkeys(BACKGROUND, 0.0)
    for rank in _ranks(window):
        whole = window.get(rank + "totalEnergy", 0.0)
        parts = {state: sum(window.get(rank + name, 0.0) for name in names) for state, names in BACKGROUND.items()}
        used = sum(window.get(rank + name, 0.0) for name in ACCESS)
        missing = whole - used - sum(parts.values())
        if missing > 0 and _time(window, rank, SELF_REFRESH):
            parts[SELF_REFRESH] += missing
            missing = 0.0
        if abs(missing) > DRAM_TOLERANCE * max(whole, 1.0):
            raise ClosureError(
                f"window {window.number}: {rank}totalEnergy is {whole:g} pJ, but its parts sum to "
                f"{used + sum(parts.values()):g}; gem5 24 and 25 are known"
            )
        access += used * PICOJOULE
        for state, picojoules in parts.items():
            background[state] += picojoules * PICOJOULE
    return access, background


def dram_shares(window: Window) -> dict[str, float]:
    """Return the share of the window in each state, the mean over ranks. Without gem5's times, all is standby."""
    times = {state: sum(_time(window, rank, state) for rank in _ranks(window)) for state in TIMES}
    return {state: shared(times, STANDBY).get(state, 0.0) for state in TIMES}


def _time(window: Window, rank: str, state: str) -> float:
    ticks: float = sum(window.get(f"{rank}pwrStateTime::{name}", 0.0) for name in TIMES[state])
    return ticks


def _ranks(window: Window) -> list[str]:
    """Return the prefix of each rank's statistics."""
    found = [name.removesuffix("totalEnergy") for name in window.matching(_RANK)]
    if not found:
        raise UserError(
            f"window {window.number}: no statistic system.mem_ctrls*.dram.rank*.totalEnergy; gem5 24 and 25 have it"
        )
    return found


def bus_bytes(window: Window) -> float:
    """Return the bytes that crossed the interconnect. gem5 counts them by pair of ports, without unused pairs."""
    return sum(window.matching(_BUS_BYTES).values())
