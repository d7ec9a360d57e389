# SPDX-License-Identifier: BSD-3-Clause
"""`lull point`: run one job of a sweep. Snakemake calls this command; users call `lull sweep`."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from lull.host.progress import report
from lull.scenario.folder import KEPT, RAN
from lull.sweep import job as jobs
from lull.sweep.folder import SweepFolder


def point(
    job: Annotated[Path, typer.Argument(help="job file that `lull sweep` made")],
    folder: Annotated[Path, typer.Option(help="folder of the sweep")],
    state: Annotated[Path, typer.Option(help="file for the job's progress")],
    boot: Annotated[bool, typer.Option("--boot", help="only make the checkpoint that the job needs")] = False,
) -> None:
    """Run one job of a sweep. Files that an unfinished run left in the folder are replaced."""
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
