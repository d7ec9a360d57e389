# SPDX-License-Identifier: BSD-3-Clause
"""The addresses and interrupts of gem5's and QEMU's machines.

They are given by gem5's `VExpress_GEM5_Foundation` platform and QEMU's `virt` machine. Our own devices use free places
on gem5. On QEMU, no device is added.
"""

from dataclasses import dataclass

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

PAGE = 4 * KIB


@dataclass(frozen=True)
class Region:
    """A half-open range of physical addresses of one device or memory."""

    name: str
    base: int
    size: int

    @property
    def end(self) -> int:
        return self.base + self.size

    def overlaps(self, other: "Region") -> bool:
        return self.base < other.end and other.base < self.end


@dataclass(frozen=True)
class PciHost:
    """A host bridge that is memory-mapped by the ECAM rules. The device tree of a machine with a network has it."""

    config: Region
    """Only bus 0, because there is no other bus behind it."""
    ports: Region
    memory: Region
    bus_base: int
    """The bus address of the beginning of `memory`. It is not 0, because 0 would mean a card without an address."""
    spis: dict[int, int]
    """The interrupt of each slot's pin A, level-sensitive."""


FOUNDATION_DRAM_BASE = 0x8000_0000
FOUNDATION_GIC_DIST = Region("GIC distributor", 0x2F00_0000, 64 * KIB)
FOUNDATION_GIC_REDIST = 0x2F10_0000
GIC_REDIST_STRIDE = 128 * KIB
"""Two frames of 64 KiB for each CPU, as in a GICv3 without virtual LPIs."""

ENERGY_CONTROLLER = Region("energy controller", 0x1000_0000, PAGE)
FOUNDATION_UART = Region("UART 0", 0x1C09_0000, PAGE)
FOUNDATION_UART_SPI = 5
FOUNDATION_RTC = Region("real-time clock", 0x1C17_0000, PAGE)
FOUNDATION_RTC_SPI = 4

LATENCY_DEVICES = Region("latency devices", 0x1D00_0000, 4 * 4 * 8 * PAGE)
"""Our own devices: a page per cluster, state and cost (gem5-configs/idle.py, and fvp_sleep.c in the firmware)."""

PERIPHERALS = Region("peripheral block (CS3)", 0x1C00_0000, 64 * MIB)
"""The region of small devices in the Foundation map. Our event timers must be inside it."""

FOUNDATION: tuple[Region, ...] = (
    Region("boot memory", 0x0000_0000, 64 * MIB),
    Region("trusted SRAM", 0x0400_0000, 256 * KIB),
    Region("trusted DRAM", 0x0600_0000, 32 * MIB),
    Region("NOR flash 0", 0x0800_0000, 64 * MIB),
    Region("NOR flash 1", 0x0C00_0000, 64 * MIB),
    ENERGY_CONTROLLER,
    Region("m5 operations", 0x1001_0000, 64 * KIB),
    Region("message handling unit", 0x1002_0000, 64 * KIB),
    Region("video memory", 0x1800_0000, 32 * MIB),
    Region("system registers", 0x1C01_0000, PAGE),
    Region("system controller", 0x1C02_0000, PAGE),
    Region("keyboard", 0x1C06_0000, PAGE),
    Region("mouse", 0x1C07_0000, PAGE),
    FOUNDATION_UART,
    Region("UART 1", 0x1C0A_0000, PAGE),
    Region("UART 2", 0x1C0B_0000, PAGE),
    Region("UART 3", 0x1C0C_0000, PAGE),
    Region("watchdog", 0x1C0F_0000, PAGE),
    Region("power controller", 0x1C10_0000, PAGE),
    Region("VirtIO 0", 0x1C13_0000, PAGE),
    Region("VirtIO 1", 0x1C14_0000, PAGE),
    FOUNDATION_RTC,
    Region("colour LCD", 0x1C1F_0000, PAGE),
    LATENCY_DEVICES,
    Region("system counter control", 0x2A43_0000, PAGE),
    Region("EL2 watchdog", 0x2A44_0000, 128 * KIB),
    Region("trusted watchdog", 0x2A49_0000, PAGE),
    Region("system counter", 0x2A80_0000, PAGE),
    Region("timer frames", 0x2A81_0000, 192 * KIB),
    Region("system watchdog", 0x2B06_0000, PAGE),
    Region("SMMU", 0x2B40_0000, 128 * KIB),
    Region("non-trusted SRAM", 0x2E00_0000, 32 * KIB),
    FOUNDATION_GIC_DIST,
    Region("GIC redistributors", FOUNDATION_GIC_REDIST, 256 * GIC_REDIST_STRIDE),
    Region("PCI configuration", 0x4000_0000, 256 * MIB),
    Region("PCI I/O", 0x5000_0000, 16 * MIB),
    Region("DRAM", FOUNDATION_DRAM_BASE, 510 * GIB),
)

