# SPDX-License-Identifier: BSD-3-Clause
"""What people read, word for word. To rich by itself, `[a-z]` is markup and `:key:` a picture."""

from rich.console import Console


def console(stderr: bool = False, width: int | None = None) -> Console:
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
