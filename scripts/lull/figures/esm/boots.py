# SPDX-License-Identifier: BSD-3-Clause
"""Differences between ways to get input, with intervals over several boots of the machine.

A few points run in more than one boot. All repetitions of one run share the state that its boot left behind, such as
the pages of a program. The interval over repetitions does not show the effect of this state; the interval over boots
does.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from lull.figures.esm import paired
from lull.figures.esm.points import EPOLL, ESM, PULL, Row, series_of
from lull.figures.esm.runs import Measured
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import number, with_interval
from lull.results.result import Check
from lull.statistics import student

MEASURES = {"power_w": (1e3, "mW"), "em_w": (1e3, "by `em`, mW"), "cpu_share": (100, "CPU time, %"),
            "latency_us": (1, "latency, µs")}  # fmt: skip
"""Each measure with its scale and heading in the summary."""
SHARE = "above_percent"
"""The saving in % of the power that the other way adds to the idle machine. Older publications lack this column."""

OFF = ", C4"
"""The end of a series' name if the cluster may go off."""
NONE = pa.table({})
"""The table if no point ran in more than one boot. It is not published."""

_Place = tuple[str, str, str, Any]


def df_boots(points: Sequence[Measured], axis: str) -> pa.Table:
    """Return a row for each pair of ways that ran in several boots: the mean difference over boots with half its
    interval, and for comparison half the interval over the repetitions of one boot."""
    places: dict[_Place, list[tuple[Measured, Measured]]] = {}
    for one, other in paired.pairs(points):
        places.setdefault(_place(one, other, axis), []).append((one, other))
    rows: list[Row] = []
    for (series, against, listen, at), found in places.items():
        if len({_boot(one) for one, _ in found}) < 2:
            continue
        row: Row = {"series": series, "against": against, "listen": listen, axis: at, "boots": len(found)}
        for measure in MEASURES:
            gaps = [gap for one, other in found if (gap := paired.gap(one, other, measure))]
            known = len(gaps) == len(found)
            row[measure], row[f"{measure}_pm"] = student.mean([gap.value for gap in gaps]) if known else (None, None)
            row[f"{measure}_within_pm"] = max((gap.half or 0.0 for gap in gaps), default=None) if known else None
        shares = [share for one, other in found if (share := paired.share_above_idle(points, one, other))]
        known = len(shares) == len(found)
        row[SHARE], row[f"{SHARE}_pm"] = student.mean([own.value for own in shares]) if known else (None, None)
        row[f"{SHARE}_within_pm"] = max(own.half or 0.0 for own in shares) if known else None
        rows.append(row)
    return pa.Table.from_pylist(rows)


def _place(one: Measured, other: Measured, axis: str) -> _Place:
    """Return a key that is the same for a pair in all boots: both series, the kind of events, and the axis value."""
    series, against = (series_of({**point.run.values, "boot": 0}) for point in (one, other))
    return series, against, str(one.run.values.get("listen", "all")), one.run.values[axis]


def _boot(point: Measured) -> int:
    return int(point.run.values.get("boot", 0))


def text(table: pa.Table, axis: str, heading: str) -> str:
    """Return the section of the summary; empty if no point ran in more than one boot."""
    rows = [row for row in table.to_pylist() if row["power_w"] is not None]
    if not rows:
        return ""
    shares = any(row.get(SHARE) is not None for row in rows)
    lines = [
        (
            row["series"], row["against"], row[axis], row["boots"],
            *(_cell(row, measure, scale) for measure, (scale, _) in MEASURES.items()),
            *([_cell(row, SHARE, 1, "")] if shares else []),
        )
        for row in rows
    ]  # fmt: skip
    headings = [title for _, title in MEASURES.values()] + ["saved of what is above idle, %"] * shares
    return (
        "\n## Boots\n\nThe same differences, as means over several boots of the machine. The 95 % interval is that "
        "over boots. In brackets stands the widest interval over the repetitions of one boot, which the other tables "
        "use.\n\n" + markdown_table(("", "against", heading, "boots", *headings), lines)
    )


def _cell(row: Row, measure: str, scale: float, sign: str = "+") -> str:
    if row.get(measure) is None:
        return "-"
    over = with_interval(row[measure], row[f"{measure}_pm"], sign, scale=scale)
    return f"{over} [± {number(row[f'{measure}_within_pm'] * scale, 2)}]"


def checks(table: pa.Table) -> list[Check]:
    """Return checks that ESM and epoll need less power than a poll: the whole interval over boots is below 0."""
    found = []
    for row in table.to_pylist():
        one, other = (row[name].removesuffix(OFF) for name in ("series", "against"))
        if (one, other) not in ((ESM, PULL), (EPOLL, PULL)) or row["power_w"] is None:
            continue
        passed = row["power_w"] + row["power_w_pm"] < 0
        name = f"{one} burns less than a {other.removeprefix('pull ')} poll in every boot"
        name += OFF if row["series"].endswith(OFF) else ""
        says = f"{_cell(row, 'power_w', 1e3)} mW over {row['boots']} boots"
        found.append(Check(name, passed, says))
    return found
