# SPDX-License-Identifier: BSD-3-Clause
"""`lull energy tables`, `mcpat-xml`, `activity` and `validation`: make power tables and McPAT's input.

Each command loads only the modules that it needs, because numpy, pyarrow and matplotlib take seconds to load.
"""

from pathlib import Path
from typing import Annotated

import typer

from lull.files import yaml_file
from lull.platform.load import list_platforms, load_platform
from lull.rundir.folder import RunDir

McPatOption = Annotated[
    str | None,
    typer.Option(help="path of the McPAT 1.3 binary; if not given, $MCPAT or mcpat on PATH", metavar="FILE"),
]


def tables(
    mcpat: McPatOption = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform",
            "-p",
            help="make the tables of this platform; if not given, of every platform in `lull platform list`",
            metavar="P",
        ),
    ] = None,
    force: Annotated[bool, typer.Option(help="make tables again even if they are up to date")] = False,
) -> None:
    """Make power tables again whose inputs have changed.

    The tables are in power-models/tables. Their inputs are cores, caches, operating points and McPAT templates.

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
    run: Annotated[Path, typer.Argument(help="folder of a run on gem5 with --cpu detailed", metavar="RUNDIR")],
    out: Annotated[Path, typer.Option(help="folder for the XML files")] = Path("mcpat"),
) -> None:
    """Write the XML input of McPAT for a run.

    There is one file for each cluster and operating point.

    Example: lull energy mcpat-xml runs/x --out mcpat; mcpat -infile mcpat/big-1100.xml -print_level 5
    """
    from lull.energy import run_xml

    for file in run_xml.write(RunDir.open(run), out):
        typer.echo(file)


def activity(
    run: Annotated[Path, typer.Argument(help="folder of a run on gem5 with --cpu detailed", metavar="RUNDIR")],
    window_us: Annotated[
        float | None,
        typer.Option(help="use only statistics windows of this length in microseconds", min=1, metavar="US"),
    ] = None,
) -> None:
    """Print the events per cycle of each core type in a run.

    The numbers are from one statistics window: the one in which the core had the most instructions. The output has
    the format of power-models/busy.yaml.

    Example: lull energy activity runs/x --window-us 200
    """
    from lull.energy import busy

    for core, events in busy.recorded(RunDir.open(run), window_us).items():
        typer.echo(f"{core}:\n  per_cycle:")
        for event, count in events.items():
            typer.echo(f"    {event}: {count:.6f}")


def validation() -> None:
    """Write power-models/validation.md again.

    The page compares McPAT's watts, raw and calibrated, with published watts.

    Example: lull energy validation
    """
    from lull.energy.validation import PAGE, page

    PAGE.write_text(page(), encoding="utf-8")
    typer.echo(yaml_file.shown(PAGE))
