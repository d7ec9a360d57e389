# SPDX-License-Identifier: BSD-3-Clause
"""All views, as docs/notebook.md lists them: `.venv/bin/python -m lull.notebook.catalogue` prints its table."""

import inspect
from collections.abc import Iterator
from typing import NamedTuple

from lull.notebook.energy import Energy
from lull.notebook.idle import Idle
from lull.notebook.stats import Stats
from lull.notebook.trace import Trace
from lull.notebook.views import Views, needs_of
from lull.notebook.wakes import Wakes
from lull.plotting.markdown import markdown_table

NAMESPACES: dict[str, type[Views]] = {
    "idle": Idle,
    "wakes": Wakes,
    "energy": Energy,
    "trace": Trace,
    "stats": Stats,
}


class View(NamedTuple):
    namespace: str
    name: str
    needs: tuple[str, ...]
    """Trace events."""
    says: str


def views() -> Iterator[View]:
    for namespace, kind in NAMESPACES.items():
        for name, view in vars(kind).items():
            if name.startswith(("df_", "plot_")):
                says = (inspect.getdoc(view) or "").partition("\n")[0]
                yield View(namespace, name, needs_of(view), says)


def page_table() -> str:
    rows = [
        (f"`.{view.namespace}.{view.name}()`", view.says, ", ".join(f"`{event}`" for event in view.needs) or "-")
        for view in views()
    ]
    return markdown_table(("view", "what", "trace events that it needs"), rows)


if __name__ == "__main__":
    print(page_table(), end="")
