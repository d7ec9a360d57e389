# SPDX-License-Identifier: BSD-3-Clause
"""Expands a scenario and a user's wishes to RunSpecs, one for every cell of every matrix, all checked first."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from lull.errors import UserError
from lull.files.blocks import quoted
from lull.platform.load import load_platform
from lull.platform.schema import Cluster, cpus_of_list
from lull.runspec.load import load_spec
from lull.runspec.spec import CpuMode, EngineName, RunSpec
from lull.runspec.values import Value, text_of
from lull.scenario.schema import FOLDER, Group, Parameter, Scenario, fill


@dataclass(frozen=True)
class Point:
    """One run of a scenario. `name` is the group and the values of its matrix, such as `exit/C3-10`, and its folder."""

    name: str
    group: str
    values: Mapping[str, Value]
    spec: RunSpec


@dataclass(frozen=True)
class Wishes:
    """What the user asks for, not yet checked against the scenario."""

    engine: EngineName
    platform: str | None = None
    cpu: CpuMode | None = None
    settings: Sequence[str] = ()
    seed: int = 1
    stats_period_s: float | None = None


@dataclass(frozen=True)
class _Cell:
    group: Group
    name: str
    platform: str
    values: Mapping[str, Value]
    settings: Sequence[str]
    lack: str
    """The reason why the machine cannot run the point; empty if it can."""


@dataclass(frozen=True)
class Divided:
    points: list[Point]
    left_out: dict[str, str]
    """The points that the machine cannot run: name, and what the machine lacks."""


def resolve(scenario: Scenario, wishes: Wishes, only: Sequence[str] = ()) -> list[Point]:
    """Return the points that the machine can run, in the order of the file. `only` are patterns of names."""
    return divide(scenario, wishes, only).points


def divide(scenario: Scenario, wishes: Wishes, only: Sequence[str] = ()) -> Divided:
    """Return the points that the machine can run, as `resolve`, and the names of those that it cannot run."""
    cpu = wishes.cpu or (scenario.cpu if wishes.engine == "gem5" else None)
    period = wishes.stats_period_s or (scenario.stats_period_s if wishes.engine == "gem5" else None)
    every = _asked_for(scenario, wishes, only) or list(_cells(scenario, wishes))
    left_out = {cell.name: cell.lack for cell in every if cell.lack}
    cells = [cell for cell in every if not cell.lack]
    if not cells and left_out:
        why = next(iter(left_out.values()))
        raise UserError(f"{scenario.name}: no point can run, {why}; change the platform or the settings")
    if not cells:
        raise UserError(f"{scenario.name}: no group is about {', '.join(wishes.settings)}; leave some of it out")
    _check_patterns([cell.name for cell in cells], only, left_out)
    points: list[Point] = []
    for cell in cells:
        if not _matches(cell.name, only):
            continue
        peer = cell.group.peer or scenario.peer
        spec = load_spec(
            cell.platform,
            cell.settings,
            fill(_command(scenario, cell.group), cell.values, quote=True),
            engine=wishes.engine,
            cpu=cpu,
            peer=fill(peer, cell.values, quote=True) if peer else None,
            trace=scenario.trace,
            trace_kib=scenario.trace_kib,
            stats_period_s=period,
            fast_forward_s=_fast_forward_s(scenario, cell.values) if wishes.engine == "gem5" else None,
            limits=scenario.limits,
            seed=wishes.seed,
        )
        points.append(Point(cell.name, cell.group.name, cell.values, spec))
    return Divided(points, {name: lack for name, lack in left_out.items() if _matches(name, only)})


def _command(scenario: Scenario, group: Group) -> str:
    command = group.command or scenario.command
    return f"{group.before}; {command}" if group.before else command


def _fast_forward_s(scenario: Scenario, values: Mapping[str, Value]) -> float | None:
    text = fill(scenario.fast_forward_us or "0", values)
    try:
        microseconds = float(text)
    except ValueError:
        raise UserError(f"{scenario.name}: fast_forward_us: {text} is not a number; write microseconds") from None
    return microseconds * 1e-6 or None


def _asked_for(scenario: Scenario, wishes: Wishes, only: Sequence[str]) -> list[_Cell]:
    """Return the cells that the patterns name, or none if the machine cannot run a cell for every pattern. The caller
    then makes all cells for its error message. Otherwise it need not, which saves time in large sweeps."""
    cells = list(_cells(scenario, wishes, only)) if only else []
    runnable = [cell.name for cell in cells if not cell.lack]
    return cells if all(any(fnmatchcase(name, pattern) for name in runnable) for pattern in only) else []


def sentences(left_out: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield one sentence for each reason why points are left out. A name counts once for all machines and seeds."""
    names: dict[str, list[str]] = {}
    for name, lack in dict.fromkeys(left_out):
        names.setdefault(lack, []).append(name)
    for lack, (first, *others) in names.items():
        yield f"{first}{f' and {len(others)} more points' if others else ''}: left out, {lack}"


