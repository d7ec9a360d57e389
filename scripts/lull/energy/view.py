# SPDX-License-Identifier: BSD-3-Clause
"""Power over time, from a ledger."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lull.energy import rows
from lull.plotting import style
from lull.trace.clock import TICK_HZ

L2, UNCORE = "L2", "uncore"
"""Labels for parts that a cluster's CPUs share, including the regulator's charges, and for parts that all share."""


def df_power(ledger: Path, backend: str, band: str = rows.CALIBRATED) -> pa.Table:
    """Return the mean watts of each CPU, of the L2s and of the uncore in each window.

    The watts are a window's joules over its length. Changes inside a window are not visible.
    """
    found = rows.grouped(ledger, ["start", "end", "cpu", "cluster"], ["joules"], backend, band)
    places = zip(found["cpu"].to_pylist(), found["cluster"].to_pylist(), strict=True)
    owner = [f"CPU {cpu}" if cpu is not None else L2 if cluster else UNCORE for cpu, cluster in places]
    found = found.append_column("owner", pa.array(owner))
    sums = found.group_by(["start", "end", "owner"]).aggregate([("joules", "sum")])
    start, end = (sums[name].to_numpy() for name in ("start", "end"))
    watts = sums["joules_sum"].to_numpy() / ((end - start) / TICK_HZ)
    table = pa.table({"start": start, "end": end, "owner": sums["owner"], "watts": watts})
    return table.sort_by([("start", "ascending"), ("owner", "ascending")])


def plot_power(power: pa.Table, title: str = "") -> Figure:
    """Draw watts over time as stacked steps, one layer for each CPU, then L2s and uncore."""
    figure, (axis,) = style.panels(1, 1, 2.6)
    draw_power(axis, power)
    axis.set_title(title)
    handles, labels = axis.get_legend_handles_labels()
    style.legend_below(figure, handles, labels)
    return figure


def draw_power(axis: Axes, power: pa.Table) -> None:
    owners = sorted(set(power["owner"].to_pylist()), key=_order)
    starts = np.unique(power["start"].to_numpy())
    edges = np.append(starts, power["end"].to_numpy().max())
    layers = np.zeros((len(owners), len(starts)))
    place = np.searchsorted(starts, power["start"].to_numpy())
    owner = np.array([owners.index(name) for name in power["owner"].to_pylist()], np.int64)
    np.add.at(layers, (owner, place), power["watts"].to_numpy())
    milliseconds = (edges - edges[0]) * (1e3 / TICK_HZ)
    stack = np.vstack([np.zeros(len(starts)), np.cumsum(layers, axis=0)])
    for number, (low, high) in enumerate(pairwise(stack)):
        axis.stairs(
            high, milliseconds, baseline=low, fill=True, label=owners[number],
            edgecolor="black", linewidth=0.2, **style.fill(number),
        )  # fmt: skip
    axis.set(xlabel="time (ms)", ylabel="power (W)", xlim=(0, milliseconds[-1]), ylim=(0, None))


def _order(owner: str) -> tuple[bool, int, str]:
    """Return the sort key of an owner: CPUs by number, then shared parts."""
    number = owner.removeprefix("CPU ")
    return (owner == number, int(number) if owner != number else 0, owner)
