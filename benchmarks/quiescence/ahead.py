# SPDX-License-Identifier: BSD-3-Clause
"""What it brings that a CPU is awake when the path's wait is expected to end: beside the same way without that."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lull.figures import waiting
from lull.plotting.markdown import markdown_table
from lull.results.result import Check
from lull.statistics import student

BESIDE = {"big_ahead": "big", "all_ahead": "all"}
"""The way without a plan, for each with one."""
COUNTS = ("planned", "unsure", "declined", "plan_hits", "plan_early", "plan_misses", "plan_dropped")
"""What the kernel counted of plans; 0 where it makes none."""
FIRST = 2
"""The first load that may be planned for, if the one from which the kernel learns is 0: the second shows by how much
the expected length is wrong."""

Row = dict[str, Any]


def df_ahead(tables: Mapping[str, pa.Table], same: Sequence[str]) -> list[Row]:
    """A row per point with plans, beside the one without: over the loads that may be planned for, load by load. Joules
    are those of the windows of these loads, where there are any."""
    points = tables["points"].to_pylist()
    loads = waiting.by_point(tables["loads"].filter(pc.greater_equal(tables["loads"]["load"], FIRST)))
    windows = waiting.by_point(tables["windows"].filter(pc.greater_equal(tables["windows"]["window"], FIRST - 1)))
    found = []
    for row in points:
        other = waiting.beside(points, row, BESIDE.get(row["way"], ""), same)
        if other is None or row["point"] not in loads:
            continue
        own, others = loads[row["point"]], loads[other["point"]]
        faster = [there["response_us"] - here["response_us"] for here, there in zip(own, others, strict=True)]
        line: Row = {name: row[name] for name in ("point", "group", "way", *same)}
        line |= {"other": other["point"], "loads": len(own), **{name: row[name] for name in COUNTS}}
        line |= {"late_us": _mean(own, "late_us"), "other_late_us": _mean(others, "late_us")}
        line["faster_us"], line["faster_us_pm"] = student.mean(faster)
        if waiting.is_timed(tables["points"]):
            for name, column in (("saved", "power_w"), ("cpus_saved", "cpus_w")):
                pairs = zip(windows[row["point"]], windows[other["point"]], strict=True)
                saved = [1 - here[column] / there[column] for here, there in pairs]
                line[name], line[f"{name}_pm"] = student.mean(saved)
        found.append(line)
    return found


def _mean(rows: Sequence[Row], name: str) -> float:
    return float(np.mean([row[name] for row in rows]))


def text(rows: Sequence[Row]) -> str:
    """The section of the summary."""
    if not rows:
        return ""
    timed = "saved" in rows[0]
    headings = (
        "point", "beside", "loads", "planned", "in the window", "before it", "in vain", "dropped", "unsure", "declined",
        "answer taken late, µs", "beside, µs", "load is faster by, µs",
    ) + (("energy saved, %", "of CPUs and L2s, %") if timed else ())  # fmt: skip
    return (
        "\n\n## A CPU that is awake when the wait ends\n\nFrom the third load on the kernel may plan that the CPU on "
        "which the path fell asleep is awake when the wait is expected to end. Times and energy are of these loads, "
        "beside the same loads without plans. The counts are the kernel's, of all loads: plans, and when the path "
        "woke; unsure and declined: holds without a plan.\n\n"
        + markdown_table(headings, [_line(row, timed) for row in rows])
    )


def _line(row: Row, timed: bool) -> tuple[Any, ...]:
    return (
        row["point"], row["other"], row["loads"],
        *(row[name] for name in ("planned", "plan_hits", "plan_early", "plan_misses", "plan_dropped")),
        row["unsure"], row["declined"], f"{row['late_us']:.4g}", f"{row['other_late_us']:.4g}",
        waiting.mean_text(row, "faster_us"),
        *((waiting.mean_text(row, name, 100, 3) for name in ("saved", "cpus_saved")) if timed else ()),
    )  # fmt: skip


def checks(rows: Sequence[Row]) -> list[Check]:
    """Each plan is in time, and a load is faster: judged by the whole interval."""
    found = []
    for row in rows:
        found += [
            Check(
                f"{row['point']}: the path wakes in the window of each plan",
                row["plan_hits"] == row["planned"] > 0,
                f"{row['plan_hits']} of {row['planned']} plans",
            ),
            Check(
                f"{row['point']}: a load is faster than with {row['other']}",
                student.ends(row["faster_us"], row["faster_us_pm"])[0] > 0,
                f"{waiting.mean_text(row, 'faster_us')} µs",
            ),
        ]
    return found
