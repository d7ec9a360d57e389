# SPDX-License-Identifier: BSD-3-Clause
"""`lull energy`: joules of a run."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from typer.core import TyperGroup

from lull.cli import energy_tables
from lull.energy.technology import COLDEST_K, HOTTEST_K
from lull.errors import UserError
from lull.host.progress import Progress, report
from lull.rundir.folder import RunDir

ACCOUNT = "account"


class _RunDirByDefault(TyperGroup):
    """`lull energy RUNDIR` is `lull energy account RUNDIR`: what is no command is a run's folder."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [ACCOUNT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_RunDirByDefault,
    help="Joules of a run: lull energy RUNDIR.\n\nTables and McPAT's own input: the commands below.\n\n"
    "Example: lull energy runs/mine --rest-w 0.5",
    no_args_is_help=True,
)


app.command("tables")(energy_tables.tables)
app.command("mcpat-xml")(energy_tables.mcpat_xml)
app.command("activity")(energy_tables.activity)
app.command("validation")(energy_tables.validation)


@app.command(ACCOUNT)
def account(
    run: Annotated[Path, typer.Argument(help="a folder made by `lull boot` on gem5", metavar="RUNDIR")],
    backend: Annotated[
        Literal["mcpat", "em", "both"],
        typer.Option(help="mcpat: event counts; em: utilisation times the power of the operating point"),
    ] = "both",
    rest_w: Annotated[float | None, typer.Option(help="constant power of the rest of the platform, in watts")] = None,
    transitions: Annotated[
        Literal["modelled", "given"],
        typer.Option(help="energy of idle transitions: from time, caches and rails, or as published where it is"),
    ] = "modelled",
    temperature_k: Annotated[
        float | None,
        typer.Option(
            help="temperature of the chip, for its leakage; if not given, power-models/technology.yaml has it"
        ),
    ] = None,
    allow_lost: Annotated[
        bool, typer.Option("--allow-lost", help="account for a trace that lost events, and say how much that is")
    ] = False,
) -> None:
    """Account for a run's energy.

    energy.parquet and power.pdf in its folder, and a summary here; `lull energy RUNDIR` is short for it. Event counts
    take a run on gem5 with detailed CPUs, and causes a traced one.

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
    summary.show(Console(highlight=False), found.ledger, found.platform, found.totals, found.notes)
    report(f"ledger: {found.ledger}")
