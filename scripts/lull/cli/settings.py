# SPDX-License-Identifier: BSD-3-Clause
"""`lull settings`: what the kernel systems let a run set."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from lull.files import whole
from lull.host.progress import report
from lull.systems import folder, page


def settings(
    update: Annotated[
        bool, typer.Option("--update", help="write them into docs/settings.md, where a system was changed or added")
    ] = False,
) -> None:
    """List what `--set` may change of the kernel systems.

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
    Console(highlight=False).print(shown)
