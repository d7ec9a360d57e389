# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-overhead`: how busy a CPU is with the monitor off and on."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lull.figures import waiting
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

LOAD = "load.jsonl"
SAME = ("kbit_s", "interval_us")
"""What two points have in common that are compared, one with the monitor and one without."""
PLACE = ("monitor", *SAME)
ALIKE = 0.002
"""By so much the bytes of two intervals may differ that are paired: less than a packet, of 100 ms at 50 Mbit/s."""
MOST, PAPER = 0.005, 0.0074
"""Of a CPU's time, that the monitor may take, and that the paper's takes."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    intervals = df_intervals(runs)
    tables = {"intervals": intervals, "points": df_points(intervals)}
    return conclude(tables, [run.name for run in runs.runs], runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables of those points that have run, of all."""
    table, costs = tables["points"], df_costs(tables["intervals"])
    return Result(
        summary="## How busy the CPU is\n\n"
        + waiting.so_far(table, points)
        + "Means over intervals, with 95 % intervals. What the monitor takes is a difference for the same bytes: how "
        "busy the CPU was in an interval is scaled by what came in it to what the peer sends. Where the same bytes "
        "came in each interval with and without the monitor, it is a difference interval by interval.\n\n"
        + _points_text(table, costs),
        tables={**tables, "costs": costs},
        checks=checks(costs) if timed else [],
    )


def against(stored: Stored) -> list[Against]:
    costs = stored.rows("costs")
    return [
        Against(
            f"the monitor at {row['kbit_s'] / 1e3:g} Mbit/s, of a CPU", "%", f"{100 * row['costs']:.2g}",
            f"{100 * PAPER:g}", source="EANeM paper, section IV",
        )
        for row in (costs.to_pylist() if costs else [])
    ]  # fmt: skip


def df_intervals(runs: Runs) -> pa.Table:
    """A row per interval that counts."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _intervals(run)])


def _intervals(run: Run) -> list[Row]:
    with run.understanding(LOAD):
        return [
            {
                **waiting.place(run, PLACE),
                "busy": 1 - min(int(line["slept_ns"]), int(line["ns"])) / int(line["ns"]),
                "mbit_s": int(line["bytes"]) * 8e3 / int(line["ns"]),
            }
            for line in run.lines(LOAD)
            if line["settled"]
        ]


def df_points(intervals: pa.Table) -> pa.Table:
    """A row per point."""
    return pa.Table.from_pylist(
        [
            {**{name: own[0][name] for name in ("point", "group", *PLACE)}, **waiting.means(own, ("busy", "mbit_s"))}
            for own in waiting.by_point(intervals).values()
        ]
    )


def df_costs(intervals: pa.Table) -> pa.Table:
    """A row per rate that ran both ways: the part of the CPU's time that the monitor takes, with its interval."""
    every = waiting.by_point(intervals).values()
    found = []
    for on in every:
        same = [off for off in every if not off[0]["monitor"] and all(off[0][name] == on[0][name] for name in SAME)]
        if not on[0]["monitor"] or not same:
            continue
        costs, low, high = _difference(same[0], on)
        place = {name: on[0][name] for name in ("point", *SAME)}
        found.append({**place, "other": same[0][0]["point"], "costs": costs, "costs_low": low, "costs_high": high})
    return pa.Table.from_pylist(found, schema=_COSTS)


_COSTS = pa.schema(
    [("point", pa.string()), *((name, pa.int64()) for name in SAME), ("other", pa.string())]
    + [(name, pa.float64()) for name in ("costs", "costs_low", "costs_high")]
)


def _difference(off: Sequence[Row], on: Sequence[Row]) -> tuple[float, float, float]:
    """How much busier the CPU is with the monitor, and the ends of the interval: by pairs of intervals in which the
    same bytes came, because the peer sends the same in both runs. Else the two means are compared."""
    sides = _scaled(off), _scaled(on)
    pairs = zip(off, on, strict=False)
    alike = len(off) == len(on) and all(abs(a["mbit_s"] - b["mbit_s"]) <= ALIKE * a["mbit_s"] for a, b in pairs)
    if not alike:
        return student.difference(*sides)
    mean, half = student.paired(*sides)
    return (mean, *student.ends(mean, half))


def _scaled(rows: Sequence[Row]) -> list[float]:
    """How busy the CPU would be, had all come that the peer sends. A write more or less is some per cent of it."""
    return [row["busy"] * row["kbit_s"] / 1e3 / row["mbit_s"] for row in rows if row["mbit_s"]]


def _points_text(points: pa.Table, costs: pa.Table) -> str:
    known = {row["point"]: row for row in costs.to_pylist()}
    return markdown_table(
        ("Mbit/s", "monitor", "there, Mbit/s", "busy, %", "the monitor takes, %"),
        [
            (
                f"{row['kbit_s'] / 1e3:g}", "on" if row["monitor"] else "off", waiting.mean_text(row, "mbit_s"),
                waiting.mean_text(row, "busy", 100),
                waiting.ends_text(known[row["point"]], "costs", 100) if row["point"] in known else "-",
            )
            for row in points.to_pylist()
        ],
    )  # fmt: skip


def checks(costs: pa.Table) -> list[Check]:
    """The goal, judged by the upper end of the interval."""
    return [
        Check(
            f"{row['kbit_s'] / 1e3:g} Mbit/s: the monitor takes at most {100 * MOST:g} % of a CPU",
            row["costs_high"] <= MOST,
            f"{waiting.ends_text(row, 'costs', 100)} %",
        )
        for row in costs.to_pylist()
    ]
