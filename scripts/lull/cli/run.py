# SPDX-License-Identifier: BSD-3-Clause
"""`lull run`: all points of a scenario, and its figures."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lull.cli import figures
from lull.cli.options import EngineOption, Gem5Option, SeedOption, StatsPeriodOption, complete_setting, period
from lull.engines.choose import choose
from lull.errors import UserError
from lull.host.progress import clock, report
from lull.runspec.spec import CpuMode
from lull.runspec.values import text_of
from lull.scenario import experiments
from lull.scenario import points as resolved
from lull.scenario.folder import Done, ScenarioFolder, refuse_others, run_points
from lull.scenario.load import file_of, load_scenario
from lull.scenario.points import Point, Wishes
from lull.scenario.schema import Scenario


def run(
    name: Annotated[
        str | None,
        typer.Argument(
            help="a folder of benchmarks/ by its name, or any folder or file by its path", metavar="SCENARIO"
        ),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option("--platform", "-p", help="from `lull platform list`; the scenario's own if not given"),
    ] = None,
    engine: EngineOption = None,
    cpu: Annotated[CpuMode | None, typer.Option(help="CPU models on gem5; the scenario's own if not given")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            autocompletion=complete_setting,
            help="a parameter of the scenario (count=50), of the platform (memory.size_mib=256), or as of `lull boot`",
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--points", help="only the points of this name or pattern: 'exit/C3-*'")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="folder for the runs; runs/<scenario>-<platform>-<engine>[-<cpu>] if not given")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="run finished points again, too")] = False,
    list_points: Annotated[bool, typer.Option("--list", help="list points or scenarios, run nothing")] = False,
    seed: SeedOption = 1,
    stats_period: StatsPeriodOption = None,
    gem5: Gem5Option = None,
) -> None:
    """Run all points of a scenario, then make its figures.

    Started again it goes on: a point that has finished is kept. Started again while it runs, both share the points.
    A point that fails is reported, and the others go on; so is one that hangs until it reaches a limit, which would
    do so again and is run again only if asked.

    Example: lull run wake-latency -e gem5 --set count=200 --points 'states/*'
    """
    if name is None:
        if not list_points:
            raise UserError(f"no scenario given; name one of {', '.join(experiments.names())}")
        _list_scenarios()
        return
    scenario = load_scenario(name)
    chosen = choose(engine, gem5, programs=scenario.programs)
    wishes = Wishes(chosen.name, platform, cpu, tuple(settings or ()), seed, period(stats_period))
    divided = resolved.divide(scenario, wishes)
    every = divided.points
    points = resolved.select(every, only or [], divided.left_out)
    for sentence in resolved.sentences(divided.left_out.items()):
        report(sentence)
    if list_points:
        for point in points:
            typer.echo(point.name)
        return
    command = _command(name, every, wishes)
    place = out or _place(scenario, every)
    if not again:
        refuse_others(place, points, chosen)
    sweep = ScenarioFolder.create(place, scenario.name, command, every, file_of(name))
    done = run_points(sweep, points, chosen, again)
    Console(highlight=False).print(_table(done))
    report(f"runs: {sweep.path}")
    failed = [item for item in done if item.how == "failed"]
    hung = [item for item in done if item.how == "hung"]
    if failed:
        report(f"{len(failed)} of {len(done)} points failed; to run them again: {command}")
    if hung:
        report(f"{len(hung)} of {len(done)} points hung, such as {hung[0].name}; --again runs them again")
    if failed or hung:
        raise typer.Exit(1)
    figures.make_if_complete(sweep, scenario)


def _place(scenario: Scenario, points: Sequence[Point]) -> Path:
    spec = points[0].spec
    return Path("runs") / "-".join([scenario.name, *_platforms(points), spec.engine, *([spec.cpu] if spec.cpu else [])])


def _platforms(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(point.spec.platform.name for point in points))


def _command(name: str, points: Sequence[Point], wishes: Wishes) -> str:
    """What makes these very runs elsewhere: what was found or left to its default is spelled out."""
    spec, platforms = points[0].spec, _platforms(points)
    words = ["./lull", "run", name]
    # Several are the scenario's own, and no option could name them.
    words += ["-p", wishes.platform or platforms[0]] if len(platforms) == 1 else []
    words += ["-e", spec.engine]
    words += ["--cpu", spec.cpu] if spec.cpu else []
    words += [word for setting in wishes.settings for word in ("--set", setting)]
    words += ["--seed", str(wishes.seed)] if wishes.seed != 1 else []
    words += ["--stats-period", f"{wishes.stats_period_s * 1e6:g}us"] if wishes.stats_period_s else []
    return shlex.join(words)


def _table(done: Sequence[Done]) -> Table:
    table = Table("point", "", "simulated", "here", "", box=None, pad_edge=False)
    for item in done:
        simulated = "" if item.simulated_s is None else f"{item.simulated_s:.3f} s"
        table.add_row(item.name, item.how, simulated, "" if item.wall_s is None else clock(item.wall_s), item.note)
    return table


def _list_scenarios() -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name in experiments.names():
        scenario = load_scenario(name)
        parameters = " ".join(f"{key}={text_of(parameter.default)}" for key, parameter in scenario.parameters.items())
        table.add_row(name, scenario.title, parameters)
    Console(highlight=False).print(table)
