# SPDX-License-Identifier: BSD-3-Clause
"""How long urgent requests take, beside all others of the same point: what deadlines are for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lull.figures import waiting
from lull.plotting.markdown import markdown_table
from lull.results.result import Check
from lull.rundir.run import Run

HEEDED = "heeded"
"""The way by which the kernel knows which requests are urgent."""
KINDS = {True: "urgent", False: "others"}

Row = dict[str, Any]


def df_urgent(runs: Sequence[Run], place: Callable[[Run], Row], requests: pa.Table) -> pa.Table | None:
    """Two rows per point with urgent requests: of those, and of the others."""
    own = waiting.by_point(requests)
    rows = [
        {**place(run), "deadline_us": int(run.values["deadline_us"]), **row}
        for run in runs
        if int(run.values.get("one_in", 0))
        for row in of_requests(own[run.name])
    ]
    return pa.Table.from_pylist(rows) if rows else None


def of_requests(requests: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Quantiles of the response, of each kind that has come at all."""
    found = []
    for urgent, kind in KINDS.items():
        responses = [row["response_us"] for row in requests if row["urgent"] == urgent]
        if responses:
            found.append({"kind": kind, **waiting.quantiles(np.array(responses)), "longest_us": max(responses)})
    return found


def text(urgent: pa.Table | None) -> str:
    if urgent is None or not urgent.num_rows:
        return ""
    return (
        "\n\n## Urgent requests\n\nOne request in so many is urgent, and may be held until its deadline. `staged`: the "
        "kernel holds it as long as any other. `heeded`: the kernel heeds the deadline. `shorter`: no request is held "
        "longer than an urgent one may be.\n\n"
        + markdown_table(
            ("point", "one in", "deadline, µs", "requests", "number", "response, median µs", "p99", "longest"),
            [
                (
                    row["point"], row["one_in"], row["deadline_us"], row["kind"], row["events"],
                    *(waiting.quantile_text(row, name) for name in ("median", "p99")), f"{row['longest_us']:.5g}",
                )
                for row in urgent.to_pylist()
            ],
        )
    )  # fmt: skip


def checks(urgent: pa.Table | None) -> list[Check]:
    """By the ends of the intervals that are nearest to each other."""
    found = []
    for point, rows in waiting.by_point(urgent).items() if urgent is not None else ():
        ours, others = (next((row for row in rows if row["kind"] == kind), None) for kind in KINDS.values())
        if ours is None or others is None or ours["way"] != HEEDED:
            continue
        found.append(
            Check(
                f"{point}: urgent requests are answered sooner than others",
                ours["p99_high_us"] < others["p99_low_us"],
                f"the 99th percentile of {ours['events']} urgent requests is {waiting.quantile_text(ours, 'p99')} µs, "
                f"and of {others['events']} others {waiting.quantile_text(others, 'p99')} µs",
            )
        )
    return found
