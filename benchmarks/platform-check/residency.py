# SPDX-License-Identifier: BSD-3-Clause
"""The time that each CPU slept, by three sources that do not know of each other.

- gem5: time in the power states `CLK_GATED` and `OFF`, a core that stands in WFI or is off, and time spent on latency
  devices, by which hardware enters and leaves a state.
- the firmware's PSCI_STAT: time between its last stamp on the way down and the first one on the way up.
- Linux's cpuidle: time from before the call that sleeps until after it.

The times nest: Linux's time holds the firmware's path, once a sleep. The sleeps of `platform-check` are long, so that
this path is small, and its length per sleep is given as well. gem5 knows the time on latency devices by cluster. Where
a cluster has several CPUs, this time is shared out by how often each of them slept. C1 is Linux's own WFI, which the
firmware never sees. The firmware counts the sleep of a core under the state that turns off the core, also when its
cluster goes off with it. The firmware counts the sleep of a cluster once, so a CPU's total leaves clusters out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lull.errors import UserError
from lull.rundir.run import Run
from lull.scenario.runs import Runs

from .gem5_window import Gem5Window

GROUP = "residency"
FILE = "residency.jsonl"
COUNTERS = ("time", "usage", "above", "below", "rejected")
WINDOWS = 3
"""The number of gem5's windows: before, between and after the two moments at which the guest has gem5 dump."""
CLOCK_TOLERANCE = 1e-3
CLUSTER_OFF = "cluster-off"


@dataclass(frozen=True)
class Stretch:
    """The guest's counts between the two moments of one run."""

    run: Run
    asked: str
    seconds: float
    counts: Mapping[tuple[str, int, str], Mapping[str, int]]
    """The gain of each counter, by source, CPU and state."""


def read(runs: Runs) -> list[Stretch]:
    return [_window(run) for run in runs.group(GROUP)]


def df_residency(windows: Sequence[Stretch]) -> pa.Table:
    """Return a row per point and CPU: seconds asleep by each source (null where it does not know), and how often."""
    return pa.Table.from_pylist([row for window in windows for row in _rows_of(window)], _SCHEMA)


def df_cpuidle(windows: Sequence[Stretch]) -> pa.Table:
    """Return Linux's counters of each state in the window: time, usage, too deep (`above`), too light (`below`),
    refused."""
    rows = [
        {
            "point": window.run.name,
            "cluster": window.run.cluster_of(cpu),
            "cpu": cpu,
            "state": state,
            **{name: counts.get(name) for name in COUNTERS},
        }
        for window in windows
        for (source, cpu, state), counts in window.counts.items()
        if source == "linux"
    ]
    return pa.Table.from_pylist(rows)


_SCHEMA = pa.schema(
    [
        ("point", pa.string()),
        ("asked", pa.string()),
        ("cluster", pa.string()),
        ("cpu", pa.int32()),
        ("window_s", pa.float64()),
        ("linux_s", pa.float64()),
        ("firmware_s", pa.float64()),
        ("gem5_s", pa.float64()),
        ("gem5_gated_s", pa.float64()),
        ("sleeps", pa.int64()),
    ]
)


def _rows_of(window: Stretch) -> Iterator[dict[str, object]]:
    run = window.run
    stats = Gem5Window(run, 1, WINDOWS, window.seconds, CLOCK_TOLERANCE) if run.spec.engine == "gem5" else None
    by_cpu = _linux_counts(window)
    for cpu, ours in by_cpu.items():
        theirs = {key[2]: counts for key, counts in window.counts.items() if key[:2] == ("firmware", cpu)}
        gated = stats.gated_s(cpu) if stats else None
        waited = stats.waited_s(run.place_of(cpu)[0]) * _share_of_sleeps(run, by_cpu, cpu) if stats else 0.0
        yield {
            "point": run.name,
            "asked": window.asked,
            "cluster": run.cluster_of(cpu),
            "cpu": cpu,
            "window_s": window.seconds,
            "linux_s": sum(counts["time"] for counts in ours.values()) / 1e6,
            "firmware_s": _firmware_s(run, cpu, theirs) if theirs and window.asked != "C1" else None,
            "gem5_s": gated + waited if gated is not None else None,
            "gem5_gated_s": gated,
            "sleeps": _sleeps(ours),
        }


def _linux_counts(window: Stretch) -> dict[int, dict[str, Mapping[str, int]]]:
    """Return Linux's counts by CPU and state."""
    found: dict[int, dict[str, Mapping[str, int]]] = {}
    for (source, cpu, state), counts in sorted(window.counts.items()):
        if source == "linux":
            found.setdefault(cpu, {})[state] = counts
    return found


def _sleeps(counts: Mapping[str, Mapping[str, int]]) -> int:
    return sum(numbers["usage"] for numbers in counts.values())


def _share_of_sleeps(run: Run, by_cpu: Mapping[int, Mapping[str, Mapping[str, int]]], cpu: int) -> float:
    """Return a CPU's share of the sleeps of its cluster."""
    cluster = run.place_of(cpu)[0]
    sleeps = {other: _sleeps(counts) for other, counts in by_cpu.items() if run.place_of(other)[0] == cluster}
    return sleeps[cpu] / (sum(sleeps.values()) or 1)


def _firmware_s(run: Run, cpu: int, counts: Mapping[str, Mapping[str, int]]) -> float:
    cluster = run.cluster(cpu)
    of_cores = {state.name for state in cluster.cstates if state.kind != CLUSTER_OFF}
    return sum(numbers["time"] for state, numbers in counts.items() if state in of_cores) / 1e6


def _window(run: Run) -> Stretch:
    path = run.file(FILE)
    lines = run.lines(FILE)
    clocks: dict[str, dict[str, Any]] = {}
    counters: dict[str, dict[tuple[str, int, str], dict[str, int]]] = {"begin": {}, "end": {}}
    with run.understanding(FILE):
        for line in lines:
            if line["source"] == "counter":
                clocks[line["edge"]] = line
            else:
                key = (str(line["source"]), int(line["cpu"]), str(line["state"]))
                counters[line["edge"]][key] = {name: int(line[name]) for name in COUNTERS if name in line}
        begin, end = clocks["begin"], clocks["end"]
        asked, seconds = str(begin["asked"]), (end["ticks"] - begin["ticks"]) / begin["frequency"]
    if counters["begin"].keys() != counters["end"].keys() or not counters["begin"]:
        raise UserError(f"{path}: its two moments do not hold the same counters; run the point again")
    gained = {
        key: {name: value - counters["begin"][key][name] for name, value in counts.items()}
        for key, counts in counters["end"].items()
    }
    return Stretch(run, asked, seconds, gained)
