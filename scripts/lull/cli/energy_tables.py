# SPDX-License-Identifier: BSD-3-Clause
"""`lull energy tables`, `lull energy mcpat-xml`, `lull energy validation`: what stands between McPAT and the ledger."""

from typing import Annotated

import typer

from lull.energy import make_tables
from lull.platform.load import list_platforms, load_platform

McPatOption = Annotated[str | None, typer.Option(help="McPAT 1.3 binary; $MCPAT or mcpat on PATH if not given")]


def tables(
    mcpat: McPatOption = None,
    platform: Annotated[
        list[str] | None,
        typer.Option("--platform", "-p", help="only this platform; all of `lull platform list` if not given"),
    ] = None,
    force: Annotated[bool, typer.Option(help="make tables again that are up to date")] = False,
) -> None:
    """Make power-models/tables anew where cores, caches, operating points or templates have changed.

    Example: lull energy tables --mcpat ~/mcpat/mcpat --platform rk3399
    """
    platforms = [load_platform(name) for name in platform or list_platforms()]
    for file in make_tables.make(platforms, mcpat, force):
        typer.echo(file)
