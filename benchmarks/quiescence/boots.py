# SPDX-License-Identifier: BSD-3-Clause
"""What is saved, over several boots of the machine.

Loads of one run share what the boot left behind. For example, `schedutil` leaves a cluster at the clock of its last
work, and the cluster's voltage leaks on at that clock for the whole wait. So the interval over loads is too narrow, and
the answer is the interval over boots.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from lull.figures import waiting
from lull.plotting.markdown import markdown_table
from lull.results.result import Check
from lull.statistics import student

MEASURES = {
    "saved": "energy saved",
    "cpus_saved": "of CPUs and L2s",
    "slower": "load is slower by",
}

Row = dict[str, Any]


def df_boots(savings: Sequence[Row], same: Sequence[str]) -> pa.Table | None:
    """A row per way that ran in several boots: means over boots of what each boot saves. None if there is no such."""
    places: dict[tuple[Any, ...], list[Row]] = {}
    for row in savings:
        places.setdefault((row["way"], *(row.get(name) for name in same if name != "boot")), []).append(row)
    rows = []
    for (way, *_), found in places.items():
        if len({row.get("boot") for row in found}) < 2:
            continue
        own: Row = {"way": way, "boots": len(found), **{name: found[0].get(name) for name in same if name != "boot"}}
        for name in MEASURES:
            own[name], own[f"{name}_pm"] = student.mean([row[name] for row in found])
            own[f"{name}_least"], own[f"{name}_most"] = (pick(row[name] for row in found) for pick in (min, max))
        rows.append(own)
    return pa.Table.from_pylist(rows) if rows else None


def text(table: pa.Table | None) -> str:
    """The section of the summary."""
    if table is None:
        return ""
    rows = [
        (row["way"], row["background"], row["boots"], *(_cell(row, name) for name in MEASURES))
        for row in table.to_pylist()
    ]
    return (
        "\n\n## Over boots, %\n\nMeans over boots of the machine, with 95 % intervals over boots. In brackets stand "
        "the least and the most of a boot.\n\n" + markdown_table(("way", "updates", "boots", *MEASURES.values()), rows)
    )


def _cell(row: Row, name: str) -> str:
    ends = " to ".join(f"{100 * row[f'{name}_{end}']:.3g}" for end in ("least", "most"))
    return f"{waiting.mean_text(row, name, 100, 3)} ({ends})"


def checks(table: pa.Table | None, least: float) -> list[Check]:
    """The paper's goal, judged by the interval over boots."""
    if table is None:
        return []
    return [
        Check(
            f"`{row['way']}`: at least {100 * least:g} % of the machine's energy is saved, over {row['boots']} boots",
            student.ends(row["saved"], row["saved_pm"])[0] >= least,
            f"{waiting.mean_text(row, 'saved', 100, 3)} %",
        )
        for row in table.to_pylist()
    ]
