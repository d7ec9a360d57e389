# SPDX-License-Identifier: BSD-3-Clause
"""`lull boot`: boot a guest and run one command in it."""

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
        str,
        typer.Option("--exec", help="shell command to run in the guest", metavar="COMMAND"),
    ] = WHAT_IT_RUNS_ON,
    cpu: Annotated[
        AnyCpu | None,
        typer.Option(
            help="CPU models of gem5; if not given, atomic, which is fast and has no timing. For QEMU: `parallel` runs "
            "all virtual CPUs at once, which finds races but does not repeat a run exactly"
        ),
    ] = None,
    flavour: FlavourOption = "default",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            autocompletion=complete_setting,
            help="change a number of the platform (memory.size_mib=256, cstates.C3.exit_us=50) or a policy of Linux "
            "(governor=teo, cpufreq=schedutil, idle.deepest=C3); `lull settings` lists more keys; may be repeated",
            metavar="KEY=VALUE",
        ),
    ] = None,
    shadow: ShadowOption = None,
    schedule: Annotated[
        Path | None,
        typer.Option(
            help=f"schedule of events; in the guest it is {SCHEDULE}, as in --exec 'lull-events {SCHEDULE}'",
            metavar="FILE",
        ),
    ] = None,
    peer: Annotated[
        str | None,
        typer.Option(
            help="shell command for a second machine, which runs at the same time at the other end of a network; the "
            "second machine is 10.0.0.2, the guest is 10.0.0.1",
            metavar="COMMAND",
        ),
    ] = None,
    put: Annotated[
        list[str] | None,
        typer.Option(
            help="copy a file or program into the guest, to /PATH; if no path is given, to /. The command starts in /",
            metavar="FILE[:/PATH]",
        ),
    ] = None,
    trace: Annotated[
        list[str] | None,
        typer.Option(
            help="record a kernel trace event (power:cpu_idle) or a group (sched) in trace.dat; may be repeated",
            metavar="EVENT",
        ),
    ] = None,
    trace_buffer: Annotated[
        int | None,
        typer.Option(
            help="size of each CPU's trace buffer in KiB; make it larger when events are lost",
            min=4,
            max=1 << 20,
            metavar="KIB",
        ),
    ] = None,
    stats_period: StatsPeriodOption = None,
    fast_forward: Annotated[
        str | None,
        typer.Option(
            help="on gem5, simulate the beginning of the command, such as 80ms, on atomic CPUs; then the CPUs of "
            "--cpu take over, and trace and statistics begin. Atomic CPUs take a third of the time or less",
            metavar="TIME",
        ),
    ] = None,
    sim_limit: Annotated[
        float, typer.Option(help="end the command after this many simulated seconds", metavar="SECONDS")
    ] = 60.0,
    wall_limit: Annotated[
        float, typer.Option(help="end the whole run after this many seconds of real time", metavar="SECONDS")
    ] = 3600.0,
    seed: SeedOption = 1,
    out: OutOption = None,
    gem5: Gem5Option = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="on gem5, restore this checkpoint instead of the one in the cache", metavar="FOLDER"),
    ] = None,
) -> None:
    """Boot the patched kernel on a platform and run a command.

    `lull boot` prints the output of the command, and ends with its exit status. Files that the command writes to /out
    in the guest are afterwards in files/ of the run's folder.

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
        peer=peer,
        put=put or (),
        trace=trace or (),
        trace_buffer=trace_buffer,
        stats_period=stats_period,
        fast_forward=fast_forward,
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
