# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `wake-latency`: what a wake-up costs, phase by phase, and whether to believe it."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.artist import Artist
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from lull.figures import wake
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs
from lull.statistics import bootstrap
from lull.statistics.bootstrap import Numbers

from . import firmware_path, linearity

STATES = "states"
"""The group whose points are the platform as it is."""
SHOWN = ("entry", "hardware", "firmware", "kernel", "interrupt", "task", "total")
STACK = {
    "interrupt": "event to handler, nothing stamped between",
    "hardware": "hardware, from the event",
    "firmware": "firmware",
    "kernel": "kernel, to the handler",
    "task": "handler to task",
}
INTERVAL, BAND = "95 % interval of the mean", "95 % band"
SHARES = {"median": 0.5, "p90": 0.9, "p99": 0.99}
ENOUGH = 2 / 3
"""The share of the wake-ups asked for that has to count. With fewer, those that count may be a biased choice.
Example: a tick that falls into the exit latency before the event leaves the CPU awake, and sleeps shorter than a
tick do not stop the tick."""


def analyse(runs: Runs) -> Result:
    recorded = wake.read(runs)
    wakes = wake.df_wakes(recorded)
    tables = {"wakes": wakes, "dropped": wake.df_dropped(recorded)}
    if runs.timed and (path := firmware_path.df_firmware_path(runs, wakes)).num_rows:
        tables["firmware-path"] = path
    return conclude(tables, runs.names, runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables alone. Quantiles and fitted lines are computed anew."""
    wakes, dropped = tables["wakes"], tables["dropped"]
    summary = df_summary(wakes.filter(pc.equal(wakes["group"], STATES)))
    result = Result(
        summary="## Phases of a wake-up, in µs, with 95 % intervals\n\n"
        + _summary_text(summary)
        + "\n## Wake-ups that do not count\n\n"
        + _dropped_text(dropped),
        tables={"wakes": wakes, "summary": summary, "dropped": dropped},
        checks=[_enough(dropped)],
    )
    if timed:
        linearity.extend(result, wakes)
        if (path := tables.get("firmware-path")) is not None:
            firmware_path.extend(result, path)
    return result


def draw(stored: Stored) -> list[Drawing]:
    wakes = stored.tables["wakes"]
    as_it_is = wakes.filter(pc.equal(wakes["group"], STATES))
    found = []
    if as_it_is.num_rows:
        text = "Mean time of each phase of a wake-up, and the 95 % interval of their sum."
        found.append(Drawing("phases", plot_phases(as_it_is, stored.label), text))
        text = "Distribution of the time from event to task; each curve is one idle state, with its 95 % band."
        found.append(Drawing("distribution", plot_distribution(as_it_is, stored.label), text))
    return [*found, *linearity.draw(stored), *firmware_path.draw(stored)]


def against(stored: Stored) -> list[Against]:
    return firmware_path.against(stored)


def df_summary(wakes: pa.Table) -> pa.Table:
    """Per cluster, state and phase: quantiles in µs, each with its bootstrap interval, and how many wake-ups."""
    rows: list[dict[str, object]] = []
    for cluster, state in wake.cells(wakes):
        here = wake.cell(wakes, cluster, state)
        for phase in SHOWN:
            values = wake.microseconds(here, phase)
            if not len(values):
                continue
            row: dict[str, object] = {"cluster": cluster, "state": state, "phase": phase, "n": len(values)}
            found = bootstrap.quantiles(values, list(SHARES.values()))
            for name, (point, low, high) in zip(SHARES, found, strict=True):
                row |= {f"{name}_us": point, f"{name}_low_us": low, f"{name}_high_us": high}
            rows.append(row)
    return pa.Table.from_pylist(rows)


def plot_phases(wakes: pa.Table, label: str) -> Figure:
    """A panel per state, because a deep one takes a hundred times as long as WFI; a bar per cluster."""
    states = sorted({state for _, state in wake.cells(wakes)})
    figure, axes = style.panels(len(states), 2, 1.5)
    handles: dict[str, Artist | Container] = {}
    for axis, state in zip(axes, states, strict=True):
        clusters = [cluster for cluster, other in wake.cells(wakes) if other == state]
        for row, cluster in enumerate(clusters):
            start = 0.0
            for phase, values in _stack(wake.cell(wakes, cluster, state)):
                length, number = float(values.mean()), list(STACK).index(phase)
                bar = axis.barh(
                    row, length, left=start, height=0.6, edgecolor="black", linewidth=0.5,
                    **style.fill(number),
                )  # fmt: skip
                handles.setdefault(STACK[phase], bar.patches[0])
                start += length
            # The phases' means add up to the mean of the whole.
            low, high = bootstrap.mean(wake.microseconds(wake.cell(wakes, cluster, state), "total"))
            interval = axis.errorbar(
                start, row, xerr=[[max(0.0, start - low)], [max(0.0, high - start)]], color="black", capsize=3,
                linewidth=1, linestyle="none",
            )  # fmt: skip
            handles.setdefault(INTERVAL, interval)
        axis.set_yticks(range(len(clusters)), clusters)
        axis.invert_yaxis()
        axis.set_title(state)
        axis.set_xlabel("mean time since the event (µs)")
    handles[INTERVAL] = handles.pop(INTERVAL)  # the last in the legend
    figure.suptitle(f"Phases of a wake-up\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles), columns=3)
    return figure


def plot_distribution(wakes: pa.Table, label: str) -> Figure:
    """A panel per cluster, a curve per state, told apart by dashes."""
    clusters = list(dict.fromkeys(cluster for cluster, _ in wake.cells(wakes)))
    figure, axes = style.panels(len(clusters), min(3, len(clusters)), 2.2, shared=True)
    handles: dict[str, Artist] = {}
    for axis, cluster in zip(axes, clusters, strict=True):
        for state in [other for name, other in wake.cells(wakes) if name == cluster]:
            every = wake.microseconds(wake.cell(wakes, cluster, state), "total")
            values, counts = np.unique(every, return_counts=True)
            shares = np.cumsum(counts) / len(every)
            dashes = style.LINES[(int(state[1:]) - 1) % 4]
            apart = bootstrap.band(len(every))
            shade = axis.fill_between(
                values, np.clip(shares - apart, 0, 1), np.clip(shares + apart, 0, 1), step="post", color="0.85",
                linewidth=0,
            )  # fmt: skip
            (line,) = axis.step(values, shares, where="post", color="black", linestyle=dashes, linewidth=1)
            handles.setdefault(state, line)
            handles.setdefault(BAND, shade)
        axis.set_xscale("log")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_title(cluster)
        axis.set_xlabel("event to task (µs)")
        axis.grid(visible=True, which="major", color="0.85", linewidth=0.5)
    handles[BAND] = handles.pop(BAND)
    axes[0].set_ylabel("share of wake-ups")
    figure.suptitle(f"Time from event to task\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles))
    return figure


def _stack(here: pa.Table) -> list[tuple[str, Numbers]]:
    """The phases that follow each other from event to task: the finest that were stamped."""
    fine = len(wake.microseconds(here, "firmware")) > 0
    names = ("hardware", "firmware", "kernel", "task") if fine else ("interrupt", "task")
    return [(name, wake.microseconds(here, name)) for name in names]


def _enough(dropped: pa.Table) -> Check:
    totals: dict[tuple[str, str], list[int]] = {}
    for row in dropped.to_pylist():
        kept_all = totals.setdefault((row["point"], row["cluster"]), [0, 0])
        kept_all[0] += row["count"] if row["reason"] == "kept" else 0
        kept_all[1] += row["count"]
    (point, cluster), (kept, asked) = min(totals.items(), key=lambda item: item[1][0] / item[1][1])
    says = f"least in {point} on {cluster}: {kept} of {asked}; at least {ENOUGH:.0%} have to"
    return Check("wake-ups that count", kept >= ENOUGH * asked, says)


def _summary_text(summary: pa.Table) -> str:
    rows: list[Sequence[object]] = [
        (
            row["cluster"], row["state"], row["phase"], row["n"],
            *(f"{row[f'{n}_us']:.2f} [{row[f'{n}_low_us']:.2f}, {row[f'{n}_high_us']:.2f}]" for n in SHARES),
        )
        for row in summary.to_pylist()
    ]  # fmt: skip
    return markdown_table(("cluster", "state", "phase", "n", *SHARES), rows)


def _dropped_text(dropped: pa.Table) -> str:
    counts: dict[str, int] = {}
    for row in dropped.to_pylist():
        counts[row["reason"]] = counts.get(row["reason"], 0) + row["count"]
    rows = [(counts[reason], reason, why) for reason, why in wake.REASONS.items() if reason in counts]
    return markdown_table(("count", "reason", "meaning"), rows)
