# SPDX-License-Identifier: BSD-3-Clause
"""The cost of unread events for CPUs that sleep, and the cost of routing these events away.

Three windows have the same length, and in all of them the CPUs may enter their deepest state only. `quiet` has no
event. `routed` has events that go to the shadow CPU while their consumer sleeps. `unrouted` has the same events without
routing.
"""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result, need
from lull.rundir.run import Run
from lull.scenario.runs import Runs

from .gem5_window import Gem5Window

GROUP = "routing"
FILE = "routing.jsonl"
WINDOWS = ("quiet", "routed", "unrouted")
GEM5_WINDOWS = {name: 3 + 2 * number for number, name in enumerate(WINDOWS)}
"""The numbers of gem5's windows for these. gem5 has others before and between them, and one for the settling window."""
ALL_GEM5_WINDOWS = 9
"""The number of all gem5's windows, with the one after the last."""
LENGTH_TOLERANCE = 0.1
"""The share by which gem5's window may be off: it is the guest's sleep and the start of a program or two."""
CAUSES = ("events", "ipis", "timers")
"""The causes that may wake a CPU."""

TOLERANCE = 0.005
"""The largest difference of a main CPU's residency in the deepest state, as a share of the window."""


@dataclass(frozen=True)
class RoutingSetup:
    clock_hz: int
    events: int
    window_us: int
    consumer: int
    shadow: int


def tables(runs: Runs) -> dict[str, pa.Table]:
    """Nothing where the platform has no shadow CPU."""
    found: dict[str, pa.Table] = {}
    for run in runs.group(GROUP):
        first, *lines = run.lines(FILE) or [{}]
        if "absent" in first:
            continue
        with run.understanding(FILE):
            machine = RoutingSetup(**first)
            found |= {"routing": df_windows(run, machine, lines), "routing-cost": df_cost(run, machine, lines)}
    return found


def extend(result: Result, engine: str, timed: bool) -> None:
    windows = need(result.tables, "routing", "asked", "consumer")
    result.summary += _text(windows, result.tables["routing-cost"])
    if engine == "gem5":
        result.checks += checks(windows, timed)


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("routing")
    if table is None or table["gated"].null_count:
        return []
    caption = (
        "Share of time that a core is off, and entries into the deepest state: without events, with events routed to "
        "the shadow CPU, and with the same events unrouted."
    )
    return [Drawing("routing", plot_windows(table, stored.label), caption)]


def df_windows(run: Run, machine: RoutingSetup, lines: list[dict[str, Any]]) -> pa.Table:
    """Return a row per window and CPU: entries into the deepest state, share of the window there, interrupts by cause.

    `residency` is Linux's share, with the way in and out. `gated` is gem5's share, of cores that stand still or are
    off. It leaves out the way in and out, so an event costs it both ways. Only gem5 knows `gated`. `asked` is the
    number of events that were to come in the window, and `consumer` marks the CPU whose events they are.
    """
    gated = _gated(run, machine) if run.spec.engine == "gem5" else {}
    counts: dict[tuple[str, str, int], dict[str, Any]] = {}
    for line in lines:
        if "window" in line:
            counts.setdefault((line["window"], line["edge"], line["cpu"]), {}).update(line)
    cpus = sorted({cpu for _, _, cpu in counts})
    rows: list[dict[str, object]] = []
    for window in WINDOWS:
        for cpu in cpus:
            begin, end = counts[window, "begin", cpu], counts[window, "end", cpu]
            length_us = (end["clock"] - begin["clock"]) * 1e6 / machine.clock_hz
            rows.append(
                {
                    "window": window,
                    "cluster": run.cluster_of(cpu),
                    "cpu": cpu,
                    "role": "shadow" if cpu == machine.shadow else "main",
                    "consumer": cpu == machine.consumer,
                    "asked": 0 if window == "quiet" else machine.events,
                    "entries": end["entries"] - begin["entries"],
                    "residency": (end["slept_us"] - begin["slept_us"]) / length_us,
                    "gated": gated.get((window, cpu)),
                    **{cause: end[cause] - begin[cause] for cause in CAUSES},
                }
            )
    table = pa.Table.from_pylist(rows)
    return table.set_column(table.column_names.index("gated"), "gated", table["gated"].cast(pa.float64()))


def _gated(run: Run, machine: RoutingSetup) -> dict[tuple[str, int], float]:
    """Return the share of time that a core is off, by window and CPU."""
    found: dict[tuple[str, int], float] = {}
    for name, number in GEM5_WINDOWS.items():
        window = Gem5Window(run, number, ALL_GEM5_WINDOWS, machine.window_us / 1e6, LENGTH_TOLERANCE)
        for cpus, _ in run.spec.platform.cpu_ranges():
            found |= {(name, cpu): window.gated_s(cpu) / window.seconds for cpu in cpus}
    return found


