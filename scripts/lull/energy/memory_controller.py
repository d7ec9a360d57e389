# SPDX-License-Identifier: BSD-3-Clause
"""The memory controller of one channel: joules per line, and power without lines. (DRAM energy is gem5's own.)

McPAT adds a tenth of peak power "for routine job including memory refreshing and scrubbing" (memoryctrl.cc). The tenth
is McPAT's assumption without a source. Energy is linear in lines and time. The ledger leaves the tenth out while the
DRAM is in self-refresh: then the controller has no such job, and its clock is gated, as in the RK3399 and the Tegra.
"""

import random
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lull.energy import mapping, technology
from lull.energy.coefficients import DYNAMIC, GATE, SUBTHRESHOLD, TOLERANCE
from lull.energy.events import MEMORY_EVENTS
from lull.energy.mapping import Stats
from lull.energy.mcpat_run import Heading
from lull.energy.mcpat_xml import CHANNELS, MEMORY, render_memory, sources_digest
from lull.energy.tables import TABLES, Leakage
from lull.errors import UserError
from lull.files import digest, json_file, yaml_file
from lull.platform.schema import Platform

COUNT = 1e9
"""Lines in an input of one second: more than any channel serves, so that their energy is printed with six digits."""


class MemoryTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    platform: str
    joules_per_event: dict[str, float]
    watts: float
    """Dynamic power without lines. It is 0 while the DRAM is in self-refresh."""
    leakage: Leakage
    linearity_error: float
    made_from: str

    @property
    def line_j(self) -> float:
        """Return the joules of a line, the mean of a read and a write."""
        return sum(self.joules_per_event.values()) / len(self.joules_per_event)

    def joules(self, counts: Stats, seconds: float) -> float:
        """Return the dynamic energy of one channel's controller in a window."""
        return self.watts * seconds + sum(each * counts[event] for event, each in self.joules_per_event.items())


def path(platform: str) -> Path:
    return TABLES / platform / f"{MEMORY}.json"


def counts(stats: Stats, controller: str, gem5: str) -> dict[str, float]:
    """Return McPAT's events of a channel's controller, such as `system.mem_ctrls0`; a single one has no number."""
    return mapping.compiled("memory", controller).counts(stats, gem5)


def made_from(platform: Platform) -> str:
    process = technology.load(platform, MEMORY)
    system = platform.system
    told = [process.node_nm, process.device, process.temperature_k, system.clock_mhz, system.mv, platform.memory.kind]
    return digest.of_json([*told, repr(CHANNELS[platform.memory.kind]), sources_digest()])


def derive(platform: Platform, ask: Callable[[str], Heading], seed: int) -> MemoryTable:
    """Return the table. McPAT's inputs are an idle second, one with each kind of lines, and a check with both."""

    def answer(**lines: float) -> Heading:
        return ask(render_memory(platform, lines, seconds=1.0)).find("Memory Controller")

    still = answer()
    idle = still[DYNAMIC]
    joules = {event: (answer(**{event: COUNT})[DYNAMIC] - idle) / COUNT for event in MEMORY_EVENTS}
    draw = random.Random(f"{seed} {platform.name}")
    mixed = {event: draw.random() * COUNT for event in MEMORY_EVENTS}
    theirs = answer(**mixed)[DYNAMIC]
    error = abs(idle + sum(each * mixed[event] for event, each in joules.items()) - theirs) / theirs
    if error > TOLERANCE:
        raise UserError(
            f"{platform.name}: McPAT's energy of the memory controller is no sum over its events (off by {error:.1e}); "
            "no table is written, because it would be wrong"
        )
    leakage = Leakage(subthreshold_w=still[SUBTHRESHOLD], gate_w=still[GATE])
    return MemoryTable(
        platform=platform.name, joules_per_event=joules, watts=idle, leakage=leakage, linearity_error=error,
        made_from=made_from(platform),
    )  # fmt: skip


def load(platform: Platform) -> MemoryTable:
    file = path(platform.name)
    remedy = f"make it by `lull energy tables --platform {platform.name}`, which needs McPAT"
    if not file.is_file():
        raise UserError(f"{yaml_file.shown(file)}: no table for this platform's memory controller; {remedy}")
    try:
        table = MemoryTable.model_validate(json_file.read(file, remedy))
    except ValidationError as error:
        raise UserError(f"{yaml_file.shown(file)}: {error.errors()[0]['msg']}; {remedy}") from None
    if table.made_from != made_from(platform):
        raise UserError(f"{yaml_file.shown(file)}: made_from: made for another memory, clock or process; {remedy}")
    return table


def save(table: MemoryTable) -> Path:
    file = path(table.platform)
    file.parent.mkdir(parents=True, exist_ok=True)
    json_file.write(file, table.model_dump(mode="json"))
    return file
