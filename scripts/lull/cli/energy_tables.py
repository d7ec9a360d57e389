# SPDX-License-Identifier: BSD-3-Clause
"""`lull energy tables`, `lull energy mcpat-xml`, `lull energy validation`: what stands between McPAT and the ledger.

numpy, pyarrow and matplotlib take seconds to load, so that each command loads what it needs by itself.
"""

from pathlib import Path
from typing import Annotated

import typer

from lull.files import yaml_file
from lull.platform.load import list_platforms, load_platform
from lull.rundir.folder import RunDir

McPatOption = Annotated[str | None, typer.Option(help="McPAT 1.3 binary; $MCPAT or mcpat on PATH if not given")]


def tables(
    mcpat: McPatOption = None,
    platform: Annotated[
        list[str] | None,
        typer.Option("--platform", "-p", help="only this platform; all of `lull platform list` if not given"),
    ] = None,
    force: Annotated[bool, typer.Option(help="make tables again that are up to date")] = False,
) -> None:
    """Make power-models/tables anew where their inputs have changed.

    Cores, caches, operating points, templates.

    Example: lull energy tables --mcpat ~/mcpat/mcpat --platform rk3399
    """
    from lull.energy import make_tables

    platforms = [load_platform(name) for name in platform or list_platforms()]
    made = 0
    for file in make_tables.make(platforms, mcpat, force):
        typer.echo(file)
        made += 1
    if not made:
        typer.echo("all tables are up to date")


def mcpat_xml(
    run: Annotated[Path, typer.Argument(help="the folder of a run on gem5 with --cpu detailed", metavar="RUNDIR")],
    out: Annotated[Path, typer.Option(help="folder for the XML files")] = Path("mcpat"),
) -> None:
    """Write a run as input for McPAT itself.

    One file for each cluster and operating point.

    Example: lull energy mcpat-xml runs/x --out mcpat; mcpat -infile mcpat/big-1100.xml -print_level 5
    """
    from lull.energy import run_xml

    for file in run_xml.write(RunDir.open(run), out):
        typer.echo(file)


def activity(
    run: Annotated[Path, typer.Argument(help="the folder of a run on gem5 with --cpu detailed", metavar="RUNDIR")],
    window_us: Annotated[float | None, typer.Option(help="look at windows of this length only", min=1)] = None,
) -> None:
    """Print what each type of core did in a cycle of a run.

    As power-models/busy.yaml holds it. Of all windows, the one counts in which it had the most instructions.

    Example: lull energy activity runs/x --window-us 200
    """
    from lull.energy import busy

    for core, events in busy.recorded(RunDir.open(run), window_us).items():
        typer.echo(f"{core}:\n  per_cycle:")
        for event, count in events.items():
            typer.echo(f"    {event}: {count:.6f}")


def validation() -> None:
    """Write power-models/validation.md anew.

    McPAT's watts, raw and calibrated, beside published ones.

    Example: lull energy validation
    """
    from lull.energy.validation import PAGE, page

    PAGE.write_text(page(), encoding="utf-8")
    typer.echo(yaml_file.shown(PAGE))
