# SPDX-License-Identifier: BSD-3-Clause
"""`lull report`: write a run, a sweep or results/ as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from lull.cli.plot import ALL, chosen
from lull.errors import UserError
from lull.files import paths, whole
from lull.host.progress import Progress
from lull.host.progress import report as say

PAGE = "report.html"


def report(
    what: Annotated[
        str,
        typer.Argument(
            help="folder made by lull boot, run or sweep; or `results`, for the published results",
            metavar="RUNDIR|SWEEP|results",
        ),
    ] = paths.RESULTS.name,
    out: Annotated[
        Path | None,
        typer.Option(
            help="file for the page; if not given, report.html in the folder, or in the current folder for `results`",
            metavar="FILE",
        ),
    ] = None,
    what_if: Annotated[
        bool,
        typer.Option(help="add sliders for other idle states, if the run has a trace and a ledger; takes minutes"),
    ] = True,
) -> None:
    """Write an HTML page of a run, a sweep or the results.

    The page has interactive figures, and needs no network and no other file. The page of a run shows idle states,
    wake-ups, power over time, predictions for other idle states, and the manifest. The page of a sweep shows energy
    against latency, and the points. The page of the results shows every figure and check, beside figures of papers.

    Example: lull report runs/mine --out mine.html
    """
    # numpy, pyarrow and matplotlib take a second to load, which commands that show nothing do not pay.
    from lull.compare import samples
    from lull.page import of_results, of_run, of_sweep
    from lull.page.page import render

    path = Path(what)
    folders = [] if samples.kind_of(path) else published(path)
    if folders:
        target = out or Path(PAGE)
        with Progress("make the page of results"):
            text = render(of_results.page(folders))
    else:
        found = samples.read(path)
        target = out or found.path / PAGE
        with Progress(f"make the page of {path}"):
            text = render((of_run if found.kind == "run" else of_sweep).page(found, what_if))
    try:
        with whole.written(target) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror}); choose another --out") from error
    say(f"report: {target.resolve()}")


def published(path: Path) -> list[Path]:
    """Return all published results for the word `results`, or one for its path; none for any other path."""
    if path == Path(paths.RESULTS.name) or path.resolve() == paths.RESULTS:
        return chosen(paths.RESULTS, ALL)
    return chosen(paths.RESULTS, path.name) if path.resolve().parent == paths.RESULTS else []
