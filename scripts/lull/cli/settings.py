# SPDX-License-Identifier: BSD-3-Clause
"""`lull settings`: the settings of the kernel systems."""

from typing import Annotated

import typer
from rich.table import Column, Table

from lull.files import whole
from lull.host import terminal
from lull.host.progress import report
from lull.systems import folder, page


def settings(
    update: Annotated[
        bool, typer.Option("--update", help="write the list into docs/settings.md, after a change to a system")
    ] = False,
) -> None:
    """List the keys of `--set` that belong to kernel systems.

    Example: lull settings
    """
    found = folder.settings()
    if update:
        before = page.PAGE.read_text(encoding="utf-8")
        after = page.renewed(before, found)
        if after != before:
            with whole.written(page.PAGE) as new:
                new.write_text(after, encoding="utf-8")
        report(f"docs/settings.md: {'written' if after != before else 'is up to date'}")
        return
    shown = Table(Column("key", no_wrap=True), "value", "after boot", "what", box=None, pad_edge=False)
    for key, setting in found.items():
        shown.add_row(key, setting.possible().replace("`", ""), str(setting.default), setting.help)
    terminal.console().print(shown)
