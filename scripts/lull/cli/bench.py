# SPDX-License-Identifier: BSD-3-Clause
"""`lull bench`: measure the speed of lull's own parts on this machine. No test depends on the numbers."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lull.cli.energy_tables import McPatOption
from lull.cli.options import EngineOption, Gem5Option, PlatformOption, complete_setting
from lull.engines.choose import choose
from lull.errors import UserError
from lull.host import terminal
from lull.host.progress import Progress, report
from lull.rundir.folder import RunDir
from lull.runspec.spec import CpuMode

app = typer.Typer(
    help="Measure the speed of lull itself on this machine.\n\nExample: lull bench energy runs/mine --gb 1",
    no_args_is_help=True,
)

SCALE_MAX = 100_000
_TABULATE = """
from pathlib import Path
from lull.rundir import stats
stats.to_parquet(*map(Path, sys.argv[2:]))
"""
_ACCOUNT = """
from pathlib import Path
from lull.energy.run_ledger import Options, make_ledger
from lull.rundir.folder import RunDir
make_ledger(RunDir.open(Path(sys.argv[2])), Options(backends=("mcpat",)))
"""
"""`_TABULATE` and `_ACCOUNT` are programs. Each runs in its own process, so that its peak memory can be measured."""


@app.command()
def energy(
    run: Annotated[
        Path, typer.Argument(help="folder of a run on gem5 with --cpu detailed and --trace", metavar="RUNDIR")
    ],
    gigabytes: Annotated[
        float, typer.Option("--gb", help="repeat the run to this many gigabytes of statistics and trace", metavar="GB")
    ] = 1.0,
    windows: Annotated[
        int, typer.Option(help="number of statistics windows for which McPAT is started, once for each cluster")
    ] = 2,
    mcpat: McPatOption = None,
) -> None:
    """Time the energy ledger on a large run.

    The large run is the given run, repeated. For comparison, McPAT is started once per statistics window.

    Example: lull bench energy runs/mine --gb 1
    """
    if not 0 < gigabytes <= 1000:
        raise UserError(f"--gb {gigabytes:g}: give a number of gigabytes, from above 0 to 1000")
    if windows < 1:
        raise UserError(f"--windows {windows}: give 1 or more")
    # pyarrow and numpy take a second to load, which other commands do not pay.
    from lull.bench import child, repeated
    from lull.rundir.folder import STATS_TABLE, STATS_TEXT

    rundir = RunDir.open(run)
    with tempfile.TemporaryDirectory(prefix="lull-bench-") as scratch:
        with Progress(f"repeat {run} to {gigabytes:g} GB"):
            large = repeated.repeat(rundir, Path(scratch, "run"), int(gigabytes * 1e9))
        with Progress("gem5's text to a table"):
            tabulated = child.run(_TABULATE, [large.path / STATS_TEXT, large.path / STATS_TABLE])
        with Progress("table and trace to a ledger"):
            accounted = child.run(_ACCOUNT, [large.path])
    count = large.times * (rundir.manifest()["stats_windows"] or 0)
    console = terminal.console()
    console.print(
        f"{large.stats_bytes / 1e6:.0f} MB of statistics and {large.trace_bytes / 1e6:.0f} MB of trace, "
        f"{count} windows: {run}, {large.times} times"
    )
    shown = Table("", "seconds", "of processor time", "peak memory", box=None, pad_edge=False)
    for name, took in (("statistics to a table", tabulated), ("table and trace to a ledger", accounted)):
        shown.add_row(name, f"{took.wall_s:.1f}", f"{took.processor_s:.1f}", f"{took.peak_bytes / 1e6:.0f} MB")
    console.print(shown)
    rate = count / accounted.processor_s
    console.print(f"ledger: {rate:.0f} windows a second of processor time, trace included")
    _beside_mcpat(console, rundir, mcpat, windows, accounted.processor_s / count)


@app.command()
def sweep(
    platform: PlatformOption = "tiny",
    cpu: Annotated[CpuMode, typer.Option(help="CPU models of gem5")] = "detailed",
    points: Annotated[
        int, typer.Option(min=2, max=1000, help="number of points: exit latencies of C3, 10 µs apart")
    ] = 20,
    alone: Annotated[
        int | None,
        typer.Option(
            min=1, help="make only this many independent calls and scale their time; if not given, one per point"
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="parameter of wake-latency, such as count=50 wake-ups in a point", metavar="KEY=VALUE"
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="number of the sweep's runs at once")] = 1,
    scale: Annotated[
        str | None,
        typer.Option(
            help="measure only sweeps of these sizes, such as 100,1000 points, on an engine that does nothing",
            metavar="N,N",
        ),
    ] = None,
) -> None:
    """Time a sweep, beside independent calls for its points.

    The sweep varies the exit latency of C3. An independent call boots and runs one point. --scale measures only the
    overhead of a sweep, without simulation, as in `lull bench sweep --scale 100,1000,10000 -j 2`.

    Example: lull bench sweep --points 20 --set count=50
    """
    if scale is not None:
        _scale(_sizes(scale), jobs)
        return
    from lull.bench import sweep as bench

    what = bench.SweepPlan(platform, cpu, points, settings or ("count=50",), jobs)
    count = min(alone or points, points)
    with tempfile.TemporaryDirectory(prefix="lull-bench-") as scratch:
        together = bench.swept(what, Path(scratch))
        apart = bench.independent(what, Path(scratch), count)
    factor = points / count
    shown = Table("", "points", "wall", "gem5: boots", "gem5: runs", "beyond, each", box=None, pad_edge=False)
    for name, took, times in (("a sweep", together, 1.0), ("independent calls", apart, factor)):
        seconds = (f"{times * part:.1f} s" for part in (took.wall_s, took.boots_s, took.runs_s))
        shown.add_row(name, str(round(took.points * times)), *seconds, f"{took.beyond_s:.2f} s")
    console = terminal.console()
    console.print(shown)
    if count < points:
        console.print(f"independent calls: {count} measured, scaled to {points}")
    share = together.beyond_s * points / together.runs_s
    console.print(f"{apart.wall_s * factor / together.wall_s:.1f} times less wall time")
    if jobs == 1:
        console.print(f"beyond simulation: {share:.1%} of the time of a point")


def _sizes(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isdecimal() and 0 < int(part) <= SCALE_MAX for part in parts):
        raise UserError(f"--scale {text}: give numbers of points from 1 to {SCALE_MAX}, such as 100,1000")
    return [int(part) for part in parts]


def _scale(sizes: Sequence[int], jobs: int) -> None:
    from lull.bench.scale import Bench

    shown = Table(
        "points", "jobs", "wall, each", "of processor time", "start", "resume", "nothing to do", "open the table",
        "memory: sweep", "open", box=None, pad_edge=False,
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="lull-bench-") as scratch:
        bench = Bench(Path(scratch), jobs)
        with Progress("build and boot what every sweep needs"):
            bench.warm()
        for size in sizes:
            with Progress(f"{size} points"):
                took = bench.measure(size)
            report(f"{took}")
            each = (f"{1e3 * part / size:.0f} ms" for part in (took.wall_s, took.processor_s))
            times = (f"{part:.1f} s" for part in (took.start_s, took.resume_s, took.again_s, took.open_s))
            memory = (f"{part / 1e6:.0f} MB" for part in (took.peak_bytes, took.open_peak_bytes))
            shown.add_row(str(size), str(took.jobs), *each, *times, *memory)
    terminal.console(width=200).print(shown)


@app.command()
def cost(
    system: Annotated[
        str, typer.Argument(help="kernel system: a folder of kernel-patches/, such as esm", metavar="SYSTEM")
    ],
    platform: PlatformOption = "tiny",
    engine: EngineOption = None,
    cpu: Annotated[CpuMode | None, typer.Option(help="CPU models of gem5; if not given, atomic")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            autocompletion=complete_setting,
            help="one more setting for all runs, such as idle.deepest=C3; a setting of SYSTEM itself is used only in "
            "the run in which SYSTEM is on, as in `bench cost waeas --set waeas.pack=0`; may be repeated",
            metavar="KEY=VALUE",
        ),
    ] = None,
    events: Annotated[
        int,
        typer.Option(
            min=1, max=10000, help="number of events in one run of a code path; above 100, each run has timer ticks"
        ),
    ] = 100,
    runs: Annotated[
        int, typer.Option(min=1, max=100, help="number of runs of each code path; the lower quartile is shown")
    ] = 10,
    same_kernel: Annotated[
        bool,
        typer.Option(
            "--same-kernel", help="compare only SYSTEM off with SYSTEM on, both in the kernel that has all systems"
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="folder for the runs; if not given, none is kept")] = None,
    gem5: Gem5Option = None,
) -> None:
    """Count instructions that a kernel system adds to hot paths.

    A hot path is, for example, a wake-up. The command makes three runs: a kernel without SYSTEM, a kernel in which
    SYSTEM is switched off, and one in which it is on. Instructions are counted, not timed. Systems that depend on
    SYSTEM are left out of every kernel, so that nothing else differs. Each kernel is built once, in minutes.

    With --same-kernel the first run is not made. Off and on are compared in the kernel of all other runs, so no
    further kernel is built. `platform` has no first run either: all others depend on it, so it cannot be left out.

    Example: lull bench cost esm -e qemu
    """
    from lull.bench import cost as bench

    what = bench.CostPlan(system, platform, cpu, settings or (), events, runs, same_kernel)
    with tempfile.TemporaryDirectory(prefix="lull-bench-") as scratch:
        found = bench.measure(what, choose(engine, gem5), out or Path(scratch))
    console = terminal.console()
    console.print(f"instructions for each event, counted on {choose(engine, gem5).name}; no timing")
    shown = Table(f"{system} is", *found, box=None, pad_edge=False)
    for path in next(iter(found.values())):
        shown.add_row(path, *(f"{paths[path]:.1f}" for paths in found.values()))
    console.print(shown)


def _beside_mcpat(console: Console, rundir: RunDir, chosen: str | None, windows: int, ledger_s: float) -> None:
    from lull.bench import mcpat
    from lull.energy import mcpat_run

    try:
        binary = mcpat_run.find(chosen)
    except UserError as error:
        if chosen is not None:
            raise
        report(f"McPAT per window: skipped ({error})")
        return
    with Progress(f"McPAT for {windows} windows"):
        found = mcpat.compare(rundir, binary, windows)
    each, table = found.mcpat_s / found.windows, found.tables_s / found.windows
    console.print(
        f"McPAT started per window and cluster: {each:.3g} s of processor time for a window, {found.starts} starts; "
        f"watts differ by at most {found.worst:.1e}\n"
        f"faster than that: the whole ledger {each / ledger_s:.0f} times, the tables alone {each / table:.0f} times"
    )