def df_cost(run: Run, machine: RoutingSetup, lines: list[dict[str, Any]]) -> pa.Table:
    """Return the time of a pass of the idle path that had a route to settle, on the consumer's clock."""
    cluster = run.cluster(machine.consumer)
    counts = {(line["way"], line["edge"]): line for line in lines if "way" in line}
    rows: list[dict[str, object]] = []
    for way in ("enter", "exit"):
        passes = counts[way, "end"]["passes"] - counts[way, "begin"]["passes"]
        ns = counts[way, "end"]["ns"] - counts[way, "begin"]["ns"]
        mhz = float(cluster.opps.table[-1].mhz)
        mean = ns / passes if passes else None
        rows.append(
            {
                "way": way,
                "cluster": cluster.name,
                "passes": passes,
                "mean_ns": mean,
                "clock_mhz": mhz,
                "mean_cycles": mean * mhz / 1000 if mean is not None else None,
            }
        )
    return pa.Table.from_pylist(rows)


def checks(windows: pa.Table, timed: bool) -> list[Check]:
    """Without times an event takes none, and what it costs unrouted cannot be seen."""
    by = {(row["window"], row["cpu"]): row for row in windows.to_pylist()}
    shadow = next(cpu for (_, cpu), row in by.items() if row["role"] == "shadow")
    consumer = next(cpu for (_, cpu), row in by.items() if row["consumer"])
    asked = by["unrouted", consumer]["asked"]
    main = sorted({cpu for _, cpu in by} - {shadow})
    apart = {cpu: by["routed", cpu]["gated"] - by["quiet", cpu]["gated"] for cpu in main}
    worst = max(main, key=lambda cpu: abs(apart[cpu]))
    few = asked // 10
    calls = asked // 4
    taken = {cpu: by["routed", cpu]["events"] for cpu in [*main, shadow]}
    called = {cpu: by["routed", cpu]["ipis"] - by["quiet", cpu]["ipis"] for cpu in main}
    most = max(main, key=lambda cpu: called[cpu])
    unrouted = by["unrouted", consumer]
    quiet = by["quiet", consumer]
    woken_unrouted = unrouted["entries"] - quiet["entries"]
    seen = quiet["gated"] - unrouted["gated"] > TOLERANCE or not timed
    return [
        Check(
            "routed events leave the main CPUs' residency unchanged",
            all(abs(value) <= TOLERANCE for value in apart.values()),
            f"worst on CPU {worst}: {by['quiet', worst]['gated']:.4f} without events, "
            f"{by['routed', worst]['gated']:.4f} with; may differ by {TOLERANCE}",
        ),
        Check(
            "only the shadow wakes for routed events",
            taken.pop(shadow) >= asked - few and sum(taken.values()) <= few and called[most] <= calls,
            f"it took {by['routed', shadow]['events']} of {asked}; the main CPUs, whose they are "
            f"while awake, {sum(taken.values())}, may {few}; "
            f"CPU {most} was called {called[most]} times more than without events, may {calls}",
        ),
        Check(
            "without routing they wake their consumer",
            unrouted["events"] == asked and woken_unrouted >= asked // 2 and seen,
            f"CPU {consumer} took {unrouted['events']} of {asked}, "
            f"slept {woken_unrouted} times more than without events, and was off {unrouted['gated']:.4f} of the time "
            f"instead of {quiet['gated']:.4f}" + (f"; has to differ by more than {TOLERANCE}" if timed else ""),
        ),
    ]  # fmt: skip


def plot_windows(windows: pa.Table, label: str) -> Figure:
    rows = windows.to_pylist()
    cpus = sorted({row["cpu"] for row in rows})
    names = [next(f"{row['cluster']} {cpu}" for row in rows if row["cpu"] == cpu) for cpu in cpus]
    figure, axes = style.panels(2, 2, 2.2)
    for axis, key, text in (
        (axes[0], "gated", "core off: share of the window"),
        (axes[1], "entries", "deepest state: entries"),
    ):
        for number, window in enumerate(WINDOWS):
            here = [next(row[key] for row in rows if (row["window"], row["cpu"]) == (window, cpu)) for cpu in cpus]
            axis.bar(
                [cpu + 0.26 * (number - 1) for cpu in range(len(cpus))], here, width=0.24, label=window,
                edgecolor="black", linewidth=0.5, **style.fill(number),
            )  # fmt: skip
        axis.set_xticks(range(len(cpus)), names)
        axis.set_ylabel(text)
    figure.suptitle(f"Events that nobody reads\n{label}")
    handles, labels = axes[0].get_legend_handles_labels()
    style.legend_below(figure, handles, labels)
    return figure


def _text(windows: pa.Table, cost: pa.Table) -> str:
    rows = [
        (
            row["window"], row["cluster"], row["cpu"], row["role"],
            *(row[cause] for cause in CAUSES), row["entries"], f"{row['residency']:.4f}",
            "not known" if row["gated"] is None else f"{row['gated']:.4f}",
        )
        for row in windows.to_pylist()
    ]  # fmt: skip
    headings = ("window", "cluster", "CPU", "", "events", "calls", "timer", "entries", "residency", "core off")
    passes = [
        (row["way"], row["cluster"], row["passes"], f"{row['mean_ns']:.0f}", f"{row['mean_cycles']:.0f}")
        for row in cost.to_pylist()
        if row["passes"]
    ]
    return (
        "\n## Events that nobody reads: the deepest state\n\n"
        + markdown_table(headings, rows)
        + "\n## What routing costs the idle path of the consumer\n\n"
        + markdown_table(("way", "cluster", "passes", "mean, ns", "mean, cycles"), passes)
    )
