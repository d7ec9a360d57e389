# SPDX-License-Identifier: BSD-3-Clause
"""`lull boot`: one command in one guest, the hatch for every test and every curious user."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from lull.cli.options import (
    EngineOption,
    FlavourOption,
    Gem5Option,
    OutOption,
    PlatformOption,
    SeedOption,
    ShadowOption,
    StatsPeriodOption,
    complete_setting,
)
from lull.engines.boot import WHAT_IT_RUNS_ON, Boot
from lull.host.progress import report
from lull.runspec.spec import SCHEDULE, AnyCpu


def boot(
    platform: PlatformOption = "tiny",
    engine: EngineOption = None,
    command: Annotated[
        str, typer.Option("--exec", help="shell command to run in the guest; its exit status becomes ours")
    ] = WHAT_IT_RUNS_ON,
    cpu: Annotated[
        AnyCpu | None,
        typer.Option(
            help="CPU models on gem5, atomic unless said otherwise; on QEMU `parallel` runs all CPUs at once, "
            "which finds races and repeats nothing"
        ),
    ] = None,
    flavour: FlavourOption = "default",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            autocompletion=complete_setting,
            help="change the platform (memory.size_mib=256, cstates.C3.exit_us=50, …) or what Linux does with it "
            "(governor=, cpufreq=, idle.deepest=, routing=, routing.depth=, esm.enabled= and all of `lull settings`)",
        ),
    ] = None,
    shadow: ShadowOption = None,
    schedule: Annotated[
        Path | None,
        typer.Option(help=f"a schedule of events, for the command as {SCHEDULE}: --exec 'lull-events {SCHEDULE}'"),
    ] = None,
    put: Annotated[
        list[str] | None,
        typer.Option(
            help="a file or program of yours for the guest; without :/PATH in /, where the command starts",
            metavar="FILE[:/PATH]",
        ),
    ] = None,
    trace: Annotated[
        list[str] | None, typer.Option(help="trace an event (sched, power:cpu_idle, …) into trace.dat")
    ] = None,
    trace_buffer: Annotated[
        int | None, typer.Option(help="KiB for each CPU's trace, if it loses events", min=4, max=1 << 20)
    ] = None,
    stats_period: StatsPeriodOption = None,
    sim_limit: Annotated[float, typer.Option(help="end the command after this many simulated seconds")] = 60.0,
    wall_limit: Annotated[float, typer.Option(help="end everything after this many seconds of your time")] = 3600.0,
    seed: SeedOption = 1,
    out: OutOption = None,
    gem5: Gem5Option = None,
    checkpoint: Annotated[Path | None, typer.Option(help="restore this checkpoint instead of the cache's")] = None,
) -> None:
    """Boot the patched kernel on a platform and run a command.

    Its output is printed, and its exit status becomes ours. --put brings a file of yours into the guest. What the
    command leaves in /out comes back as files/ in the run's folder.

    Example: lull boot -e gem5 -p rk3399 --cpu detailed --exec 'nproc; cat /sys/kernel/lull/platform'
    """
    rundir, outcome = Boot(
        platform=platform,
        engine=engine,
        command=command,
        cpu=cpu,
        flavour=flavour,
        settings=settings or (),
        shadow=shadow,
        schedule=schedule,
        put=put or (),
        trace=trace or (),
        trace_buffer=trace_buffer,
        stats_period=stats_period,
        sim_limit=sim_limit,
        wall_limit=wall_limit,
        seed=seed,
        out=out,
        gem5=gem5,
        checkpoint=checkpoint,
    ).run(_print)
    report(f"run: {rundir.path}")
    raise typer.Exit(outcome.status)


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
