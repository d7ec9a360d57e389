# SPDX-License-Identifier: BSD-3-Clause
"""Reads core descriptions, and defines their schema.

The terms are those of processor manuals. gem5-configs turns them into gem5's objects. Every block has the source of its
numbers. Latencies of units are cycles from issue to result.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, model_validator

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained, fault, quoted
from lull.files.paths import ROOT
from lull.platform.schema import LINE_BYTES
from lull.platform.values import Name, Source

CORES = ROOT / "platforms" / "cores"

Operation = Literal[
    "int-alu",
    "int-multiply",
    "int-divide",
    "fp-add",
    "fp-convert",
    "fp-multiply",
    "fp-multiply-add",
    "fp-divide",
    "fp-square-root",
    "simd-alu",
    "simd-shift",
    "simd-accumulate",
    "simd-multiply",
    "crypto",
    "load",
    "store",
    "system",
]
"""Groups of instructions that share units and latencies. Branches are `int-alu`."""

OPERATIONS: tuple[Operation, ...] = get_args(Operation)


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise fault(f"{value} is not a power of two; use {1 << (value.bit_length() - 1)} or {1 << value.bit_length()}")
    return value


Cycles = Annotated[int, Field(ge=1, le=100)]
Width = Annotated[int, Field(ge=1, le=12)]
Entries = Annotated[int, Field(ge=1, le=1024)]
Table = Annotated[int, Field(ge=2, le=65536), AfterValidator(_power_of_two)]
Degree = Annotated[int, Field(ge=0, le=32)]
"""Lines fetched ahead of a stream; 0 is no prefetcher."""


class Cache(Block):
    size_kib: Annotated[int, Field(ge=4, le=128)]
    ways: Annotated[int, Field(ge=1, le=16)]
    latency_cycles: Cycles
    """Latency of the array alone. A load first takes the cycles of the `load` unit for its address."""
    mshrs: Annotated[int, Field(ge=1, le=64)]
    source: Source

    @model_validator(mode="after")
    def _whole_sets(self) -> "Cache":
        sets, rest = divmod(self.size_kib * 1024, self.ways * LINE_BYTES)
        if rest or sets & (sets - 1):
            raise fault(
                f"{self.size_kib} KiB in {self.ways} ways of {LINE_BYTES}-byte lines is not a power of two of sets; "
                "change size_kib or ways",
                "ways",
            )
        return self


class DataCache(Cache):
    write_buffers: Annotated[int, Field(ge=1, le=64)]
    prefetch_degree: Degree


class L2Policy(Block):
    """The properties of a cluster's L2 that the core's design decides. Its size is chosen by the SoC."""

    prefetch_degree: Degree
    source: Source


class Tlb(Block):
    instruction: Entries
    data: Entries
    shared: Annotated[int, Field(ge=1, le=4096)]
    source: Source


class Branch(Block):
    predictor: Literal["tournament", "bi-mode"]
    global_entries: Table
    choice_entries: Table
    local_entries: Table | None = None
    """Entries of the local part of a tournament predictor. A bi-mode predictor has none."""
    btb_entries: Table
    return_stack: Annotated[int, Field(ge=1, le=128)]
    indirect_entries: Table
    source: Source

    @model_validator(mode="after")
    def _local_part(self) -> "Branch":
        if (self.local_entries is None) == (self.predictor == "tournament"):
            verb = "add it" if self.local_entries is None else "remove it"
            raise fault(f"a {self.predictor} predictor and this key do not go together; {verb}", "local_entries")
        return self


class InOrder(Block):
    issue_width: Width
    accesses_in_flight: Annotated[int, Field(ge=1, le=64)]
    store_buffer: Annotated[int, Field(ge=1, le=64)]
    mispredict_cycles: Cycles
    source: Source


class OutOfOrder(Block):
    fetch_bytes: Annotated[int, Field(ge=4, le=64), AfterValidator(_power_of_two)]
    decode_width: Width
    dispatch_width: Width
    issue_width: Width
    commit_width: Width
    reorder_buffer: Entries
    issue_queue: Entries
    load_queue: Entries
    store_queue: Entries
    mispredict_cycles: Cycles
    source: Source


class Unit(Block):
    """Execution units of one kind. A unit that is not pipelined is busy until its result is ready."""

    name: Name
    count: Annotated[int, Field(ge=1, le=8)]
    latency: Annotated[dict[Operation, Cycles], Field(min_length=1)]
    pipelined: bool = True
    late_operands: Annotated[int, Field(ge=0, le=4)] = 0
    """The number of cycles after issue in which an operand may still arrive, in an in-order pipeline."""


class Units(Block):
    source: Source
    table: Annotated[list[Unit], Field(min_length=1)]

    @model_validator(mode="after")
    def _complete(self) -> "Units":
        names = [unit.name for unit in self.table]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise fault(f"a second unit `{name}`; raise the first one's count or rename", "table", number, "name")
        missing = set(OPERATIONS).difference(*(unit.latency for unit in self.table))
        if missing:
            raise fault(f"no unit does {quoted(sorted(missing))}; give one of them a latency for it", "table")
        return self


class Core(Block):
    """The base of the two kinds of cores below, in-order and out-of-order."""

    name: Name
    title: Annotated[str, Field(min_length=1, max_length=80)]
    isa: Annotated[str, Field(min_length=1)]
    """The instruction set of the real core. The simulated core always runs AArch64 of Armv8.0."""
    same_as: Name | None = None
    """The core whose microarchitecture this one shares."""
    pipeline: Literal["in-order", "out-of-order"]
    l1i: Cache
    l1d: DataCache
    l2: L2Policy
    tlb: Tlb
    branch: Branch
    units: Units


class InOrderCore(Core):
    pipeline: Literal["in-order"]
    stages: InOrder


class OutOfOrderCore(Core):
    pipeline: Literal["out-of-order"]
    stages: OutOfOrder


class Twin(Block):
    """A file for a core that is the same as another one, except for its name, title and source."""

    name: Name
    title: Annotated[str, Field(min_length=1, max_length=80)]
    same_as: Name
    source: Source


def list_cores() -> list[str]:
    """Return the names of the cores that a cluster may name."""
    return sorted(path.stem for path in CORES.glob("*.yaml"))


def load_core(name: str) -> Core:
    """Return the core with this file name in platforms/cores."""
    shown, data = _read(name)
    if "same_as" not in data:
        return _checked(shown, data)
    with explained(shown, Twin):
        twin = Twin.model_validate(data)
    _check_name(shown, twin.name, name)
    origin_shown, origin = _read(twin.same_as)
    if "same_as" in origin:
        raise UserError(f"{shown}: same_as: `{twin.same_as}` is itself like another; name that one")
    _checked(origin_shown, origin)
    return _checked(shown, {**origin, "name": twin.name, "title": twin.title, "same_as": twin.same_as})


def _checked(shown: str, data: dict[str, Any]) -> Core:
    model = InOrderCore if data.get("pipeline") == "in-order" else OutOfOrderCore
    if data.get("pipeline") not in ("in-order", "out-of-order"):
        raise UserError(f"{shown}: pipeline: {data.get('pipeline')!r} is not known; use `in-order` or `out-of-order`")
    with explained(shown, model):
        core: Core = model.model_validate(data)
    _check_name(shown, core.name, shown.rpartition("/")[2].removesuffix(".yaml"))
    return core


def _check_name(shown: str, name: str, expected: str) -> None:
    if name != expected:
        raise UserError(f"{shown}: name: `{name}` is not the name of the file; write `{expected}`")


def _read(name: str) -> tuple[str, dict[str, Any]]:
    if name not in list_cores():
        raise UserError(f"unknown core `{name}`; use one of {quoted(list_cores())}")
    file = CORES / f"{name}.yaml"
    shown = yaml_file.shown(file)
    return shown, yaml_file.read(file, shown, "core", "platforms/README.md")
