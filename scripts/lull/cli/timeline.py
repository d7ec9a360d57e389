# SPDX-License-Identifier: BSD-3-Clause
"""`lull timeline`: write a run as a file for Perfetto."""

from pathlib import Path
from typing import Annotated

import typer

from lull.host.progress import report
from lull.rundir.folder import RunDir


def timeline(
    run: Annotated[Path, typer.Argument(help="folder of a run with --trace", metavar="RUNDIR")],
    out: Annotated[
        Path | None,
        typer.Option(help="name of the file; if not given, RUNDIR/timeline.json.gz", metavar="FILE"),
    ] = None,
    allow_lost: Annotated[bool, typer.Option("--allow-lost", help="accept a trace that lost events")] = False,
) -> None:
    """Write a run as one file for https://ui.perfetto.dev.

    The file shows idle states, tasks, interrupts, frequencies and routing, and after `lull energy RUNDIR` also power.

    Example: lull timeline runs/mine
    """
    # numpy and pyarrow take a second to load, which other commands do not pay.
    from lull.timeline import timeline as tracks

    rundir = RunDir.open(run)
    path = out or rundir / tracks.TIMELINE
    tracks.write(rundir, path, allow_lost)
    report(f"timeline: {path}")
