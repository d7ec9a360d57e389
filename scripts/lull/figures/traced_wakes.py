# SPDX-License-Identifier: BSD-3-Clause
"""What a wake-up took, of any traced run: from the interrupt to Linux, and on to the task if one runs.

The trace's way out begins when the timer was due or the IPI was sent; where that is not known it is as long as the
platform file says (`lull.trace.spans`), so these are no measurements of the state itself: `lull run wake-latency` is.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from lull.figures import bootstrap, style
from lull.platform.schema import Platform
from lull.rundir import RunDir
from lull.trace import recording, spans, wakes
from lull.trace.clock import TICK_HZ
from lull.trace.origins import TASK
from lull.trace.spans import ACTIVE, ENTRY, EXIT, Span

PHASES = {"out": "interrupt to Linux", "to_task": "Linux to the task"}
_US = TICK_HZ / 10**6
_SCHEMA = pa.schema(
    [("cluster", pa.string()), ("cpu", pa.int32()), ("state", pa.string()), ("out_us", pa.float64()),
     ("to_task_us", pa.float64())]
)  # fmt: skip


def df_wake_ups(rundir: RunDir) -> pa.Table:
    """A row per wake-up; `to_task_us` is null where the CPU went back to sleep without a task."""
    platform = rundir.spec().platform
    record = recording.load(rundir)
    rows = [
        {"cluster": _cluster(platform, part.cpu), "cpu": part.cpu, **row}
        for part in spans.by_cpu(record, platform)
        for row in _of_cpu(list(part))
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def df_sources(rundir: RunDir) -> pa.Table:
    """How often each CPU was woken by what, out of which state."""
    found = wakes.wakes(rundir)
    columns = {"cpu": [wake.cpu for wake in found], "source": [wake.source for wake in found]}
    table = pa.table({**columns, "state": [wake.state for wake in found]})
    counted = table.group_by(["cpu", "source", "state"]).aggregate([([], "count_all")])
    return counted.sort_by([("count_all", "descending"), ("cpu", "ascending"), ("source", "ascending")])


def plot_wake_ups(table: pa.Table) -> Figure:
    """A panel per state, a bar per cluster: mean of both phases, with the 95 % interval of their sum."""
    states = sorted(set(table["state"].to_pylist()))
    figure, axes = style.panels(len(states), 2, 1.5)
    handles: dict[str, Artist] = {}
    for axis, state in zip(axes, states, strict=True):
        here = table.filter(pc.equal(table["state"], state))
        clusters = list(dict.fromkeys(here["cluster"].to_pylist()))
        for row, cluster in enumerate(clusters):
            own = here.filter(pc.equal(here["cluster"], cluster))
            reached = own.filter(pc.is_valid(own["to_task_us"]))
            counted = reached if reached.num_rows else own
            start = 0.0
            for number, (name, text) in enumerate(PHASES.items()):
                values = counted[f"{name}_us"].drop_null().to_numpy()
                if not len(values):
                    continue
                bar = axis.barh(
                    row, float(values.mean()), left=start, height=0.6, color=style.GREYS[number],
                    hatch=style.HATCHES[number], edgecolor="black", linewidth=0.5,
                )  # fmt: skip
                handles.setdefault(text, bar.patches[0])
                start += float(values.mean())
            low, high = bootstrap.mean(pc.add(counted["out_us"], pc.fill_null(counted["to_task_us"], 0.0)).to_numpy())
            axis.errorbar(
                start, row, xerr=[[max(0.0, start - low)], [max(0.0, high - start)]], color="black", capsize=3,
                linestyle="none", label="95 % interval of the mean",
            )  # fmt: skip
        axis.set_yticks(range(len(clusters)), clusters)
        axis.invert_yaxis()
        axis.set_title(state)
        axis.set_xlabel("mean time since the interrupt (µs)")
    figure.suptitle("Wake-ups, by the trace")
    style.legend_below(figure, list(handles.values()), list(handles))
    return figure


def _of_cpu(own: list[Span]) -> Iterator[dict[str, object]]:
    for place, span in enumerate(own):
        if span.state != EXIT or not place or own[place - 1].state in (ACTIVE, ENTRY):
            continue  # of a sleep that the trace begins in, the state is not known
        task = None
        for later in own[place + 1 :]:
            if later.state != ACTIVE:
                break
            if later.cause.startswith(TASK):
                task = (later.start - span.end) / _US
                break
        yield {"state": own[place - 1].state, "out_us": (span.end - span.start) / _US, "to_task_us": task}


def _cluster(platform: Platform, cpu: int) -> str:
    return next(cluster.name for cpus, cluster in platform.cpu_ranges() if cpu in cpus)
