# SPDX-License-Identifier: BSD-3-Clause
"""Savings of one way over another, with intervals over several boots of the machine.

An interval over the windows of one run is too narrow, because all its windows share the state that the boot left
behind. For example, `schedutil` leaves a cluster at the clock of its last work, and the cluster leaks at the voltage of
that clock during the next wait.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lull.figures import waiting
from lull.plotting.markdown import markdown_table
from lull.statistics import student

Row = dict[str, Any]


def df_boots(savings: Sequence[Row], same: Sequence[str], measures: Iterable[str]) -> pa.Table | None:
    """Return a row per way that ran in several boots, with means over boots of the savings; None if there is no such.

    `same` are the columns that are equal in rows which differ only in their boot. `measures` are shares of 1.
    """
    common = [name for name in same if name != "boot"]
    places: dict[tuple[Any, ...], list[Row]] = {}
    for row in savings:
        places.setdefault((row["way"], *(row.get(name) for name in common)), []).append(row)
    rows = []
    for (way, *_), found in places.items():
        if len({row.get("boot") for row in found}) < 2:
            continue
        own: Row = {"way": way, "boots": len(found), **{name: found[0].get(name) for name in common}}
        for name in measures:
            own[name], own[f"{name}_pm"] = student.mean([row[name] for row in found])
            own[f"{name}_least"], own[f"{name}_most"] = (pick(row[name] for row in found) for pick in (min, max))
        rows.append(own)
    return pa.Table.from_pylist(rows) if rows else None


def text(
    table: pa.Table | None, places: Mapping[str, str], measures: Mapping[str, str], heading: str = "Over boots"
) -> str:
    """Return the section of the summary. `places` and `measures` are columns with their headings."""
    if table is None:
        return ""
    rows = [
        (row["way"], *(row[name] for name in places), row["boots"], *(_cell(row, name) for name in measures))
        for row in table.to_pylist()
    ]
    headings = ("way", *places.values(), "boots", *measures.values())
    return (
        f"\n\n## {heading}, %\n\nMeans over boots of the machine, with 95 % intervals over boots. In brackets stand "
        "the least and the most of a boot.\n\n" + markdown_table(headings, rows)
    )


def _cell(row: Row, name: str) -> str:
    ends = " to ".join(f"{100 * row[f'{name}_{end}']:.3g}" for end in ("least", "most"))
    return f"{percent(row, name)} ({ends})"


def percent(row: Row, name: str) -> str:
    return waiting.mean_text(row, name, 100, 3)
