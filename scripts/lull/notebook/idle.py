# SPDX-License-Identifier: BSD-3-Clause
"""Idle states: time in them, entries, sleeps."""

import pyarrow as pa
from matplotlib.axes import Axes

from lull.errors import UserError
from lull.figures import time_asleep
from lull.notebook import house
from lull.notebook.source import Source
from lull.notebook.views import Views, df, plot
from lull.rundir import cpuidle
from lull.rundir.folder import CPUIDLE
from lull.trace import sleeps
from lull.trace.clock import TICK_HZ, TICKS_PER_US

_COUNTS = ("usage", "above", "below", "rejected")


class Idle(Views):
    """Idle states: as Linux's cpuidle counted them, and sleep by sleep as the trace has them."""

    @df()
    def df_residency(self, run: Source) -> pa.Table:
        """Share of each CPU's time in each idle state, and `awake`, as Linux counted during the command."""
        _counted(run)
        return time_asleep.df_residency([run.sample]).drop_columns(["point", "seed"])

    @plot(df_residency)
    def plot_residency(self, ax: Axes | None = None) -> Axes:
        """A bar for each CPU of a run. Of several runs, a bar for each point: the mean of its CPUs and seeds."""
        table = self.arrow("residency")
        draw, by = (time_asleep.draw_residency, "cpu") if self._single else (time_asleep.draw_by_point, "point")
        with house.axes(ax, house.height_of(len(table[by].unique()))) as axis:
            draw(axis, table)
            house.legend_beside(axis)
        return axis

    @df()
    def df_entries(self, run: Source) -> pa.Table:
        """Entries of each CPU into each state, the time in it, and the number of wrong choices.

        `above`: the sleep was too short for the state. `below`: it was long enough for a deeper one.
        """
        rows = [
            {
                "cluster": run.sample.run.cluster_of(row["cpu"]),
                "cpu": row["cpu"],
                "state": row["name"],
                "entries": row["usage"],
                "above": row["above"],
                "below": row["below"],
                "rejected": row["rejected"],
                "time_us": row["time_us"],
                "window_us": row["window_us"],
            }
            for row in _counted(run)
        ]
        return pa.Table.from_pylist(rows)

    @df("sleeps", ("power:cpu_idle",))
    def df_sleeps(self, run: Source) -> pa.Table:
        """Each sleep: when Linux asked for the state, when it was back, on gem5's time."""
        parts = []
        for cpus, cluster in run.platform.cpu_ranges():
            for cpu in (cpu for cpu in cpus if cpu in run.recording.changes):
                own = sleeps.sleeps(run.recording.changes[cpu])
                ended = own.end < sleeps.NEVER
                start, end, state = (column[ended] for column in own)
                columns = {
                    "cluster": [cluster.name] * start.size,
                    "cpu": [cpu] * start.size,
                    "state": [cluster.cstates[index].name for index in state.tolist()],
                    "start_s": start / TICK_HZ,
                    "asleep_us": (end - start) / TICKS_PER_US,
                }
                parts.append(pa.table(columns, schema=_SLEEPS))
        return pa.concat_tables(parts) if parts else _SLEEPS.empty_table()

    @plot(df_sleeps)
    def plot_sleeps(self, ax: Axes | None = None) -> Axes:
        """Distribution of the lengths of sleeps: for each state, the share of its sleeps up to each length."""
        table = self.arrow("sleeps")
        with house.axes(ax) as axis:
            for number, state in enumerate(sorted(set(table["state"].to_pylist()))):
                lengths = sorted(table.filter(pa.compute.equal(table["state"], state))["asleep_us"].to_pylist())
                shares = [(place + 1) / len(lengths) for place in range(len(lengths))]
                line = house.style.LINES[number % len(house.style.LINES)]
                axis.step(lengths, shares, where="post", color="black", linestyle=line, label=state)
            axis.set(xscale="log", xlabel="asleep for at most (µs)", ylabel="share of the sleeps", ylim=(0, 1.02))
            house.legend_beside(axis)
        return axis


_SLEEPS = pa.schema(
    [("cluster", pa.string()), ("cpu", pa.int32()), ("state", pa.string()), ("start_s", pa.float64()),
     ("asleep_us", pa.float64())]
)  # fmt: skip


def _counted(run: Source) -> list[cpuidle.Row]:
    own = run.sample.run
    rows = cpuidle.of_command(own.path, own.spec, own.manifest)
    if not rows:
        raise UserError(f"{run.shown}: its guest left no count of idle states ({CPUIDLE}); run the command again")
    return rows
