# SPDX-License-Identifier: BSD-3-Clause
"""Wake-ups: their sources and the time of the way out."""

import pyarrow as pa
from matplotlib.axes import Axes

from lull.figures import traced_wakes, wake
from lull.notebook import house
from lull.notebook.source import Source
from lull.notebook.views import Views, df, plot
from lull.rundir.folder import FILES
from lull.trace import wakes
from lull.trace.clock import TICK_HZ

NEEDS = ("power:cpu_idle", "irq")
_EACH = pa.schema(
    [("cluster", pa.string()), ("cpu", pa.int32()), ("time_s", pa.float64()), ("state", pa.string()),
     ("source", pa.string()), ("armed_by", pa.string())]
)  # fmt: skip


def _measured(run: Source) -> bool:
    return (run.sample.run.path / FILES / wake.FILE).is_file()


class Wakes(Views):
    """Wake-ups: as the guest program wake-latency measured them, or as the trace has them."""

    @df("wake-ups", NEEDS, unless=_measured)
    def df_wake_ups(self, run: Source) -> pa.Table:
        """Each wake-up: from the interrupt to Linux (`out_us`), and from Linux to the task (`to_task_us`).

        A run of wake-latency measured them, and needs no trace. Of a trace, `to_task_us` is null without --trace sched
        and where no task ran; the interrupt's moment takes --trace timer and --trace ipi, and is else assumed to be as
        long before Linux as the platform file says.
        """
        if _measured(run):
            return traced_wakes.df_measured(run.sample)
        return traced_wakes.df_wake_ups(run.sample, run.recording)

    @plot(df_wake_ups)
    def plot_wake_ups(self, ax: Axes | None = None) -> Axes:
        """Means of both phases with the 95 % interval of their sum: by state and cluster, or by point."""
        table = self.arrow("wake_ups").sort_by([(key, "ascending") for key in ("state", "cluster")])
        keys = ["state", "cluster"] if self._single else ["point"]
        with house.axes(ax, house.height_of(table.group_by(keys).aggregate([]).num_rows)) as axis:
            traced_wakes.draw_wake_ups(axis, table, keys)
            house.legend_beside(axis)
        return axis

    @df("causes of wake-ups", NEEDS)
    def df_woken(self, run: Source) -> pa.Table:
        """Each wake-up: when Linux was back, on gem5's time, what woke the CPU, and who had armed that.

        `source` is `irq:NAME`, `timer:TASK/PID`, `timer:kernel` or `ipi:CPU`.
        Timers take --trace timer, IPIs --trace ipi.
        """
        rows = [
            {
                "cluster": run.sample.run.cluster_of(one.cpu),
                "cpu": one.cpu,
                "time_s": one.time / TICK_HZ,
                "state": one.state,
                "source": one.source,
                "armed_by": one.armed_by,
            }
            for one in wakes.of_recording(run.recording, run.platform)
        ]
        return pa.Table.from_pylist(rows, schema=_EACH)

    @df("causes of wake-ups", NEEDS)
    def df_sources(self, run: Source) -> pa.Table:
        """Counts of wake-ups by CPU, source and state."""
        table = traced_wakes.df_sources(run.sample, run.recording)
        return table.rename_columns(["count" if name == "count_all" else name for name in table.column_names])

    @plot(df_sources)
    def plot_sources(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """The sources that woke CPUs most often."""
        table = self.arrow("sources").group_by("source").aggregate([("count", "sum")])
        found = table.sort_by([("count_sum", "descending"), ("source", "ascending")]).slice(0, most).to_pylist()
        with house.axes(ax, house.height_of(len(found))) as axis:
            names = [row["source"] for row in found]
            axis.barh(names, [row["count_sum"] for row in found], color=house.style.GREYS[0], edgecolor="black")
            axis.invert_yaxis()
            axis.set_xlabel("wake-ups")
        return axis
