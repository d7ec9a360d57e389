# SPDX-License-Identifier: BSD-3-Clause
"""`lull sweep`: run a scenario over a grid of settings. A sweep that was stopped can be continued."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from lull.cli.options import EngineOption, Gem5Option, StatsPeriodOption, complete_setting, period
from lull.engines.base import Engine
from lull.engines.choose import choose
from lull.engines.gem5 import Gem5
from lull.errors import UserError
from lull.host.progress import report
from lull.runspec.spec import CpuMode
from lull.runspec.values import text_of
from lull.scenario import experiments
from lull.scenario.folder import FAILED, HUNG, KEPT, RAN, Done, identity
from lull.scenario.load import load_scenario
from lull.scenario.points import sentences
from lull.scenario.schema import Scenario
from lull.sweep import asked as wishes
from lull.sweep import expand, joules, pending, workflow
from lull.sweep.asked import SweepAsked
from lull.sweep.expand import Planned
from lull.sweep.folder import SweepFolder, SweepPoint
from lull.sweep.job import Means
from lull.sweep.snakemake import How


def sweep(
    file: Annotated[
        Path | None,
        typer.Argument(help="YAML file with the options below as keys; an option overrides its key", metavar="FILE"),
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="scenario: a name from `lull run --list`, or a path", metavar="SCENARIO")
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            autocompletion=complete_setting,
            help="vary a key of --set, `platform` or `cpu` over values: cstates.C3.exit_us=10,50; may be repeated",
            metavar="KEY=VALUE,…",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="run every combination N times, with the seeds 1 to N", metavar="N")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            autocompletion=complete_setting,
            help="change a setting in all points, as `lull run --set` does; may be repeated",
            metavar="KEY=VALUE",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--points",
            help="run only points of the scenario with this name or pattern, such as 'states/*'; may be repeated",
            metavar="PATTERN",
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
    stats_period: StatsPeriodOption = None,
    out: Annotated[
        Path | None, typer.Option(help="folder for the runs; if not given, runs/sweep-<file or scenario>-<engine>")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            help="jobs at once; if not given, one for each processor here, or 100 with another executor",
        ),
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(help="executor plugin of Snakemake: local, slurm, or another installed one; if not given, local"),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="profile of Snakemake: its name, or a folder with a config.yaml", metavar="PROFILE"),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(min=1, help="number of runs in each job; if not given, 1, or more for sweeps above 500 runs"),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="also run points again that hung until a limit")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only list the jobs, as Snakemake does")] = False,
    list_points: Annotated[bool, typer.Option("--list", help="only list the points")] = False,
    gem5: Gem5Option = None,
) -> None:
    """Run points of a scenario over a grid of settings.

    Every combination of the grid's values runs. The results are one table, as table.parquet and table.csv. If a point
    fails, the others go on; it is reported at the end. A sweep may be killed at any moment: the same command then runs
    only the points without a result. A machine is booted once for all its points.

    Example: lull sweep --scenario wake-latency --points states/C3 --grid cstates.C3.exit_us=10,50,100 --seeds 5

    The same as a file, for lull sweep FILE: benchmarks/wake-latency/exit-latency.yaml
    """
    varied = wishes.parse_grid(grid or ())
    given = {
        "scenario": scenario, "platform": platform, "cpu": cpu, "stats_period_s": period(stats_period),
        "points": only, "seeds": seeds, "set": wishes.parse_set(settings or ()), "grid": varied,
    }  # fmt: skip
    asked = _asked(file, given)
    of = load_scenario(asked.scenario)
    chosen = choose(engine, gem5, programs=of.programs)
    how = How(executor, jobs, batch, profile)
    how.check()
    found = expand.expand(asked, of, chosen.name, _where(file, varied))
    for sentence in sentences(found.left_out):
        report(sentence)
    if list_points:
        for planned in found.planned:
            typer.echo(planned.entry.full_title)
        return
    name = file.stem if file else of.name
    folder = SweepFolder.create(out or Path("runs") / f"sweep-{name}-{chosen.name}", name)
    artifacts = chosen.artifacts("default")
    made_of = identity(chosen.describe(), artifacts.manifest())
    points = expand.keyed(found.planned, made_of)
    gem5_path = chosen.binary.path if isinstance(chosen, Gem5) else None
    means = Means(engine=chosen.name, gem5=gem5_path, artifacts=artifacts, made_of=made_of)
    with folder.locked():
        folder.record(_about(name, of, asked, chosen.name), [planned.entry for planned in points])
        done = pending.known(folder, points, again)
        missing = pending.missing(points, done)
        if dry_run:
            _list_jobs(folder, points, missing, chosen, means, how)
            return
        if missing:
            done |= workflow.run(folder, missing, chosen, means, how, _took(points, done))
        _conclude(folder, points, done)


def _asked(file: Path | None, given: Mapping[str, Any]) -> SweepAsked:
    """Return what the sweep file asks for. Options of the command line replace its keys or add to them."""
    if file is None and not given["scenario"]:
        raise UserError(
            f"no scenario given; name a sweep file, or one of {', '.join(experiments.names())} by --scenario"
        )
    base = wishes.load(file) if file else SweepAsked(scenario=str(given["scenario"]))
    changes = {key: value for key, value in given.items() if value}
    for key in ("set", "grid"):
        changes[key] = getattr(base, key) | given[key]
    if given["seeds"] is not None and not 1 <= given["seeds"] <= wishes.SEEDS_MAX:
        raise UserError(f"--seeds {given['seeds']}: give 1 to {wishes.SEEDS_MAX}")
    return base.model_copy(update=changes)


def _where(file: Path | None, of_options: Mapping[str, object]) -> expand.Where:
    return lambda key: f"{file}: grid.{key}" if file and key not in of_options else f"--grid {key}"


def _about(name: str, scenario: Scenario, asked: SweepAsked, engine: str) -> dict[str, object]:
    return {
        "name": name,
        "scenario": scenario.name,
        "title": scenario.title,
        "command": _command(asked, engine),
        "engine": engine,
        "grid": asked.grid,
        "seeds": asked.seeds,
    }


def _command(asked: SweepAsked, engine: str) -> str:
    """Return the `lull sweep` command for exactly these points. A value with a comma can only be in a sweep file."""
    words = ["./lull", "sweep", "--scenario", asked.scenario, "-e", engine]
    words += ["-p", asked.platform] if asked.platform else []
    words += ["--cpu", asked.cpu] if asked.cpu else []
    words += ["--stats-period", f"{asked.stats_period_s * 1e6:g}us"] if asked.stats_period_s else []
    words += [word for pattern in asked.points for word in ("--points", pattern)]
    words += [word for key, value in asked.set.items() for word in ("--set", f"{key}={text_of(value)}")]
    words += [
        word for key, values in asked.grid.items() for word in ("--grid", f"{key}={','.join(map(text_of, values))}")
    ]
    words += ["--seeds", str(asked.seeds)] if asked.seeds > 1 else []
    return shlex.join(words)


def _list_jobs(
    folder: SweepFolder, points: Sequence[Planned], missing: Sequence[Planned], engine: Engine, means: Means, how: How
) -> None:
    """List the jobs. The workflow stays in the sweep's folder, so that Snakemake can be called by hand."""
    report(f"{len(points)} points: {len(missing)} to run")
    if missing:
        workflow.lay_out(folder, missing, engine, means, how)
        how.list_jobs(folder.path / workflow.FOLDER)


