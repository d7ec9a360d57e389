# SPDX-License-Identifier: BSD-3-Clause
"""`lull run`: all points of a scenario, and its figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lull.cli import figures
from lull.cli.options import EngineOption, Gem5Option, SeedOption, StatsPeriodOption, complete_setting
from lull.errors import UserError
from lull.host.progress import clock, report
from lull.runspec.spec import CpuMode
from lull.runspec.values import text_of
from lull.scenario import asked, experiments
from lull.scenario.asked import Asked
from lull.scenario.folder import Done
from lull.scenario.load import load_scenario


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
    prepared = asked.prepare(
        Asked(
            name=name,
            platform=platform,
            engine=engine,
            cpu=cpu,
            settings=settings or (),
            points=only or (),
            out=out,
            again=again,
            seed=seed,
            stats_period=stats_period,
            gem5=gem5,
        )
    )
    if list_points:
        for point in prepared.points:
            typer.echo(point.name)
        return
    sweep, done = asked.run(prepared)
    Console(highlight=False).print(_table(done))
    report(f"runs: {sweep.path}")
    if told := asked.complaint(done, prepared.command):
        for sentence in told:
            report(sentence)
        raise typer.Exit(1)
    figures.make_if_complete(sweep, prepared.scenario)


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
