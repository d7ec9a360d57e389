# SPDX-License-Identifier: BSD-3-Clause
"""A section of a summary: the kernel of each point, and the rows that compare points of different kernels.

A result that is published in pieces may have points of several kernels. A saving in such a row may in fact be a
difference between two kernels.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lull.plotting.markdown import markdown_table
from lull.results import manifest

MOST = 4
"""The largest number of groups of points that are named, for each table."""


def text(tables: Mapping[str, pa.Table], about: Mapping[str, Any]) -> str:
    """Return the section of a summary; empty if all points were made with one kernel."""
    kernel_of = {point: piece["artifacts"]["kernel"] for piece in about.get("pieces", ()) for point in piece["points"]}
    if len(set(kernel_of.values())) < 2:
        return ""
    rows = [(manifest.short(kernel), _groups(kernel_of, kernel)) for kernel in dict.fromkeys(kernel_of.values())]
    found = [_told(name, _across(table, kernel_of)) for name, table in sorted(tables.items())]
    across = "\n".join(filter(None, found)) or "No row of a table compares points of different kernels."
    return (
        "## Points of several kernels\n\n" + markdown_table(("kernel", "points of each group"), rows) + f"\n{across}\n"
    )


def _groups(kernel_of: Mapping[str, str], kernel: str) -> str:
    own = [point.partition("/")[0] for point, its in kernel_of.items() if its == kernel]
    return ", ".join(f"{group}: {own.count(group)}" for group in dict.fromkeys(own))


def _across(table: pa.Table, kernel_of: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return the points of each row that names points of different kernels, without repetitions."""
    columns = [table[name].to_pylist() for name in table.column_names if pa.types.is_string(table[name].type)]
    named = [tuple(dict.fromkeys(value for value in row if value in kernel_of)) for row in zip(*columns, strict=True)]
    return [points for points in dict.fromkeys(named) if len({kernel_of[point] for point in points}) > 1]


def _told(name: str, found: Sequence[tuple[str, ...]]) -> str:
    if not found:
        return ""
    shown = ", ".join(" with ".join(points) for points in found[:MOST])
    more = f", and {len(found) - MOST} more" if len(found) > MOST else ""
    return f"**The table `{name}` compares points of different kernels**: {shown}{more}. Run them again with one.\n"
