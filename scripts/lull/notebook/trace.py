# SPDX-License-Identifier: BSD-3-Clause
"""The trace itself: every event with its fields, and each CPU's time without a gap."""

import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.axes import Axes

from lull.errors import UserError
from lull.notebook import house
from lull.notebook.frame import Frame, frame_of
from lull.notebook.source import Source
from lull.notebook.views import Views, df, plot
from lull.trace import columns, spans
from lull.trace.clock import TICK_HZ, TICKS_PER_US

SPANS = ("power:cpu_idle", "sched:sched_switch", "irq")


class Trace(Views):
    """Linux's trace, on gem5's time."""

    @property
    def events(self) -> list[str]:
        """The names of the events that occur, in any of the runs."""
        return sorted({name for source in self._sources for name in source.counts})

    @df()
    def df_events(self, run: Source) -> pa.Table:
        """The number of events of each name."""
        found = run.counts
        systems = [run.trace_file.formats[name].system for name in found]
        return pa.table({"system": systems, "event": list(found), "count": list(found.values())})

    @df()
    def df_event(self, run: Source, name: str) -> pa.Table:
        """All events of a name, with the kernel's own fields: time_s, cpu, common_pid, and what its format says.

        `name` is that of an event, such as "sched_switch", with its system or without ("sched:sched_switch").
        """
        system, _, event = name.rpartition(":")
        known = run.trace_file.formats.get(event)
        if event not in run.counts or known is None or system not in ("", known.system):
            asked = name if system else f"{known.system}:{event}" if known else event
            raise UserError(f"{run.shown}: the trace has no event {name}; run with --trace {asked}")
        return columns.of_event(run.trace_file, event, run.recording.clock)

    @df("what CPUs were at", SPANS)
    def df_spans(self, run: Source) -> pa.Table:
        """Each CPU's time without gap or overlap: at work for whom, in an idle state, on the way in or out."""
        parts = []
        for own in spans.by_cpu(run.recording, run.platform):
            parts.append(
                pa.table(
                    {
                        "cluster": pa.array([run.sample.run.cluster_of(own.cpu)] * len(own.start), pa.string()),
                        "cpu": pa.array([own.cpu] * len(own.start), pa.int32()),
                        "start_s": own.start / TICK_HZ,
                        "length_us": (own.end - own.start) / TICKS_PER_US,
                        "state": pa.array([own.states[code] for code in own.state.tolist()], pa.string()),
                        "cause": pa.array([own.causes[code] for code in own.cause.tolist()], pa.string()),
                    }
                )
            )
        return pa.concat_tables(parts)

    @plot(df_spans)
    def plot_spans(self, ax: Axes | None = None) -> Axes:
        """One run, with a lane for each CPU: its state and work over time."""
        if not self._single:
            raise UserError("plot_spans: draws one run; choose one, such as by .point(name)")
        table = self.arrow("spans")
        states = sorted(set(table["state"].to_pylist()))
        cpus = sorted(set(table["cpu"].to_pylist()))
        begin = pc.min(table["start_s"]).as_py()
        with house.axes(ax, house.height_of(2 * len(cpus))) as axis:
            for number, state in enumerate(states):
                for lane, cpu in enumerate(cpus):
                    own = table.filter(pc.and_(pc.equal(table["state"], state), pc.equal(table["cpu"], cpu)))
                    starts = (own["start_s"].to_numpy() - begin) * 1e3
                    bars = list(zip(starts, own["length_us"].to_numpy() / 1e3, strict=True))
                    axis.broken_barh(
                        bars, (lane - 0.4, 0.8), label=state, linewidth=0, facecolor=f"C{number}",
                    )  # fmt: skip
            axis.set_yticks(range(len(cpus)), [f"CPU {cpu}" for cpu in cpus])
            axis.invert_yaxis()
            axis.set_xlabel("time (ms)")
            house.legend_beside(axis)
        return axis

    def __getitem__(self, name: str) -> Frame:
        """`trace["sched_switch"]` is short for `trace.df_event("sched_switch")`."""
        return frame_of(self.arrow("event", name), self._kind)
