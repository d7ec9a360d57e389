# SPDX-License-Identifier: BSD-3-Clause
"""`lull energy`: the energy of a run, in joules."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from lull.cli import energy_tables
from lull.energy.technology import COLDEST_K, HOTTEST_K
from lull.errors import UserError
from lull.host import terminal
from lull.host.progress import Progress, report
from lull.rundir.folder import RunDir

ACCOUNT = "account"


class _RunDirByDefault(TyperGroup):
    """Turns `lull energy RUNDIR` into `lull energy account RUNDIR`, where RUNDIR is a word that is no command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [ACCOUNT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RunDirByDefault,
    help="Energy of a run in joules: lull energy RUNDIR.\n\nThe commands below make power tables and McPAT's input.\n\n"
    "Example: lull energy runs/mine --rest-w 0.5",
    no_args_is_help=True,
)


app.command("tables")(energy_tables.tables)
app.command("mcpat-xml")(energy_tables.mcpat_xml)
app.command("activity")(energy_tables.activity)
app.command("validation")(energy_tables.validation)


@app.command(ACCOUNT)
def account(
    run: Annotated[Path, typer.Argument(help="folder of a run on gem5", metavar="RUNDIR")],
    backend: Annotated[
        Literal["mcpat", "em", "both"],
        typer.Option(
            help="energy model: mcpat multiplies event counts by joules per event; em multiplies utilisation by the "
            "power of the operating point"
        ),
    ] = "both",
    rest_w: Annotated[
        float | None,
        typer.Option(
            help="constant power of the machine's unmodelled parts in watts, such as 0.5; none if not given",
            metavar="WATTS",
        ),
    ] = None,
    transitions: Annotated[
        Literal["modelled", "given"],
        typer.Option(
            help="energy of entering and leaving idle states: `modelled` from time, caches and rails; `given` uses "
            "the published figure where there is one"
        ),
    ] = "modelled",
    temperature_k: Annotated[
        float | None,
        typer.Option(
            help="temperature of the chip in kelvin; if not given, from power-models/technology.yaml", metavar="K"
        ),
    ] = None,
    allow_lost: Annotated[
        bool, typer.Option("--allow-lost", help="accept a trace that lost events, and print how much it lost")
    ] = False,
) -> None:
    """Compute a run's energy by CPU, state and cause.

    `lull energy RUNDIR` is the short form. The command writes energy.parquet and power.pdf into the run's folder, and
    prints a summary. The backend mcpat needs a run on gem5 with --cpu detailed. Joules by cause need --trace.

    Example: lull energy runs/20260101-120000-tiny-gem5 --rest-w 0.5
    """
    if rest_w is not None and not 0 <= rest_w < float("inf"):
        raise UserError(f"--rest-w {rest_w:g}: give watts, 0 or more")
    if temperature_k is not None and not COLDEST_K <= temperature_k <= HOTTEST_K:
        raise UserError(f"--temperature-k {temperature_k:g}: give {COLDEST_K:g} to {HOTTEST_K:g} kelvin")
    # numpy, pyarrow and matplotlib take a second to load, which commands that account for nothing do not pay.
    from lull.energy import run_ledger, summary

    rundir = RunDir.open(run)
    options = run_ledger.Options(
        backends=("mcpat", "em") if backend == "both" else (backend,),
        rest_w=rest_w,
        given_transitions=transitions == "given",
        allow_lost=allow_lost,
        temperature_k=temperature_k,
    )
    with Progress(f"account for {run}"):
        found = run_ledger.make_ledger(rundir, options)
        run_ledger.draw(found, options.backends[0])
    summary.show(terminal.console(), found.ledger, found.platform, found.totals, found.notes)
    report(f"ledger: {found.ledger}")
