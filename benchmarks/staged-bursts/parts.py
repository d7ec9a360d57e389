# SPDX-License-Identifier: BSD-3-Clause
"""What the machine's power is spent on: searches, other work, ways in and out of sleep, the CPU that receives requests,
caches, memory."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lull.figures import repetitions, waiting
from lull.rundir.run import Run

SEARCH = "task:search-server/"
PARTS = ("receiver", "search", "work", "transitions", "sleep", "caches", "memory", "rest")
"""`search`: of all CPUs. `receiver`: whatever else the client's CPU takes. `work`: kernel, other tasks, on other CPUs.
`rest`: memory controller, interconnect and regulators."""
MEMORY = ("dram-background", "dram-access")
COLUMNS = ("cpu", "component", "state", "cause")

Row = dict[str, Any]


def df_parts(runs: Sequence[Run], place: Callable[[Run], Row]) -> pa.Table:
    """A row per point and part: its watts in the windows that count. The ledger of each run is there already."""
    found = []
    for run in runs:
        shadow = run.spec.platform.cpu_count - 1
        receiver = shadow if run.values["client"] == "shadow" else 0
        watts = repetitions.watts_by(run, repetitions.edges(run, waiting.WINDOWS), COLUMNS)
        own: dict[str, float] = dict.fromkeys(PARTS, 0.0)
        for key, power in watts.items():
            own[part_of(dict(zip(COLUMNS, key, strict=True)), receiver)] += power
        found += [{**place(run), "part": part, "power_w": power} for part, power in own.items()]
    return pa.Table.from_pylist(found)


def part_of(row: Mapping[str, Any], receiver: int) -> str:
    if row["cpu"] is None:
        return "caches" if row["component"] == "l2" else "memory" if row["component"] in MEMORY else "rest"
    if row["state"] == "active" and (row["cause"] or "").startswith(SEARCH):
        return "search"
    if row["cpu"] == receiver:
        return "receiver"
    if row["state"] == "active":
        return "work"
    return "transitions" if row["state"] in ("entry", "exit", "switch") else "sleep"


def text(parts: pa.Table | None) -> str:
    return waiting.parts_text(
        parts,
        PARTS,
        "What the power is spent on",
        "Search: on all CPUs. Receiver: all else that the CPU of the client takes. Of the other CPUs: other work, the "
        "ways into sleep and out of it, and sleep. Caches: L2s. Rest: memory controller, interconnect and regulators.",
    )
