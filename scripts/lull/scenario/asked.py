# SPDX-License-Identifier: BSD-3-Clause
"""Prepares and runs a scenario for `lull run` and for notebooks."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lull.engines.base import Engine
from lull.engines.choose import choose
from lull.host.progress import report
from lull.runspec.period import period
from lull.runspec.spec import CpuMode, EngineName
from lull.scenario import points as resolved
from lull.scenario.folder import FAILED, HUNG, Done, ScenarioFolder, refuse_others, run_points
from lull.scenario.load import file_of, load_scenario
from lull.scenario.points import Point, Wishes
from lull.scenario.schema import Scenario


@dataclass(frozen=True)
class Asked:
    """A user's request for runs of a scenario. Each field is an option of `lull run`."""

    name: str
    platform: str | None = None
    engine: EngineName | None = None
    cpu: CpuMode | None = None
    settings: Sequence[str] = ()
    points: Sequence[str] = ()
    out: Path | None = None
    again: bool = False
    seed: int = 1
    stats_period: str | None = None
    gem5: str | None = None


@dataclass(frozen=True)
class Prepared:
    """A request after all checks, before any run starts."""

    asked: Asked
    scenario: Scenario
    engine: Engine
    command: str
    every: list[Point]
    points: list[Point]


def prepare(asked: Asked) -> Prepared:
    scenario = load_scenario(asked.name)
    chosen = choose(asked.engine, asked.gem5, programs=scenario.programs)
    wishes = wishes_of(asked, chosen.name)
    divided = resolved.divide(scenario, wishes)
    points = resolved.select(divided.points, asked.points, divided.left_out)
    for sentence in resolved.sentences(divided.left_out.items()):
        report(sentence)
    return Prepared(asked, scenario, chosen, _command(asked.name, divided.points, wishes), divided.points, points)


def run(prepared: Prepared) -> tuple[ScenarioFolder, list[Done]]:
    """Run the points that have not finished yet. Return their folder, and the outcome of every point."""
    asked = prepared.asked
    place = asked.out or _place(prepared.scenario, prepared.every)
    if not asked.again:
        refuse_others(place, prepared.points, prepared.engine)
    folder = ScenarioFolder.create(place, prepared.scenario.name, prepared.command, prepared.every, file_of(asked.name))
    return folder, run_points(folder, prepared.points, prepared.engine, asked.again)


def complaint(done: Sequence[Done], command: str) -> list[str]:
    """Return one sentence about all points that failed, and one about all that hung; none where there are none."""
    failed = [item for item in done if item.how == FAILED]
    hung = [item for item in done if item.how == HUNG]
    told = []
    if failed:
        told.append(f"{len(failed)} of {len(done)} points failed; to run them again: {command}")
    if hung:
        told.append(f"{len(hung)} of {len(done)} points hung, such as {hung[0].name}; --again runs them again")
    return told


def of_command(command: str) -> Asked:
    """Return the options of a command that `_command` wrote."""
    words = iter(shlex.split(command)[2:])
    name, options, settings = next(words), dict[str, str](), list[str]()
    for word in words:
        if word == "--set":
            settings.append(next(words))
        else:
            options[word] = next(words)
    return Asked(
        name=name,
        platform=options.get("-p"),
        engine=cast(EngineName, options["-e"]),
        cpu=cast(CpuMode | None, options.get("--cpu")),
        settings=tuple(settings),
        seed=int(options.get("--seed", "1")),
        stats_period=options.get("--stats-period"),
    )


def wishes_of(asked: Asked, engine: EngineName, settings: Sequence[str] = ()) -> Wishes:
    """Return the wishes of a user. `settings` are appended to the user's own settings."""
    every = (*asked.settings, *settings)
    return Wishes(engine, asked.platform, asked.cpu, every, asked.seed, period(asked.stats_period))


def _place(scenario: Scenario, points: Sequence[Point]) -> Path:
    spec = points[0].spec
    return Path("runs") / "-".join([scenario.name, *_platforms(points), spec.engine, *([spec.cpu] if spec.cpu else [])])


def _platforms(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(point.spec.platform.name for point in points))


def _command(name: str, points: Sequence[Point], wishes: Wishes) -> str:
    """Return the `lull run` command that repeats exactly these runs elsewhere. Defaults are spelled out."""
    spec, platforms = points[0].spec, _platforms(points)
    words = ["./lull", "run", name]
    # Several platforms can only be the scenario's own: no option can name more than one.
    words += ["-p", wishes.platform or platforms[0]] if len(platforms) == 1 else []
    words += ["-e", spec.engine]
    words += ["--cpu", spec.cpu] if spec.cpu else []
    words += [word for setting in wishes.settings for word in ("--set", setting)]
    words += ["--seed", str(wishes.seed)] if wishes.seed != 1 else []
    words += ["--stats-period", f"{wishes.stats_period_s * 1e6:g}us"] if wishes.stats_period_s else []
    return shlex.join(words)
