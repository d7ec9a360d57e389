# SPDX-License-Identifier: BSD-3-Clause
"""A rich console that prints text as it is. By default, rich reads `[a-z]` as markup and `:key:` as an emoji."""

from rich.console import Console


def console(stderr: bool = False, width: int | None = None) -> Console:
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)
