# SPDX-License-Identifier: BSD-3-Clause
"""Durations of wake-ups in any traced run: from the interrupt to Linux, and from there to the task, if one runs.

In runs of the guest program wake-latency, both are measured: from the event to the handler, and to the task.

In other runs, the exit begins when the timer was due or the IPI was sent. If that is not known, the exit's length is
the platform file's (`lull.trace.spans`). So these are no measurements of an idle state; use `lull run wake-latency` for
those.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lull.errors import UserError
from lull.figures import wake
from lull.figures.sample import Sample
from lull.platform.schema import Platform
from lull.plotting import style
from lull.rundir.folder import FILES, TRACE
from lull.statistics import bootstrap
from lull.trace import recording, spans, wakes
from lull.trace.clock import TICKS_PER_US
from lull.trace.origins import TASK
from lull.trace.recording import Recording
from lull.trace.spans import ACTIVE, ENTRY, EXIT, SWITCH, Span

PHASES = {"out": "interrupt to Linux", "to_task": "Linux to the task"}
_SCHEMA = pa.schema(
    [("cluster", pa.string()), ("cpu", pa.int32()), ("state", pa.string()), ("out_us", pa.float64()),
     ("to_task_us", pa.float64())]
)  # fmt: skip


def df_wake_ups(point: Sample, record: Recording | None = None) -> pa.Table:
    """Return a row per wake-up. `to_task_us` is null if the CPU went back to sleep without a task. `record` is the
    point's trace, here and below, if the caller has read it already."""
    platform = point.run.spec.platform
    record = record or recording.load(point.run.rundir())
    rows = [
        {"cluster": _cluster(platform, part.cpu), "cpu": part.cpu, **row}
        for part in spans.by_cpu(record, platform)
        for row in _of_cpu(list(part))
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def df_measured(point: Sample) -> pa.Table:
    """Return the same rows from a run of wake-latency, one per wake-up that was as ordered."""
    run = point.run
    samples = wake.read_records(run.file(wake.FILE))
    kept = samples.rows[wake.reasons(samples.rows, expects_firmware=False) == 0]
    places = {cpu: run.place_of(cpu)[:2] for cpu in np.unique(kept["cpu"]).tolist()}
    states = {
        (cpu, index): run.spec.platform.resolved_clusters()[place].cstates[index].name
        for cpu, (place, _) in places.items()
        for index in np.unique(kept["state"][kept["cpu"] == cpu]).tolist()
    }
    scale = 1e6 / samples.frequency
    columns = {
        "cluster": [places[cpu][1] for cpu in kept["cpu"].tolist()],
        "cpu": kept["cpu"].astype(np.int32),
        "state": [states[place] for place in zip(kept["cpu"].tolist(), kept["state"].tolist(), strict=True)],
        "out_us": (kept["irq"] - kept["event"]) * scale,
        "to_task_us": (kept["task"] - kept["irq"]) * scale,
    }
    return pa.table(columns, schema=_SCHEMA)


def df_by_point(points: Sequence[Sample]) -> pa.Table:
    """Return the wake-ups of all points, measured or traced. A point whose trace lost events has none."""
    found = []
    for point in points:
        try:
            if (point.run.path / FILES / wake.FILE).is_file():
                table = df_measured(point)
            elif (point.run.path / TRACE).is_file():
                table = df_wake_ups(point)
            else:
                continue
        except UserError:
            continue
        found.append(table.append_column("point", pa.array([point.title or "run"] * table.num_rows, pa.string())))
    return pa.concat_tables(found) if found else _SCHEMA.append(pa.field("point", pa.string())).empty_table()


def plot_by_point(table: pa.Table) -> Figure:
    """Draw a bar for each point: the means of both phases over all its wake-ups that led to a task."""
    reached = table.filter(pc.is_valid(table["to_task_us"]))
    figure, (axis,) = style.panels(1, 1, 0.6 + 0.2 * len(set(reached["point"].to_pylist())))
    draw_wake_ups(axis, reached, ["point"])
    figure.suptitle("Wake-ups by point")
    return figure


def draw_wake_ups(axis: Axes, table: pa.Table, keys: Sequence[str]) -> None:
    """Draw a bar for each combination of keys: the means of both phases, with the 95 % interval of their sum.

    The means are over wake-ups that led to a task, or over all wake-ups if none did.
    """
    handles: dict[str, Artist] = {}
    groups = list(dict.fromkeys(tuple(row.values()) for row in table.select(keys).to_pylist()))
    for row, group in enumerate(groups):
        own = table
        for key, value in zip(keys, group, strict=True):
            own = own.filter(pc.equal(own[key], value))
        reached = own.filter(pc.is_valid(own["to_task_us"]))
        _bar(axis, row, reached if reached.num_rows else own, handles)
    axis.set_yticks(range(len(groups)), [" ".join(group) for group in groups])
    axis.invert_yaxis()
    axis.set_xlabel("mean time since the interrupt (µs)")


def df_sources(point: Sample, record: Recording | None = None) -> pa.Table:
    """Return the counts of wake-ups by CPU, source and state."""
    found = wakes.of_recording(record or recording.load(point.run.rundir()), point.run.spec.platform)
    columns = {"cpu": [wake.cpu for wake in found], "source": [wake.source for wake in found]}
    table = pa.table({**columns, "state": [wake.state for wake in found]})
    counted = table.group_by(["cpu", "source", "state"], use_threads=False).aggregate([([], "count_all")])
    return counted.sort_by([("count_all", "descending"), ("cpu", "ascending"), ("source", "ascending")])


def plot_wake_ups(table: pa.Table) -> Figure:
    """Draw a panel per state, with a bar per cluster: means of both phases, and the 95 % interval of their sum."""
    states = sorted(set(table["state"].to_pylist()))
    figure, axes = style.panels(len(states), 2, 1.5)
    handles: dict[str, Artist] = {}
    for axis, state in zip(axes, states, strict=True):
        draw_wake_ups(axis, table.filter(pc.equal(table["state"], state)), ["cluster"])
        axis.set_title(state)
        for handle, text in zip(*axis.get_legend_handles_labels(), strict=True):
            if text in PHASES.values():
                handles.setdefault(text, handle)
    figure.suptitle("Wake-ups, by the trace")
    style.legend_below(figure, list(handles.values()), list(handles))
    return figure


def _bar(axis: Axes, row: int, counted: pa.Table, handles: dict[str, Artist]) -> None:
    """Draw both phases end to end, with the interval of their sum."""
    start = 0.0
    for number, (name, text) in enumerate(PHASES.items()):
        values = counted[f"{name}_us"].drop_null().to_numpy()
        if not len(values):
            continue
        bar = axis.barh(
            row, float(values.mean()), left=start, height=0.6, edgecolor="black", linewidth=0.5,
            label=text, **style.fill(number),
        )  # fmt: skip
        handles.setdefault(text, bar.patches[0])
        start += float(values.mean())
    low, high = bootstrap.mean(pc.add(counted["out_us"], pc.fill_null(counted["to_task_us"], 0.0)).to_numpy())
    axis.errorbar(
        start, row, xerr=[[max(0.0, start - low)], [max(0.0, high - start)]], color="black", capsize=3,
        linestyle="none", label="95 % interval of the mean",
    )  # fmt: skip


def _of_cpu(own: list[Span]) -> Iterator[dict[str, object]]:
    for place, span in enumerate(own):
        if span.state != EXIT:
            continue
        first = place - 1 if place and own[place - 1].state == SWITCH else place
        if not first or own[first - 1].state in (ACTIVE, ENTRY):
            continue  # the trace begins during this sleep, so its state is not known
        task = None
        for later in own[place + 1 :]:
            if later.state != ACTIVE:
                break
            if later.cause.startswith(TASK):
                task = (later.start - span.end) / TICKS_PER_US
                break
        out_us = (span.end - own[first].start) / TICKS_PER_US
        yield {"state": own[first - 1].state, "out_us": out_us, "to_task_us": task}


def _cluster(platform: Platform, cpu: int) -> str:
    return next(cluster.name for cpus, cluster in platform.cpu_ranges() if cpu in cpus)
