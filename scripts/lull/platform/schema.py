# SPDX-License-Identifier: BSD-3-Clause
"""The schema of a platform file.

Every number has its source: a single number as `{value, source}`, a table as a block with one `source`. The error of a
rule over several keys names the key to change.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from lull.errors import UserError
from lull.files.blocks import Block, fault
from lull.platform.cstates import CState, check_order
from lull.platform.memory_map import FOUNDATION_SPIS, MAX_SPI, PAGE, PERIPHERALS, Region, foundation_overlap
from lull.platform.network import Network
from lull.platform.values import Name, Source, SourcedInt, SourcedMicroseconds

MAX_CLUSTERS = 4
MAX_CPUS_PER_CLUSTER = 8
LINE_BYTES = 64

MemoryKind = Literal["ddr3-1600", "ddr4-2400", "lpddr3-1600"]


BUS_BITS: dict[MemoryKind, int] = {"ddr3-1600": 64, "ddr4-2400": 64, "lpddr3-1600": 32}
"""Width of a channel."""


class MemoryParts(Block):
    """The DRAM devices on the board."""

    device: Name
    """The name of a file in platforms/dram."""
    ranks: Literal[1, 2, 4]
    """Ranks on each channel. The devices of a rank together have the channel's width."""
    source: Source


class Memory(Block):
    kind: MemoryKind
    """The kind of DRAM whose timing the memory has."""
    channels: Literal[1, 2, 4, 8]
    """The number of channels. It is a power of two, because addresses are interleaved by their bits."""
    size_mib: Annotated[int, Field(ge=256, le=2032)]
    """The memory of Linux, at most 2032 MiB: firmware keeps the last 16 MiB below 4 GiB for itself."""
    parts: MemoryParts | None = None
    """None: gem5's own devices of this kind, with two ranks (LPDDR3: one)."""
    powerdown: bool = False
    """True if the controller sends idle ranks to power-down, and then to self-refresh."""
    source: Source

    @property
    def size_bytes(self) -> int:
        return self.size_mib << 20

    def devices(self, bits: int) -> int:
        """Return the number of devices of this width on all channels."""
        ranks = self.parts.ranks if self.parts else 1
        return self.channels * ranks * BUS_BITS[self.kind] // bits


class SystemClock(Block):
    """The clock and voltage of interconnect and devices. No cluster's DVFS changes them."""

    clock_mhz: Annotated[int, Field(gt=0, le=4000)]
    mv: Annotated[float, Field(gt=0, le=2000)]
    source: Source


class L2(Block):
    size_kib: Annotated[int, Field(ge=64, le=8192)]
    ways: Annotated[int, Field(ge=1, le=32)]
    latency_cycles: Annotated[int, Field(ge=1, le=100)]
    mshrs: Annotated[int, Field(ge=1, le=64)]
    source: Source

    @property
    def sets(self) -> int:
        return self.size_kib * 1024 // (self.ways * LINE_BYTES)

    @model_validator(mode="after")
    def _power_of_two_sets(self) -> "L2":
        if self.sets * self.ways * LINE_BYTES != self.size_kib * 1024 or self.sets & (self.sets - 1):
            raise fault(
                f"{self.size_kib} KiB in {self.ways} ways of 64-byte lines is not a power of two of sets; "
                "change size_kib or ways",
                "ways",
            )
        return self


class Opp(Block):
    mhz: Annotated[float, Field(gt=0, le=4000)]
    mv: Annotated[float, Field(gt=0, le=2000)]

    @property
    def hz(self) -> int:
        return round(self.mhz * 1_000_000)

    @property
    def khz(self) -> int:
        """Return the frequency in kHz, as in Linux's cpufreq."""
        return self.hz // 1_000

    @property
    def uv(self) -> int:
        return round(self.mv * 1_000)


