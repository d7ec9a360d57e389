# SPDX-License-Identifier: BSD-3-Clause
"""`lull point`: one job of a sweep. Snakemake calls it; people call `lull sweep`."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from lull.host.progress import report
from lull.scenario.folder import KEPT, RAN
from lull.sweep import job as jobs
from lull.sweep.folder import SweepFolder


def point(
    job: Annotated[Path, typer.Argument(help="a file that `lull sweep` made")],
    folder: Annotated[Path, typer.Option(help="the sweep's")],
    state: Annotated[Path, typer.Option(help="where to say how far it is")],
    boot: Annotated[bool, typer.Option("--boot", help="only make the checkpoint that it needs")] = False,
) -> None:
    """Run one job of a sweep, each of its runs in place of what an unfinished one left."""
    asked = jobs.Job(job)
    if boot:
        jobs.boot(asked)
        return
    count: Counter[str] = Counter()
    for done in jobs.run(asked, SweepFolder.open(folder), state):
        report(f"{done.name} {done.how}{': ' if done.note else ''}{done.note}")
        count[done.how] += 1
    if count.total() > count[RAN] + count[KEPT]:
        raise typer.Exit(1)