def _took(points: Sequence[Planned], done: Mapping[str, Done]) -> list[tuple[SweepPoint, float]]:
    """Return the finished points, with the simulated seconds of each."""
    entries = {planned.entry.key: planned.entry for planned in points}
    return [(entries[key], item.simulated_s) for key, item in done.items() if item.simulated_s is not None]


def _counted(points: Sequence[Planned], runs: Sequence[Path]) -> list[Path]:
    """Return the runs whose CPU model counts the events from which energy is computed."""
    keys = {planned.entry.key for planned in points if planned.cpu == joules.COUNTED}
    return [run for run in runs if run.name in keys]


def _conclude(folder: SweepFolder, points: Sequence[Planned], done: Mapping[str, Done]) -> None:
    """Write the table and list the failed points. Exit status 1 unless every point has finished."""
    # pyarrow takes a second to load, and all points may have failed.
    count = Counter(done[planned.entry.key].how for planned in points)
    if count[RAN] or count[KEPT]:
        from lull.sweep import table

        found = table.read(folder.path)
        for sentence, runs in joules.account_all(_counted(points, [point.run.path for point in found.points])).items():
            report(f"no energy of {runs} points: {sentence}")
        report(f"table: {table.write(found)}")
    failed = [planned for planned in points if done[planned.entry.key].how in (FAILED, HUNG)]
    report(
        f"{len(points)} points: {count[RAN]} ran, {count[KEPT]} were there, {count[FAILED]} failed, {count[HUNG]} hung"
    )
    if failed:
        # Not a rich table, because rich cuts lines that are wider than the terminal.
        width = max(len(planned.entry.full_title) for planned in failed)
        for planned in failed:
            item = done[planned.entry.key]
            why = item.note.partition("\n")[0]
            typer.echo(f"{planned.entry.full_title:{width}}  {item.how:6}  {why}")
        report(f"logs: {folder.path / workflow.LOGS}; the same command runs again what failed, with --again what hung")
        raise typer.Exit(1)
