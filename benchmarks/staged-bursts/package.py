# SPDX-License-Identifier: BSD-3-Clause
"""How long all CPUs sleep at the same time, and what bursts would save if the machine had a package that sleeps then.

A package is what CPUs share: on-chip network, L3, memory controllers, links between sockets. It sleeps while all CPUs
sleep in a state that turns the core off. The ledger has no power for it, because no source gives one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lull.energy.occupancy import common
from lull.figures import repetitions, waiting
from lull.platform.cstates import STATE_NAMES
from lull.plotting.markdown import markdown_table
from lull.rundir.run import Run
from lull.trace import recording, spans
from lull.trace.clock import TICK_HZ
from lull.trace.events import Numbers

OFF = (STATE_NAMES["core-off"], STATE_NAMES["cluster-off"])
"""The idle states in which a package can sleep."""
PACKAGES_W = (0.84, 2.6, 36)
"""What a package could take, in W, by the results of `multicore-power`: with 36 W its first step has the paper's watts,
and with the other two the paper's ratio, at the threshold and in full."""

Row = dict[str, Any]


def df_package(runs: Sequence[Run], place: Callable[[Run], Row]) -> pa.Table:
    """A row per point: in which share of its windows' time some CPU was awake, and how often the first one woke."""
    return pa.Table.from_pylist(
        [{**place(run), **awake(_asleep(run), repetitions.edges(run, waiting.WINDOWS))} for run in runs]
    )


def awake(sleeps: Iterable[Numbers], edges: Numbers) -> Row:
    """`sleeps` has pairs of start and end for each CPU. What counts is the time from the first edge to the last."""
    begin, length = edges[0], int(edges[-1] - edges[0])
    asleep = np.clip(common(sleeps) - begin, 0, length)
    wakes = np.count_nonzero((asleep[:, 1] > 0) & (asleep[:, 1] < length))
    return {"awake": 1 - float(np.diff(asleep).sum()) / length, "wakes_hz": wakes * TICK_HZ / length}


def _asleep(run: Run) -> Iterator[Numbers]:
    """For each CPU but the shadow core, which is outside of the package: pairs of start and end of its deep sleeps."""
    platform = run.spec.platform
    main = {cpu for cpus, cluster in platform.cpu_ranges() if platform.role(cluster) == "main" for cpu in cpus}
    for track in spans.by_cpu(recording.load(run.rundir()), platform):
        if track.cpu in main:
            off = np.isin(track.state, [place for place, name in enumerate(track.states) if name in OFF])
            yield np.stack([track.start[off], track.end[off]], axis=1)


def df_with_package(saved: Sequence[Row], points: pa.Table, package: pa.Table | None) -> list[Row]:
    """For each saving: what it would be with each package, and the package with which it would be `wanted`."""
    if package is None:
        return []
    awake = {row["point"]: row["awake"] for row in package.to_pylist()}
    power = {row["point"]: row["power_w"] for row in points.to_pylist()}
    pairs = [(row["one"], row["other"]) for row in saved if row["one"] in awake and row["other"] in awake]
    return [
        {
            "one": one, "other": other, "package_w": watts,
            "power": 1 - (power[one] + watts * awake[one]) / (power[other] + watts * awake[other]),
        }
        for one, other in pairs
        for watts in PACKAGES_W
    ]  # fmt: skip


def text(package: pa.Table | None, with_package: Sequence[Row]) -> str:
    if package is None or not package.num_rows:
        return ""
    saved: dict[str, list[Row]] = {}
    for row in with_package:
        saved.setdefault(row["one"], []).append(row)
    return (
        "\n\n## How long some CPU is awake\n\nAwake: the share of the time in which at least one CPU is in no state "
        "that turns its core off. The shadow core does not count. Woken: how often a second the first CPU wakes while "
        "all others sleep. Saved: of the machine's power, if the machine also had a package that takes so many watts "
        "while some CPU is awake.\n\n"
        + markdown_table(
            ("point", "awake, %", "woken, 1/s", *(f"saved with {watts:g} W, %" for watts in PACKAGES_W)),
            [
                (row["point"], f"{100 * row['awake']:.3g}", f"{row['wakes_hz']:.3g}", *_saved(saved.get(row["point"])))
                for row in package.to_pylist()
            ],
        )
    )


def _saved(rows: Sequence[Mapping[str, Any]] | None) -> list[str]:
    return ["-"] * len(PACKAGES_W) if rows is None else [f"{100 * row['power']:.3g}" for row in rows]