FOUNDATION_SPIS: dict[int, str] = {
    0: "watchdog",
    FOUNDATION_RTC_SPI: "real-time clock",
    FOUNDATION_UART_SPI: "UART 0",
    6: "UART 1",
    7: "UART 2",
    8: "UART 3",
    12: "keyboard",
    13: "mouse",
    14: "colour LCD",
    24: "trusted watchdog",
    25: "timer frame 0",
    26: "timer frame 1",
    27: "EL2 watchdog",
    28: "EL2 watchdog",
    42: "VirtIO 0",
    43: "VirtIO 1",
    68: "PCI",
    69: "PCI",
    70: "PCI",
    71: "PCI",
    74: "SMMU",
    98: "system watchdog",
    101: "timer frame 0",
    102: "timer frame 1",
}
"""Shared peripheral interrupts that a device of the platform already drives."""

PCI_BUS = MIB
"""The size of the configuration of 256 functions, by ECAM."""
FOUNDATION_PCI = PciHost(
    config=Region("PCI configuration, bus 0", 0x4000_0000, PCI_BUS),
    ports=Region("PCI ports", 0x5000_0000, 64 * KIB),
    memory=Region("PCI memory", 0x40_1000_0000, 16 * MIB),
    bus_base=0x1000_0000,
    spis={1: 69},
)
"""gem5 raises SPI 68 plus (slot modulo 4). PCI memory is at 0x40_0000_0000 plus the card's own address."""

MAX_SPI = 987
"""The GIC's last shared peripheral interrupt is INTID 1019."""

VIRT_DRAM_BASE = 0x4000_0000
VIRT_GIC_DIST = Region("GIC distributor", 0x0800_0000, 64 * KIB)
VIRT_GIC_REDIST = Region("GIC redistributors", 0x080A_0000, 0x00F6_0000)
VIRT_UART = Region("UART", 0x0900_0000, PAGE)
VIRT_UART_SPI = 1
VIRT_RTC = Region("real-time clock", 0x0901_0000, PAGE)
VIRT_RTC_SPI = 2
VIRT_FW_CFG = Region("firmware configuration", 0x0902_0000, 0x18)
VIRT_VIRTIO_BASE = 0x0A00_0000
VIRT_VIRTIO_SIZE = 0x200
VIRT_VIRTIO_COUNT = 32
VIRT_VIRTIO_SPI = 16
VIRT_PCI = PciHost(
    config=Region("PCI configuration, bus 0", 0x40_1000_0000, PCI_BUS),
    ports=Region("PCI ports", 0x3EFF_0000, 64 * KIB),
    memory=Region("PCI memory", 0x1000_0000, 16 * MIB),
    bus_base=0x1000_0000,
    spis={1: 4, 2: 5},
)
"""`virt` rotates the four pins by the slot's number, from SPI 3 on."""
VIRT_EVENT_SPI = 192
"""The first interrupt that no device of `virt` uses. A stand-in for an event timer sets its own interrupt pending."""


def foundation_overlap(region: Region) -> Region | None:
    """Return the first device of the Foundation map that overlaps the region."""
    return next((taken for taken in FOUNDATION if taken.overlaps(region)), None)
