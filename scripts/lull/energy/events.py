# SPDX-License-Identifier: BSD-3-Clause
"""McPAT's events of a core and of an L2, by McPAT's names, and the part to which each event is charged.

McPAT's parts are its headings at print level 5. Some statistics of its input cost nothing in its model (committed
instructions, context switches, instructions by type): they are no events here.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from lull.platform.cores import Core

CYCLES = "cycles"
"""The event for a cycle in which the core is clocked. The name is not McPAT's: McPAT asks for a duty cycle."""

Parts = Mapping[str, Sequence[str]]
"""The events that are charged to each part of McPAT's answer."""

IN_ORDER: Mapping[str, Parts] = {
    "fetch": {
        "Instruction Cache": ("icache.read_accesses", "icache.read_misses"),
        "Branch Target Buffer": ("BTB.read_accesses", "BTB.write_accesses"),
        "Branch Predictor": ("branch_instructions", "branch_mispredictions", "function_calls"),
        "Instruction Buffer": ("total_instructions",),
        "Instruction Decoder": ("total_instructions",),
    },
    "load-store": {
        "Data Cache": ("dcache.read_accesses", "dcache.read_misses", "dcache.write_accesses", "dcache.write_misses"),
        "Load/Store Queue": ("load_instructions", "store_instructions"),
    },
    "memory-management": {
        "Itlb": ("itlb.total_accesses", "itlb.total_misses"),
        "Dtlb": ("dtlb.total_accesses", "dtlb.total_misses"),
    },
    "execution": {
        "Integer RF": ("int_regfile_reads", "int_regfile_writes"),
        "Floating Point RF": ("float_regfile_reads", "float_regfile_writes"),
        "Integer ALUs": ("ialu_accesses",),
        "Floating Point Units": ("fpu_accesses",),
        "Complex ALUs": ("mul_accesses",),
        "Results Broadcast Bus": ("cdb_alu_accesses", "cdb_mul_accesses", "cdb_fpu_accesses"),
    },
}
"""Events by component (the unit of the core), then by McPAT's part of the component."""

OUT_OF_ORDER: Mapping[str, Parts] = {
    **IN_ORDER,
    "rename": {
        "Int Front End RAT": ("rename_reads", "rename_writes"),
        "FP Front End RAT": ("fp_rename_reads", "fp_rename_writes"),
        "Free List": ("rename_reads", "rename_writes"),
        "FP Free List": ("fp_rename_reads", "fp_rename_writes"),
    },
    "load-store": {
        "Data Cache": IN_ORDER["load-store"]["Data Cache"],
        "LoadQ": ("load_instructions", "store_instructions"),
        "StoreQ": ("load_instructions", "store_instructions"),
    },
    "execution": {
        **IN_ORDER["execution"],
        "Instruction Window": ("inst_window_reads", "inst_window_writes", "inst_window_wakeup_accesses"),
        "FP Instruction Window": ("fp_inst_window_reads", "fp_inst_window_writes", "fp_inst_window_wakeup_accesses"),
        "ROB": ("ROB_reads", "ROB_writes"),
    },
}

UNITS = {
    "fetch": "Instruction Fetch Unit",
    "rename": "Renaming Unit",
    "load-store": "Load Store Unit",
    "memory-management": "Memory Management Unit",
    "execution": "Execution Unit",
}
"""McPAT's headings of the components."""

OTHER = "other"
"""The part of a core that belongs to no unit. It leaks, but has no events."""

L2 = "l2"
L2_EVENTS = ("read_accesses", "write_accesses", "read_misses", "write_misses")

MEMORY_EVENTS = ("memory_reads", "memory_writes")


def components(core: Core) -> Mapping[str, Parts]:
    return IN_ORDER if core.pipeline == "in-order" else OUT_OF_ORDER


def core_events(units: Mapping[str, Parts] = OUT_OF_ORDER) -> tuple[str, ...]:
    """Return every event of a kind of core, `cycles` first. An out-of-order core has all events."""
    groups = chain.from_iterable(parts.values() for parts in units.values())
    return (CYCLES, *dict.fromkeys(chain.from_iterable(groups)))


def slots(units: Mapping[str, Parts]) -> dict[str, int]:
    """Return a number for each event, so that no part is charged for two events with the same number."""
    found: dict[str, int] = {}
    for parts in units.values():
        for group in parts.values():
            for number, event in enumerate(group):
                assert found.setdefault(event, number) == number, event
    return found
