# SPDX-License-Identifier: BSD-3-Clause
"""`lull plot`: draw the figures of results/ again from the tables beside them, and make their checks again."""

from pathlib import Path
from typing import Annotated

import typer

from lull.cli.options import complete_result
from lull.errors import UserError
from lull.files import paths
from lull.files.blocks import quoted
from lull.host.progress import Progress, report

ALL = "all"
MANIFEST = "manifest.json"


def plot(
    experiment: Annotated[
        str,
        typer.Argument(
            help="name of a folder in results/, or `all`", metavar="EXPERIMENT|all", autocompletion=complete_result
        ),
    ] = ALL,
    out: Annotated[
        Path | None, typer.Option(help="write the figures below this folder instead of results/", metavar="FOLDER")
    ] = None,
) -> None:
    """Draw published figures again from the tables in results/.

    The figures are PDF and PNG files. Drawing needs no simulator and no runs. The same tables give the same bytes: a
    figure that git shows as changed was not drawn from these tables. The checks of a result are made again by this
    checkout's rules, if its tables have all that the rules need. For each result the command prints its age: made by
    this checkout, confirmed by `lull confirm`, or older.

    Example: lull plot wake-latency --out /tmp/figures
    """
    folders = chosen(paths.RESULTS, experiment)
    # matplotlib takes a second to load, which commands that draw nothing do not pay.
    from lull.results import age, drawing, index, judging, tree

    try:
        now, unknown = tree.now(), ""
    except UserError as error:
        now, unknown = None, str(error)
    for folder in folders:
        into = None if out is None else out / folder.name
        if into is not None:
            into.mkdir(parents=True, exist_ok=True)
        with Progress(f"draw {folder.name}"):
            judged = judging.judge(folder) if into is None else None
            saved = drawing.draw(folder, into) if judged is None else judged
        for path in saved:
            report(f"figure: {path}")
        report(f"age: {folder.name}: {age.of(folder, now) if now else f'not known here ({unknown})'}")
    if out is None:
        index.write(paths.RESULTS)


def chosen(results: Path, experiment: str) -> list[Path]:
    """Return the folder of results/ with this name, or all folders for `all`."""
    known = sorted(path.parent.name for path in results.glob(f"*/{MANIFEST}"))
    if experiment != ALL and experiment not in known:
        raise UserError(f"{experiment}: no such folder in {results}; use {quoted([ALL, *known])}")
    return [results / name for name in known if experiment in (ALL, name)]
