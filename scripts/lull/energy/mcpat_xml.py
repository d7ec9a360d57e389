# SPDX-License-Identifier: BSD-3-Clause
"""McPAT's input, rendered from the same descriptions of platforms and cores as gem5's objects.

A cluster at one operating point is a separate chip to McPAT. In McPAT 1.3 all cores of a chip have the same clock and
voltage, but clusters differ in these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jinja2

from lull.energy import events, technology
from lull.errors import UserError
from lull.files import digest
from lull.files.paths import ROOT
from lull.platform.cores import Core, Operation, load_core
from lull.platform.schema import Cluster, MemoryKind, Opp, Platform

TEMPLATES = ROOT / "power-models" / "mcpat"

MEMORY = "memory-controller"
"""The controller's name among the clusters' names. It is too long for a cluster's name."""

L2_WRITE_BUFFERS = 16
"""The same as in gem5-configs/caches.py, for every second level."""

Counts = Mapping[str, float]


@dataclass(frozen=True)
class Chip:
    """A cluster at one operating point."""

    platform: Platform
    cluster: Cluster
    opp: Opp

    @property
    def core(self) -> Core:
        return load_core(self.cluster.core)

    @property
    def clock_mhz(self) -> int:
        """McPAT reads whole MHz."""
        return round(self.opp.mhz)


def render(chip: Chip, cores: Sequence[Counts], l2: Counts, total_cycles: float) -> str:
    """Return the XML for the events of cores and their L2 in `total_cycles` of their clock. Missing events are 0."""
    core = chip.core
    return _template().render(
        title=f"{chip.platform.name}, {chip.cluster.name} cluster: {core.title} at {chip.opp.mhz:g} MHz, "
        f"{chip.opp.mv:g} mV",
        technology=technology.load(chip.platform, chip.cluster.name),
        cluster=chip.cluster,
        core=core,
        core_template=_core_template(core),
        core_events=events.core_events(),
        wide=not core.isa.startswith("armv7"),
        mhz=chip.clock_mhz,
        volts=chip.opp.mv / 1000,
        units=lambda operation: _units(core, operation),
        log2=lambda power_of_two: power_of_two.bit_length() - 1,
        cores=[_complete(events.core_events(), counts) for counts in cores],
        l2=_complete(events.L2_EVENTS, l2),
        l2_write_buffers=L2_WRITE_BUFFERS,
        memory=None,
        total_cycles=total_cycles,
    )


@dataclass(frozen=True)
class Channel:
    """A memory controller of one channel, with numbers of gem5's description of its DRAM."""

    clock_mhz: int
    """Half of the bus clock, such as 400 for DDR3-1600. McPAT doubles it for the two edges, and takes the double as the
    clock of its reference controller (800 MHz for DDR3-1600). With 800, McPAT would compute four times the power."""
    peak_mb_s: int
    bus_bits: int
    """The width without the eighth that McPAT adds for error correction: 57 becomes 65 (nearest to 64), 28 becomes
    32."""
    ranks: int
    queue: int = 32
    """Entries for reads, gem5's default."""
    channels: int = 1


CHANNELS: dict[MemoryKind, Channel] = {
    "ddr3-1600": Channel(clock_mhz=400, peak_mb_s=12800, bus_bits=57, ranks=2),
    "ddr4-2400": Channel(clock_mhz=600, peak_mb_s=19200, bus_bits=64, ranks=2),
    "lpddr3-1600": Channel(clock_mhz=400, peak_mb_s=6400, bus_bits=28, ranks=1),
}
"""DDR4 has error correction, as in a server."""


def render_memory(platform: Platform, counts: Counts, seconds: float) -> str:
    """Return the XML for the events of one channel's controller. It is in the system's voltage domain."""
    return _template().render(
        title=f"{platform.name}, one memory controller",
        technology=technology.load(platform, MEMORY),
        cores=[],
        l2=None,
        wide=True,
        mhz=platform.system.clock_mhz,
        volts=platform.system.mv / 1000,
        memory=CHANNELS[platform.memory.kind],
        memory_events=_complete(events.MEMORY_EVENTS, counts),
        total_cycles=seconds * platform.system.clock_mhz * 1e6,
    )


def sources_digest() -> str:
    """Return a digest of the templates. A table depends on them besides the platform, its cores and its technology."""
    return digest.of_files(TEMPLATES, TEMPLATES.glob("*.j2"))


def _complete(names: Sequence[str], counts: Counts) -> dict[str, float]:
    if unknown := set(counts) - set(names):
        raise KeyError(f"{sorted(unknown)}: not events here")
    return {name: counts.get(name, 0.0) for name in names}


def _units(core: Core, operation: Operation) -> int:
    return sum(unit.count for unit in core.units.table if operation in unit.latency)


def _core_template(core: Core) -> str:
    name = f"{core.name}.xml.j2"
    if not (TEMPLATES / name).is_file():
        raise UserError(f"{TEMPLATES / name}: missing; describe the {core.title} to McPAT like the cores beside it")
    return name


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    return environment.get_template("system.xml.j2")
