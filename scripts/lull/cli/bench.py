# SPDX-License-Identifier: BSD-3-Clause
"""`lull bench`: how fast something is here. Numbers of one machine, never a test."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from lull.cli.energy_tables import McPatOption
from lull.errors import UserError
from lull.report import Progress, report
from lull.rundir import RunDir

app = typer.Typer(
    help="How fast something is on this machine.\n\nExample: lull bench energy runs/mine --gb 1", no_args_is_help=True
)

_TABULATE = """
from pathlib import Path
from lull import stats
stats.to_parquet(*map(Path, sys.argv[2:]))
"""
_ACCOUNT = """
from pathlib import Path
from lull.energy.accounting import Options, account
from lull.rundir import RunDir
account(RunDir.open(Path(sys.argv[2])), Options(backends=("mcpat",)))
"""
"""In processes of their own, whose memory is theirs alone."""


@app.callback()
def _commands() -> None:
    """Keeps `energy` a command of its own while it is the only one."""


@app.command()
def energy(
    run: Annotated[Path, typer.Argument(help="a run on gem5 with --cpu detailed and --trace", metavar="RUNDIR")],
    gigabytes: Annotated[float, typer.Option("--gb", help="of statistics and trace to account for")] = 1.0,
    windows: Annotated[int, typer.Option(help="for which McPAT is started, once for each cluster")] = 2,
    mcpat: McPatOption = None,
) -> None:
    """The ledger of a run, repeated until it is so large, and McPAT started per window of the same run.

    Example: lull bench energy runs/mine --gb 1
    """
    if not 0 < gigabytes <= 1000:
        raise UserError(f"--gb {gigabytes:g}: give a number of gigabytes, from above 0 to 1000")
    if windows < 1:
        raise UserError(f"--windows {windows}: give 1 or more")
    # pyarrow and numpy take a second to load, which other commands do not pay.
    from lull.bench import child, repeated
    from lull.runs import STATS_TABLE, STATS_TEXT

    rundir = RunDir.open(run)
    with tempfile.TemporaryDirectory(prefix="lull-bench-") as scratch:
        with Progress(f"repeat {run} to {gigabytes:g} GB"):
            large = repeated.repeat(rundir, Path(scratch, "run"), int(gigabytes * 1e9))
        with Progress("gem5's text to a table"):
            tabulated = child.run(_TABULATE, [large.path / STATS_TEXT, large.path / STATS_TABLE])
        with Progress("table and trace to a ledger"):
            accounted = child.run(_ACCOUNT, [large.path])
    count = large.times * int(str(rundir.read_json("manifest.json")["stats_windows"]))
    console = Console(highlight=False)
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
