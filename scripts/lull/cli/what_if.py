# SPDX-License-Identifier: BSD-3-Clause
"""`lull what-if`: predict from a recorded run what other C-states or another governor would have changed."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column, Table

from lull.errors import UserError
from lull.files import whole
from lull.host import terminal
from lull.host.progress import Progress, report
from lull.rundir.folder import RunDir

if TYPE_CHECKING:
    from lull.whatif.source import Replay


def what_if(
    runs: Annotated[
        list[Path],
        typer.Argument(help="folders of runs on gem5, with traces, or of sweeps of such runs", metavar="RUNDIR…"),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="change a number of an idle state, such as cstates.C3.exit_us=15 or cstates.C3.advertised.exit_us=50; "
            "governor=teo; idle.deepest=C4; idle.without=C2; cstates.C2b.kind=retention, which adds a state; "
            "power-models.transition.C3.trip_uj=2, microjoules for each sleep in C3; "
            "docs/what-if.md lists all; may be repeated",
            metavar="KEY=VALUE",
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            help="vary a setting over values; with several --grid, every combination; prints one line per point "
            "instead of the table",
            metavar="KEY=VALUE,VALUE",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="also write the table here, in Parquet", metavar="FILE.parquet")
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            help="write a recording, about 0.3 MB, to this folder: all that `lull what-if` reads of the run",
            metavar="FOLDER",
        ),
    ] = None,
) -> None:
    """Predict a run with other idle states or another governor.

    The code of the kernel's governors runs on this machine, and chooses again with the timers and events of the
    recorded run. Each number has an error bar. The column `ideal` is for a near-ideal governor, which knows the length
    of each sleep. Runs that differ only in their seeds also have rows with their mean. docs/what-if.md says what the
    method cannot know.

    Example: lull what-if runs/gem5 --set cstates.C3.exit_us=15 --set governor=teo
    """
    if not settings and not grid and keep is None:
        raise UserError("what-if: nothing asked; name a change by --set or --grid")
    if out is not None:
        _check(out)
    # pyarrow and numpy take a second to load, which other commands do not pay.
    import pyarrow.parquet as pq

    from lull.whatif import grid as points
    from lull.whatif import recording, source
    from lull.whatif.several import Question, answers, told_of_share

    paths = [one for path in runs for one in _runs_of(path)]
    if keep is not None and len(paths) > 1:
        raise UserError(f"--keep {keep}: for one run at a time; name one")

    def load(path: Path) -> "Replay":
        with Progress(f"read {path}"):
            one = source.load(path)
        if keep is not None:
            recording.keep(path, keep, one.entries.ticks)
            report(f"recording: {keep}")
        return one

    if not settings and not grid:
        load(*paths)
        return
    question = Question(settings or [], grid or [])
    for path in paths:
        question.check(source.machine_of(path))
    console = terminal.console()
    tables = []
    for answer in answers(paths, question, load, reasons=True):
        tables.append(answer.table)
        rows = answer.table.to_pylist()
        again = "" if answer.share is None else f": {told_of_share(answer.share)}"
        if not grid or len(paths) > 1:
            console.print(f"\n{answer.run}{'' if grid else again}", style="bold")
        (_show_points if grid else _show)(console, rows)
        for note in answer.notes:
            report(f"{answer.run}: {note}")
    if out is not None:
        with whole.written(out) as partial:
            pq.write_table(points.together(tables), partial)
        report(f"table: {out}")


def _runs_of(path: Path) -> list[Path]:
    """Return the run itself, or the runs of a sweep or an experiment that `lull what-if` can answer for."""
    from lull.compare import samples
    from lull.whatif.several import askable

    if samples.kind_of(path) in ("sweep", "scenario"):
        return askable([point.run.path for point in samples.read(path).points])
    RunDir.open(path)  # a folder that is no run raises its error before the first run is answered
    return [path]


def _check(out: Path) -> None:
    """Raise a UserError if the table cannot be written, before anything is computed."""
    if out.suffix != ".parquet":
        raise UserError(f"--out {out}: not a Parquet file; give it the suffix .parquet")
    if out.is_dir():
        raise UserError(f"--out {out}: is a folder; name a file in it")
    if not os.access(out.parent, os.W_OK):
        raise UserError(f"--out {out}: its folder is not there, or may not be written; choose another place")


def _show(console: Console, rows: list[dict[str, Any]]) -> None:
    table = Table("what", "CPU", "of", "recorded", "what if", "±", "ideal", box=None, pad_edge=False)
    for row in rows:
        if row["what"] != "choice" and (row["recorded"] or row["predicted"]):
            values = (row[name] for name in ("recorded", "predicted", "error", "ideal"))
            numbers = ("-" if value is None else f"{value:.4g}" for value in values)
            cpu = "all" if row["cpu"] < 0 else str(row["cpu"])
            table.add_row(f"{row['what']} {row['unit']}".strip(), cpu, row["of"], *numbers)
    console.print(table)


def _show_points(console: Console, rows: list[dict[str, Any]]) -> None:
    settings = Column("settings", overflow="fold")
    table = Table(settings, "energy J", "±", "wake-ups", "±", "p99 us", "±", "Pareto", box=None, pad_edge=False)
    for row in rows:
        columns = (name for key in ("energy_j", "wake_ups", "latency_p99_us") for name in (key, f"{key}_error"))
        numbers = (f"{row[column]:.{3 if column.endswith('_error') else 5}g}" for column in columns)
        table.add_row(str(row["settings"]), *numbers, "*" if row["pareto"] else "")
    console.print(table)
