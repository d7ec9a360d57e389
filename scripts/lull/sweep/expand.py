# SPDX-License-Identifier: BSD-3-Clause
"""Expands a sweep to its runs: every point of the scenario, in every cell of the grid, with every seed."""

import itertools
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from lull.engines.gem5_settings import boots_as
from lull.errors import UserError
from lull.files import digest
from lull.files.blocks import quoted
from lull.platform.load import load_peer
from lull.runspec.spec import AnyCpu, CpuMode, EngineName, RunSpec
from lull.runspec.values import Value, text_of
from lull.scenario.points import Wishes, divide
from lull.scenario.schema import Scenario
from lull.sweep.asked import SweepAsked
from lull.sweep.folder import SweepPoint

SEED = "seed"
"""A scenario's parameter with this name gets the sweep's seed, for the random numbers of the guest program."""
PLATFORM, CPU = "platform", "cpu"
MOST_CELLS = 100_000
"""The largest number of combinations of values and seeds. More would fill the memory before the first run begins."""

Where = Callable[[str], str]
"""Returns where the user wrote an axis, for messages: `--grid governor`, or `mine.yaml: grid.governor`."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A RunSpec, compressed as its difference from `like`, another spec of the sweep. As objects, a spec takes 60 kB:
    too much memory for ten thousand points."""

    data: bytes
    like: bytes

    @classmethod
    def of(cls, spec: RunSpec, like: bytes) -> "Packed":
        packer = zlib.compressobj(level=1, zdict=like) if like else zlib.compressobj(level=1)
        return cls(packer.compress(spec.model_dump_json().encode()) + packer.flush(), like)

    @property
    def json(self) -> bytes:
        unpacker = zlib.decompressobj(zdict=self.like) if self.like else zlib.decompressobj()
        return unpacker.decompress(self.data) + unpacker.flush()


@dataclass(frozen=True)
class Planned:
    entry: SweepPoint
    packed: Packed
    cpu: AnyCpu | None
    memory_mib: int
    """The memory of the simulated machine."""
    wall_s: float
    """The run's limit of wall-clock time."""
    machine: str
    """Points with the same key restore the same checkpoint."""

    @property
    def spec(self) -> RunSpec:
        """Return the RunSpec, unpacked at each call."""
        return RunSpec.model_validate_json(self.packed.json)


@dataclass(frozen=True)
class Expanded:
    planned: list[Planned]
    left_out: list[tuple[str, str]]
    """The points that a machine of the grid cannot run: name, and what the machine lacks."""


def expand(asked: SweepAsked, scenario: Scenario, engine: EngineName, where: Where) -> Expanded:
    """Return all points, without their keys. Check all of them first."""
    cells = math.prod(map(len, asked.grid.values())) * asked.seeds
    if cells > MOST_CELLS:
        raise UserError(f"grid: {cells} combinations of its values and seeds; give {MOST_CELLS} or fewer")
    _check_values(asked.grid, where)
    if asked.seeds > 1 and SEED in scenario.parameters and (SEED in asked.set or SEED in asked.grid):
        raise UserError(f"seeds: {scenario.name} has its own `{SEED}`, which is set as well; give one of the two")
    planned: list[Planned] = []
    lacking: dict[tuple[str, str], None] = {}
    like = b""
    for cell, seed in _cells(asked):
        wishes = _wishes(asked, scenario, engine, cell, seed, where)
        try:
            divided = divide(scenario, wishes, asked.points)
        except UserError as error:
            raise UserError(_named(str(error), cell, where)) from None
        lacking |= dict.fromkeys(divided.left_out.items())
        for point in divided.points:
            entry = SweepPoint(point.name, point.group, dict(point.values), cell, seed, point.spec.hash())
            like = like or point.spec.model_dump_json().encode()
            memory_mib, wall_s = _memory_mib(point.spec), point.spec.limits.wall_s
            packed = Packed.of(point.spec, like)
            planned.append(Planned(entry, packed, point.spec.cpu, memory_mib, wall_s, boots_as(point.spec)))
    _check_settings_matter(planned, where)
    return Expanded(planned, list(lacking))


def _memory_mib(spec: RunSpec) -> int:
    peer = load_peer().memory.size_mib if spec.peer is not None and spec.engine == "gem5" else 0
    return spec.platform.memory.size_mib + peer


def keyed(found: Sequence[Planned], made_of: str) -> list[Planned]:
    """Return the points with their keys. `made_of` identifies engine and artifacts, whose build may take long."""
    return [
        replace(planned, entry=replace(planned.entry, key=digest.of_json([planned.entry.hash, made_of])[:16]))
        for planned in found
    ]


def _cells(asked: SweepAsked) -> Iterator[tuple[dict[str, Value], int]]:
    for values in itertools.product(*asked.grid.values()):
        for seed in range(1, asked.seeds + 1):
            yield dict(zip(asked.grid, values, strict=True)), seed


def _wishes(
    asked: SweepAsked, scenario: Scenario, engine: EngineName, cell: Mapping[str, Value], seed: int, where: Where
) -> Wishes:
    settings = {**asked.set, **{key: value for key, value in cell.items() if key not in (PLATFORM, CPU)}}
    if SEED in scenario.parameters and asked.seeds > 1:
        settings[SEED] = seed
    return Wishes(
        engine=engine,
        platform=_platform(cell, where) or asked.platform,
        cpu=_cpu(cell, where) or asked.cpu,
        settings=[f"{key}={text_of(value)}" for key, value in settings.items()],
        seed=seed,
        stats_period_s=asked.stats_period_s,
    )


def _platform(cell: Mapping[str, Value], where: Where) -> str | None:
    name = cell.get(PLATFORM)
    if name is None or isinstance(name, str):
        return name
    raise UserError(f"{where(PLATFORM)}: {text_of(name)} is not a name; use those of `lull platform list`")


def _cpu(cell: Mapping[str, Value], where: Where) -> CpuMode | None:
    wanted = cell.get(CPU)
    for mode in get_args(CpuMode):
        if wanted == mode:
            return mode  # type: ignore[no-any-return]
    if wanted is None:
        return None
    raise UserError(f"{where(CPU)}: `{text_of(wanted)}` is not known here; use {quoted(get_args(CpuMode))}")


def _named(sentence: str, cell: Mapping[str, Value], where: Where) -> str:
    """Return a message about `--set` that names the axis as the user wrote it, such as `--grid governor`."""
    key = sentence.removeprefix("--set ").partition(":")[0].partition("=")[0]
    named = sentence.startswith("--set ") and key in cell
    return where(key) + sentence.removeprefix(f"--set {key}") if named else sentence


def _check_values(grid: Mapping[str, Sequence[Value]], where: Where) -> None:
    for key, values in grid.items():
        for number, value in enumerate(values):
            if value in values[:number]:
                raise UserError(f"{where(key)}: {text_of(value)} is there twice; drop one")


def _check_settings_matter(found: Sequence[Planned], where: Where) -> None:
    """Raise a UserError if two cells of the grid give the same run: plots would show an axis that has no effect."""
    first: dict[str, SweepPoint] = {}
    for planned in found:
        entry = planned.entry
        other = first.setdefault(entry.hash, entry)
        if other.settings == entry.settings:
            continue
        axis = next(key for key, value in entry.settings.items() if other.settings[key] != value)
        same = f"{text_of(other.settings[axis])} and {text_of(entry.settings[axis])}"
        raise UserError(
            f"{where(axis)}: {entry.name} runs the same with {same}; "
            "choose the points that it is for by --points, or drop it"
        )