class Opps(Block):
    source: Source
    table: Annotated[list[Opp], Field(min_length=1, max_length=32)]

    @model_validator(mode="after")
    def _ascending(self) -> "Opps":
        for number, (slower, faster) in enumerate(pairwise(self.table), start=1):
            if faster.mhz <= slower.mhz:
                raise fault(
                    f"{faster.mhz:g} is not above the {slower.mhz:g} before it; list OPPs in ascending order",
                    "table",
                    number,
                    "mhz",
                )
            if faster.mv < slower.mv:
                raise fault(
                    f"{faster.mv:g} is below the {slower.mv:g} of a slower OPP; gem5 takes voltages that do "
                    "not fall with frequency, so raise it or drop the OPP",
                    "table",
                    number,
                    "mv",
                )
        return self


class Cluster(Block):
    name: Name
    core: Name
    cpus: Annotated[int, Field(ge=1, le=MAX_CPUS_PER_CLUSTER)]
    socket: Annotated[int, Field(ge=0, le=MAX_CLUSTERS - 1)] = 0
    capacity_dmips_mhz: SourcedInt
    dynamic_power_coefficient: SourcedInt
    l2: L2
    opps: Opps
    transition_latency_us: SourcedMicroseconds
    cstates: Annotated[list[CState], Field(min_length=1)]

    @property
    def deep_states(self) -> list[CState]:
        """Return the states for a device tree: all except WFI, which Linux has by itself."""
        return [state for state in self.cstates if state.kind != "wfi"]

    @model_validator(mode="after")
    def _ordered_states(self) -> "Cluster":
        check_order(self.cstates)
        return self


class Shadow(Block):
    """One more cluster with one low-power CPU. The machine has it only if it is enabled."""

    enabled: bool
    cluster: Cluster

    @model_validator(mode="after")
    def _one_cpu(self) -> "Shadow":
        if self.cluster.cpus != 1:
            raise fault(f"{self.cluster.cpus} CPUs, but a shadow is one core; set 1", "cluster", "cpus")
        return self


class EventTimer(Block):
    name: Name
    base: Annotated[int, Field(ge=0)]
    spi: Annotated[int, Field(ge=0, le=MAX_SPI)]
    clock_khz: Annotated[int, Field(gt=0, le=1_000_000)]
    source: Source

    @property
    def region(self) -> Region:
        return Region(f"event timer {self.name}", self.base, PAGE)


SSD = "ssd"
"""The event timer that completes the requests of a storage device."""
ACCEL = "accel"
"""The event timer that signals the end of an accelerator's kernel."""


class Devices(Block):
    event_timers: list[EventTimer]
    storage: Annotated[list[Name], Field(default_factory=list, max_length=8)]
    """Names of files in platforms/storage: the devices that the timer `ssd` can be. After boot, it is the first one."""

    accelerator: Annotated[list[Name], Field(default_factory=list, max_length=8)]
    """Names of files in platforms/accelerator: the kernels that the timer `accel` can run, by number."""

    @model_validator(mode="after")
    def _devices_have_timers(self) -> "Devices":
        timers = [timer.name for timer in self.event_timers]
        for key, names, timer in (("storage", self.storage, SSD), ("accelerator", self.accelerator, ACCEL)):
            if names and timer not in timers:
                raise fault(f"{key} needs an event timer named {timer}; add one", key)
            if timer in timers and not names:
                raise fault(f"the event timer {timer} stands for {key}, and none is named; name one", key)
            check_unique(names, key)
        return self

    @model_validator(mode="after")
    def _free_places(self) -> "Devices":
        for number, timer in enumerate(self.event_timers):
            where = ("event_timers", number)
            region = timer.region
            if timer.base % PAGE:
                raise fault(f"{timer.base:#x} is not a multiple of {PAGE:#x}; align it", *where, "base")
            if taken := foundation_overlap(region):
                raise fault(
                    f"{timer.base:#x} overlaps the {taken.name} at {taken.base:#x}; "
                    "choose a free address, such as 0x1c110000",
                    *where,
                    "base",
                )
            if not (PERIPHERALS.base <= region.base and region.end <= PERIPHERALS.end):
                raise fault(
                    f"{timer.base:#x} is outside the peripherals' {PERIPHERALS.base:#x}-{PERIPHERALS.end:#x}; "
                    "move it inside",
                    *where,
                    "base",
                )
            if owner := FOUNDATION_SPIS.get(timer.spi):
                raise fault(f"SPI {timer.spi} is the {owner}'s; choose a free one, such as 2", *where, "spi")
            for other in self.event_timers[:number]:
                if region.overlaps(other.region):
                    raise fault(
                        f"{timer.base:#x} overlaps event timer {other.name}; choose another address",
                        *where,
                        "base",
                    )
                if timer.spi == other.spi:
                    raise fault(f"SPI {timer.spi} is also event timer {other.name}'s; choose another", *where, "spi")
        check_unique([timer.name for timer in self.event_timers], "event_timers")
        return self