def select(points: Sequence[Point], patterns: Sequence[str], left_out: Mapping[str, str] | None = None) -> list[Point]:
    """Return the points that match a pattern of the user, such as `exit/C3-*`."""
    _check_patterns([point.name for point in points], patterns, left_out or {})
    return [point for point in points if _matches(point.name, patterns)]


def _check_patterns(names: Sequence[str], patterns: Sequence[str], left_out: Mapping[str, str]) -> None:
    for pattern in patterns:
        if any(fnmatchcase(name, pattern) for name in names):
            continue
        if why := next((left_out[name] for name in left_out if fnmatchcase(name, pattern)), None):
            raise UserError(f"--points {pattern}: cannot run, {why}; change the platform or the settings")
        known = quoted(names[:8])
        raise UserError(f"--points {pattern}: no such point; `--list` names all {len(names)}, such as {known}")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def split(scenario: Scenario, settings: Sequence[str]) -> tuple[dict[str, Value], list[str]]:
    """Return the values of the scenario's parameters, and all other `--set` words (of the platform or the policy)."""
    chosen: dict[str, Value] = {}
    rest: list[str] = []
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"--set {text}: no `=`; write key=value, such as {_example(scenario)}")
        if key in scenario.parameters:
            chosen[key] = _typed(key, scenario.parameters[key], value)
        else:
            rest.append(text)
    return chosen, rest


def _typed(key: str, parameter: Parameter, text: str) -> Value:
    value: Value = text
    try:
        if isinstance(parameter.default, bool):
            value = {"true": True, "false": False}.get(text, text)
        elif isinstance(parameter.default, int):
            value = int(text)
        elif isinstance(parameter.default, float):
            value = float(text)
    except ValueError:
        pass  # the complaint below says what it should have been
    if complaint := parameter.complaint(value):
        raise UserError(f"--set {key}: {complaint}")
    return value


def _cells(scenario: Scenario, wishes: Wishes, only: Sequence[str] = ()) -> Iterator[_Cell]:
    chosen, overrides = split(scenario, wishes.settings)
    for group in scenario.groups:
        if any(chosen.get(key, value) != value for key, value in group.about.items()):
            continue
        for platform, name, values in _matrix(scenario, group, chosen, wishes.platform):
            if not _matches(name, only):
                continue
            of_file = [fill(text, values) for text in scenario.overrides]
            of_group = [fill(text, values) for text in group.overrides]
            settings = [*of_file, *overrides, *of_group]
            yield _Cell(group, name, platform, values, settings, _lack(scenario, platform, settings, values))


def _matrix(
    scenario: Scenario, group: Group, chosen: Mapping[str, Value], wanted: str | None
) -> Iterator[tuple[str, str, dict[str, Value]]]:
    """Yield platform, name and values of each cell. A parameter that the user sets has only that value."""
    base = {key: parameter.default for key, parameter in scenario.parameters.items()}
    base |= {**group.parameters, **group.about}
    base |= chosen
    for key in chosen.keys() & group.matrix.keys():
        if not FOLDER.fullmatch(text_of(chosen[key])):
            raise UserError(f"--set {key}: {chosen[key]!r} cannot name a folder; use letters, digits, `.` and `_`")
    axes = {key: [chosen[key]] if key in chosen else values for key, values in group.matrix.items()}
    platforms = [wanted] if wanted else group.platforms or [scenario.platform]
    for platform, cell in itertools.product(platforms, list(itertools.product(*axes.values()))):
        values = {**base, **dict(zip(axes, cell, strict=True))}
        words = [*([platform] if len(platforms) > 1 else []), *map(text_of, cell)]
        yield platform, f"{group.name}/{'-'.join(words)}" if words else group.name, values


def _lack(scenario: Scenario, platform: str, settings: Sequence[str], values: Mapping[str, Value]) -> str:
    state, cpus = (fill(template or "", values) for template in (scenario.needs_state, scenario.needs_cpus))
    # Only these settings can change which CPUs there are and which states they have.
    machine = _machine(platform, tuple(text for text in settings if text.startswith(("clusters.", "shadow."))))
    clusters = {cpu: cluster for numbers, cluster in machine.cpu_ranges() for cpu in numbers}
    for cpu in cpus_of_list(cpus):
        if cpu not in clusters:
            return f"{platform} has no CPU {cpu}"
        if state and not _has(clusters[cpu], state):
            return f"CPU {cpu} of {platform} ({clusters[cpu].name}) has no idle state {state}"
    if state and not any(_has(cluster, state) for cluster in clusters.values()):
        return f"{platform} has no idle state {state}"
    return ""


def _has(cluster: Cluster, state: str) -> bool:
    return any(own.name == state for own in cluster.cstates)


_machine = cache(load_platform)


def _example(scenario: Scenario) -> str:
    for key, parameter in scenario.parameters.items():
        return f"{key}={text_of(parameter.default)}"
    return "memory.size_mib=256"
