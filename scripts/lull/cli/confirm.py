# SPDX-License-Identifier: BSD-3-Clause
"""`lull confirm`: run a few points of published results again, and say whether what is published still holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lull.cli.options import Gem5Option, complete_result
from lull.cli.plot import ALL, chosen
from lull.errors import UserError
from lull.files import paths, yaml_file
from lull.host import terminal
from lull.host.progress import report

if TYPE_CHECKING:
    from lull.results.confirmed import Verdict

OUT = Path("runs") / "confirm"


def confirm(
    experiments: Annotated[
        list[str] | None,
        typer.Argument(
            help="names of folders in results/; if none is given, all results that are older than this tree",
            metavar="[EXPERIMENT]...",
            autocompletion=complete_result,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="folder for the runs, a folder for each result", metavar="FOLDER")] = OUT,
    again: Annotated[bool, typer.Option("--again", help="also run finished points again")] = False,
    list_points: Annotated[bool, typer.Option("--list", help="only list the points that would run")] = False,
    gem5: Gem5Option = None,
) -> None:
    """Run a few points of published results again, and compare.

    The runs on gem5 use the kernel, firmware and models of this checkout. The points to run and the values to compare
    are listed under `confirm:` in the experiment's scenario.yaml. The answer is written to
    results/EXPERIMENT/confirmed.json. The exit status is 1 if a value no longer holds: then run that experiment again,
    and publish it. The same command started again keeps the points that have finished with this checkout.

    Example: lull confirm wake-latency platform-check --out runs/confirm
    """
    results = paths.RESULTS
    folders = [folder for name in experiments or [ALL] for folder in chosen(results, name)]
    # numpy and pyarrow take a second to load, which commands that compare nothing do not pay.
    from lull.results import age, confirmed, confirming, index, tree

    prepared = []
    for folder in dict.fromkeys(folders):
        try:
            prepared.append(confirming.prepare(folder))
        except confirming.Unsaid as error:
            if len(folders) == 1:
                raise
            report(f"{error}")
    if list_points:
        for one in prepared:
            for point in one.points:
                typer.echo(f"{one.folder.name} {point.name}")
        return
    engine = confirming.engine(gem5)
    wrong: list[str] = []
    status = 0
    for one in prepared:
        name = one.folder.name
        if not experiments and age.of(one.folder, tree.now()) == age.OF_THIS_TREE:
            report(f"{name}: {age.OF_THIS_TREE}, nothing to confirm")
            continue
        try:
            record = confirming.confirm(one, engine, out, again)
        except UserError as error:  # go on: the other results do not depend on this one, and may take hours
            wrong.append(f"{error}")
            status = max(status, error.exit_status)
            continue
        index.write(results)
        terminal.console().print(_table(record["values"]))
        report(f"confirmation: {yaml_file.shown(one.folder / confirmed.FILE)}")
        if bad := confirmed.refuted(record):
            status = max(status, 1)
            wrong.append(
                f"{name}: refuted by {len(bad)} of {len(record['values'])} values, such as {bad[0]['column']} of "
                f"{bad[0]['cell']} ({bad[0]['says']}); make it again by `{one.command}` and "
                "`./lull figures RUNS --publish`"
            )
        else:
            report(f"{name}: confirmed, {len(record['values'])} values of {len(one.points)} points hold")
    for sentence in wrong:
        report(sentence)
    if status:
        raise typer.Exit(status)


def _table(values: "Sequence[Verdict]") -> Table:
    table = Table("table", "of", "value", "", "", box=None, pad_edge=False)
    for value in values:
        verdict = "holds" if value["held"] else "REFUTED"
        table.add_row(value["table"], value["cell"], value["column"], verdict, value["says"])
    return table
