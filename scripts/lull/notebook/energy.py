# SPDX-License-Identifier: BSD-3-Clause
"""Joules: by CPU, state and cause, and power over time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes

from lull.energy import rows, view
from lull.errors import UserError
from lull.notebook import house
from lull.notebook.source import Source
from lull.notebook.views import Views, df, plot
from lull.trace.clock import TICK_HZ

Backend = Literal["mcpat", "em"]
Band = Literal["raw", "calibrated"]
KEYS = ("cpu", "cluster", "window", "state", "component", "kind", "cause")


class Energy(Views):
    """The ledger of a run on gem5. One that is missing is made and kept, as by `lull energy`.

    `backend`: "mcpat" counts events, "em" takes utilisation times the operating point's power. `band`: "calibrated" to
    published figures, or "raw". Causes take a trace (sched, power, irq, ipi, timer); without one they are unknown.
    """

    @df()
    def df_joules(
        self,
        run: Source,
        by: Sequence[str] = ("cpu", "state", "cause"),
        backend: Backend = "mcpat",
        band: Band = "calibrated",
    ) -> pa.Table:
        """Energy by any of cpu, cluster, window, state, component, kind and cause; `cpu` is null where CPUs share."""
        by = [by] if isinstance(by, str) else list(by)
        if unknown := [key for key in by if key not in KEYS]:
            raise UserError(f"by {unknown[0]!r}: no column of a ledger; choose from {', '.join(KEYS)}")
        found = rows.grouped(_ledger(run, backend), by, ["joules"], backend, band)
        return found.rename_columns([*by, "energy_j"])

    @plot(df_joules)
    def plot_joules(
        self, ax: Axes | None = None, by: str = "cause", backend: Backend = "mcpat", band: Band = "calibrated",
        most: int = 12,
    ) -> Axes:  # fmt: skip
        """Energy by one column, the largest first; of several runs, the sum of each point's seeds side by side."""
        table = self.arrow("joules", by=(by,), backend=backend, band=band)
        table = table.set_column(
            table.column_names.index(by), by, pc.fill_null(pc.cast(table[by], pa.string()), "shared")
        )
        order = table.group_by(by).aggregate([("energy_j", "sum")]).sort_by([("energy_j_sum", "descending")])
        names = order[by].to_pylist()[:most]
        points = [None] if self._single else list(dict.fromkeys(table["point"].to_pylist()))
        height = 0.8 / len(points)
        with house.axes(ax, house.height_of(len(names) * len(points))) as axis:
            for number, point in enumerate(points):
                own = table if point is None else table.filter(pc.equal(table["point"], point))
                joules = dict.fromkeys(names, 0.0)
                for row in own.to_pylist():
                    if row[by] in joules:
                        joules[row[by]] += row["energy_j"]
                places = np.arange(len(names)) + number * height
                axis.barh(
                    places, list(joules.values()), height=height, edgecolor="black", linewidth=0.5, label=point,
                    **house.style.fill(number),
                )  # fmt: skip
            axis.set_yticks(np.arange(len(names)) + (len(points) - 1) * height / 2, names)
            axis.invert_yaxis()
            axis.set_xlabel("energy (J)")
            if not self._single:
                house.legend_beside(axis)
        return axis

    @df()
    def df_power(self, run: Source, backend: Backend = "mcpat", band: Band = "calibrated") -> pa.Table:
        """Mean power of each CPU, of the L2s and of the uncore in each window of statistics, on gem5's time."""
        found = view.df_power(_ledger(run, backend), backend, band)
        columns = {f"{name}_s": found[name].to_numpy() / TICK_HZ for name in ("start", "end")}
        return pa.table({**columns, "owner": found["owner"], "power_w": found["watts"]})

    @plot(df_power)
    def plot_power(self, ax: Axes | None = None, backend: Backend = "mcpat", band: Band = "calibrated") -> Axes:
        """Over time, from each run's begin: of a run in layers, by who burns it; of several, a line for each."""
        with house.axes(ax) as axis:
            if self._single:
                view.draw_power(axis, view.df_power(_ledger(self._sources[0], backend), backend, band))
            else:
                _draw_lines(axis, self.arrow("power", backend=backend, band=band))
            house.legend_beside(axis)
        return axis


def _draw_lines(axis: Axes, table: pa.Table) -> None:
    keys = ["point", "seed"]
    whole = table.group_by([*keys, "start_s", "end_s"]).aggregate([("power_w", "sum")]).sort_by("start_s").to_pylist()
    lines = list(dict.fromkeys((row["point"], row["seed"]) for row in table.select(keys).to_pylist()))
    seeds = {seed for _, seed in lines}
    for number, (point, seed) in enumerate(lines):
        own = [row for row in whole if (row["point"], row["seed"]) == (point, seed)]
        edges = np.array([*(row["start_s"] for row in own), own[-1]["end_s"]])
        watts = [row["power_w_sum"] for row in own]
        axis.step(
            (edges - edges[0]) * 1e3, [*watts, watts[-1]], where="post",
            color=str(0.2 * (number // len(house.style.LINES) % 4)),
            linestyle=house.style.LINES[number % len(house.style.LINES)],
            label=f"{point}, seed {seed}" if len(seeds) > 1 else point,
        )  # fmt: skip
    axis.set(xlabel="time (ms)", ylabel="power (W)", ylim=(0, None))


def _ledger(run: Source, backend: str) -> Path:
    run.ledger_made()
    ledger = run.sample.ledger
    assert ledger is not None
    known = sorted({found for found, _ in run.sample.joules()})
    if backend not in known:
        raise UserError(
            f"{run.shown}: its ledger has no backend {backend!r}, only {', '.join(known)}; "
            f"choose one of these, or make it anew: lull energy {run.shown}"
        )
    return ledger
