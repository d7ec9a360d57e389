# SPDX-License-Identifier: BSD-3-Clause
"""`lull timeline`: a run to look at."""

from pathlib import Path
from typing import Annotated

import typer

from lull.host.progress import report
from lull.rundir.folder import RunDir


def timeline(
    run: Annotated[Path, typer.Argument(help="a folder made by `lull boot --trace`", metavar="RUNDIR")],
    out: Annotated[Path | None, typer.Option(help="the file; RUNDIR/timeline.json.gz if not given")] = None,
    allow_lost: Annotated[bool, typer.Option("--allow-lost", help="show a trace that lost events")] = False,
) -> None:
    """Write a run as one file for https://ui.perfetto.dev.

    Idle states, tasks, interrupts, frequencies, routing, and power if `lull energy` has accounted for it.

    Example: lull timeline runs/mine
    """
    # numpy and pyarrow take a second to load, which other commands do not pay.
    from lull.timeline import timeline as tracks

    rundir = RunDir.open(run)
    path = out or rundir / tracks.TIMELINE
    tracks.write(rundir, path, allow_lost)
    report(f"timeline: {path}")