class Platform(Block):
    name: Name
    title: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[ -~]+$")]
    memory: Memory
    system: SystemClock
    clusters: Annotated[list[Cluster], Field(min_length=1)]
    shadow: Shadow
    devices: Devices
    boot_seed: Annotated[int, Field(ge=0, le=2**32 - 1, exclude_if=lambda seed: seed == 0)] = 0
    """The seed of Linux's random numbers; 0 gives none. With another seed, the same machine boots differently."""
    network: Annotated[Network, Field(exclude_if=lambda network: network == Network())] = Network()
    """The link to a peer, if the run has one."""

    def resolved_clusters(self) -> list[Cluster]:
        """Return the clusters that exist, in the order of CPUs. If the shadow is enabled, it is the last one."""
        return [*self.clusters, self.shadow.cluster] if self.shadow.enabled else list(self.clusters)

    @property
    def cpu_count(self) -> int:
        return sum(cluster.cpus for cluster in self.resolved_clusters())

    def cpu_ranges(self) -> list[tuple[range, Cluster]]:
        """Return each cluster with its CPUs, by Linux's numbers, which are the same on gem5 and QEMU."""
        found, first = [], 0
        for cluster in self.resolved_clusters():
            found.append((range(first, first + cluster.cpus), cluster))
            first += cluster.cpus
        return found

    @property
    def socket_count(self) -> int:
        return len({cluster.socket for cluster in self.resolved_clusters()})

    def role(self, cluster: Cluster) -> Literal["main", "shadow"]:
        """Return the role of a cluster: applications run on `main`, event interrupts are handled on `shadow`."""
        return "shadow" if cluster.name == self.shadow.cluster.name else "main"

    @model_validator(mode="after")
    def _counts_and_names(self) -> "Platform":
        count = len(self.resolved_clusters())
        if count > MAX_CLUSTERS:
            with_shadow = " with the shadow" if self.shadow.enabled else ""
            raise fault(f"{count} clusters{with_shadow}; use {MAX_CLUSTERS} or fewer", "clusters")
        check_unique([cluster.name for cluster in self.clusters], "clusters")
        if self.shadow.cluster.name in {cluster.name for cluster in self.clusters}:
            raise fault(
                f"`{self.shadow.cluster.name}` is also a cluster's name; choose another",
                *("shadow", "cluster", "name"),
            )
        sockets = {cluster.socket for cluster in self.resolved_clusters()}
        if sockets != set(range(len(sockets))):
            raise fault(f"sockets {sorted(sockets)} leave a gap; number them from 0", "clusters")
        return self


def check_unique(names: Sequence[str], key: str) -> None:
    """Raise a fault if a name is used twice: overrides and results address items by name."""
    for number, name in enumerate(names):
        if name in names[:number]:
            raise fault(f"`{name}` is used twice; rename one", key, number, "name")


def cpu_list(cpus: range) -> str:
    """Return a list of CPUs as in sysfs, such as `0-3`."""
    return f"{cpus[0]}-{cpus[-1]}" if len(cpus) > 1 else f"{cpus[0]}"


def cpus_of_list(text: str) -> list[int]:
    """Return the CPUs of a list such as `0-2,4`. Each CPU counts once, as in the guest. Parts such as `4-2` have no
    CPUs; the guest's programs refuse them."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal()):
            raise UserError(f"`{text}` is no list of CPUs; give one such as 0-2,4")
        found.update(range(int(first), int(last) + 1))
    return sorted(found)
