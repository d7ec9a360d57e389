# SPDX-License-Identifier: BSD-3-Clause
"""`lull run`: all points of a scenario, and its figures."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lull.cli import figures
from lull.cli.options import EngineOption, Gem5Option, SeedOption, StatsPeriodOption, complete_setting
from lull.errors import UserError
from lull.host import terminal
from lull.host.progress import clock, report
from lull.runspec.spec import CpuMode
from lull.runspec.values import text_of
from lull.scenario import asked, experiments
from lull.scenario.asked import Asked
from lull.scenario.folder import Done
from lull.scenario.load import load_scenario
from lull.scenario.schema import Parameter, Scenario


def run(
    name: Annotated[
        str | None,
        typer.Argument(
            help="scenario: a name from `lull run --list`, or the path of a folder or scenario.yaml", metavar="SCENARIO"
        ),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            "-p",
            help="machine from `lull platform list`, or a YAML file; if not given, the scenario's own",
            metavar="P",
        ),
    ] = None,
    engine: EngineOption = None,
    cpu: Annotated[CpuMode | None, typer.Option(help="CPU models of gem5; if not given, the scenario's own")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            autocompletion=complete_setting,
            help="change a parameter of the scenario (count=50), or any setting that `lull boot --set` takes "
            "(memory.size_mib=256, governor=teo); may be repeated",
            metavar="KEY=VALUE",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--points",
            help="run only points with this name or pattern, such as 'exit/C3-*'; may be repeated",
            metavar="PATTERN",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="folder for the runs; if not given, runs/<scenario>-<platform>-<engine>[-<cpu>]")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="also run finished points again")] = False,
    list_points: Annotated[
        bool, typer.Option("--list", help="only list the points of the scenario; without a SCENARIO, all scenarios")
    ] = False,
    describe: Annotated[
        bool, typer.Option("--describe", help="only say what the scenario's groups and parameters are")
    ] = False,
    seed: SeedOption = 1,
    stats_period: StatsPeriodOption = None,
    gem5: Gem5Option = None,
) -> None:
    """Run all points of a scenario, then make its figures.

    The same command started again keeps the finished points and runs the others. Two such commands at the same time
    share the points. If a point fails, or hangs until a time limit, the others go on; it is reported at the end. The
    next call runs a failed point again, but a hung point only with --again.

    Example: lull run wake-latency -e gem5 --set count=200 --points 'states/*'
    Example: lull run wake-latency --describe
    """
    if name is None:
        if not list_points:
            raise UserError(f"no scenario given; name one of {', '.join(experiments.names())}")
        _list_scenarios()
        return
    if describe:
        _describe(load_scenario(name))
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
    terminal.console().print(_table(done))
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
    terminal.console().print(table)


def _describe(scenario: Scenario) -> None:
    typer.echo(f"{scenario.title}\n\ngroups of points, for --points 'GROUP/*':")
    for group in scenario.groups:
        typer.echo(f"  {group.name}\n      {group.help}")
    typer.echo("\nparameters with their defaults, for --set:")
    for key, parameter in scenario.parameters.items():
        typer.echo(f"  {key}={text_of(parameter.default)}{_allowed(parameter)}\n      {parameter.help}")


def _allowed(parameter: Parameter) -> str:
    """Return the values that a parameter may have, in brackets."""
    least, most = (None if end is None else f"{end:.10g}" for end in (parameter.at_least, parameter.at_most))
    if parameter.choices:
        words = ", ".join(parameter.choices)
    elif least and most:
        words = f"{least} to {most}"
    elif least or most:
        words = f"at least {least}" if least else f"at most {most}"
    else:
        return ""
    return f"   ({words})"
