# SPDX-License-Identifier: BSD-3-Clause
"""From a scenario and a user's wishes to runs: every cell of every matrix, checked before the first one starts."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from lull.blocks import quoted
from lull.errors import UserError
from lull.platform.load import load_platform
from lull.runspec import CpuMode, EngineName, RunSpec
from lull.scenario.schema import FOLDER, Group, Parameter, Scenario, Value, fill, text_of
from lull.specs import load_spec


@dataclass(frozen=True)
class Point:
    """One run of a scenario. `name` is its folder below the sweep's: the group, and the values of its matrix."""

    name: str
    group: str
    values: Mapping[str, Value]
    spec: RunSpec


@dataclass(frozen=True)
class Wishes:
    """What a user asked for, before anything is checked against the scenario."""

    engine: EngineName
    platform: str | None = None
    cpu: CpuMode | None = None
    settings: Sequence[str] = ()
    seed: int = 1
    stats_period_s: float | None = None


def resolve(scenario: Scenario, wishes: Wishes, only: Sequence[str] = ()) -> list[Point]:
    """All points, or those whose names match a pattern, in the order of the file."""
    chosen, overrides = split(scenario, wishes.settings)
    cpu = wishes.cpu or (scenario.cpu if wishes.engine == "gem5" else None)
    period = wishes.stats_period_s or (scenario.stats_period_s if wishes.engine == "gem5" else None)
    points: list[Point] = []
    names: list[str] = []
    for group in scenario.groups:
        if any(chosen.get(key, value) != value for key, value in group.about.items()):
            continue
        for platform, name, values in _cells(scenario, group, chosen, wishes.platform):
            if scenario.needs_state and not _has_state(platform, fill(scenario.needs_state, values)):
                continue
            names.append(name)
            if not _matches(name, only):
                continue
            of_file = [fill(text, values) for text in scenario.overrides]
            of_group = [fill(text, values) for text in group.overrides]
            spec = load_spec(
                platform,
                [*of_file, *overrides, *of_group],
                fill(group.command or scenario.command, values, quote=True),
                engine=wishes.engine,
                cpu=cpu,
                trace=scenario.trace,
                trace_kib=scenario.trace_kib,
                stats_period_s=period,
                limits=scenario.limits,
                seed=wishes.seed,
            )
            points.append(Point(name, group.name, values, spec))
    if not names and not scenario.needs_state:
        raise UserError(f"{scenario.name}: no group is about {', '.join(wishes.settings)}; leave some of it out")
    if not names:
        platform = wishes.platform or scenario.platform
        raise UserError(f"{scenario.name}: platform {platform} has none of the idle states it is about; choose another")
    _check_patterns(names, only)
    return points


def select(points: Sequence[Point], patterns: Sequence[str]) -> list[Point]:
    """The points that a user names; `*` and `?` stand for anything."""
    _check_patterns([point.name for point in points], patterns)
    return [point for point in points if _matches(point.name, patterns)]


def _check_patterns(names: Sequence[str], patterns: Sequence[str]) -> None:
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            known = quoted(names[:8])
            raise UserError(f"--points {pattern}: no such point; `--list` names all {len(names)}, such as {known}")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def split(scenario: Scenario, settings: Sequence[str]) -> tuple[dict[str, Value], list[str]]:
    """`--set` of the scenario's own parameters, and the rest, which is the platform's or the policy's."""
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
        pass  # said below, with what it should have been
    if complaint := parameter.complaint(value):
        raise UserError(f"--set {key}: {complaint}")
    return value


def _cells(
    scenario: Scenario, group: Group, chosen: Mapping[str, Value], wanted: str | None
) -> Iterator[tuple[str, str, dict[str, Value]]]:
    """Platform, name and values. What the user sets keeps that value everywhere: its axis shrinks to one."""
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


def _has_state(platform: str, name: str) -> bool:
    clusters = _machine(platform).resolved_clusters()
    return any(state.name == name for cluster in clusters for state in cluster.cstates)


_machine = cache(load_platform)


def _example(scenario: Scenario) -> str:
    for key, parameter in scenario.parameters.items():
        return f"{key}={text_of(parameter.default)}"
    return "memory.size_mib=256"
