# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the guest program `input-app`, cut into their repetitions.

The guest says when it ordered the windows of statistics; the architected counter is gem5's own time. So each
repetition has the joules of the windows within it, what the trace tells of that time, and the events that the hardware
raised in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lull.energy import clocks, rows, windows
from lull.figures import repetitions
from lull.rundir.folder import STATS_TABLE
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.trace import recording, spans, wakes
from lull.trace.clock import TICK_HZ, TICKS_PER_US
from lull.trace.recording import Recording
from lull.trace.spans import ACTIVE

FILE, EVENTS = "run.jsonl", "events.jsonl"
POWERS = ("power", "raw", "em", "cpus", "cores", "em_cores", "main", "shadow")
"""Watts of the whole machine: calibrated, McPAT's own, and by the backend `em`. `cpus`: without what clusters share,
which is memory above all; `main` and `shadow` are its parts. `cores`: without their L2s too, which is most of `cpus`
while no cluster goes off. `em_cores`: by `em`, which knows of no L2."""

Numbers = NDArray[np.float64]
_WRAPS = 1 << 32


@dataclass(frozen=True)
class Repetition:
    index: int
    seconds: float
    latency_us: Numbers
    """Latency from the hardware to the handler, by CLOCK_MONOTONIC, event by event."""
    wall_us: Numbers
    """The same by the wall clock, in its steps; NaN where nobody asked what it was at the hardware."""
    cpu_s: float
    """Seconds that the application had a CPU, by the trace: without interrupts."""
    wakes: Mapping[str, int]
    """Ends of sleeps of the main CPUs: `main` in all; of these `own`, by timers or calls that the application made, and
    `device`, by the event timer's interrupt or what it led to; and of the shadow CPU, `shadow`."""
    watts: Mapping[str, float]
    """Watts by POWERS; empty where times mean nothing."""
    clock: Mapping[str, float]
    """The mean clock of the application's CPU, `mhz`, and its voltage, `mv`; empty where times mean nothing."""


@dataclass(frozen=True)
class Measured:
    """A point with its repetitions, and what the guest says of the whole."""

    run: Run
    repetitions: tuple[Repetition, ...]
    windowed: int
    """Events that the schedule has in the windows, of those that the application is about."""
    handled: int
    """The number of these events that came to the handler."""
    in_order: bool
    lost: int
    clock_cpu_s: float
    """CPU time a second by the process's own clock, which counts the interrupts on top of it too."""

    @property
    def latency_us(self) -> Numbers:
        return np.concatenate([own.latency_us for own in self.repetitions])

    @property
    def wall_us(self) -> Numbers:
        return np.concatenate([own.wall_us for own in self.repetitions])


@dataclass(frozen=True)
class _Told:
    """The guest's own record of the run."""

    pid: int
    begin_ns: int
    begin: int
    """The begin of the first window, in ticks. `length` is that of each window."""
    length: int
    length_ns: int
    windows: int
    wall_hz: int


def read(runs: Runs) -> list[Measured]:
    """Return all finished points. Of points that have joules, write the ledger anew."""
    return [_read(run, runs.timed) for run in runs.runs]


def _read(run: Run, timed: bool) -> Measured:
    record = recording.load(run.rundir())
    lines = run.lines(FILE)
    with run.understanding(FILE):
        (line,) = lines
        told = _told(line, record)
        windowed, lost = int(line["windowed"]), int(line["lost"])
        clock_cpu_s = int(line["cpu_ns"]) / int(line["elapsed_ns"])
    edges = told.begin + told.length * np.arange(told.windows + 1)
    with run.understanding(EVENTS):
        events = _events(run.lines(EVENTS), told)
    cpu_s = _cpu_s(run, record, told, edges)
    woken = _wakes(run, record, told, edges)
    watts = _watts(run, edges) if timed else [{}] * told.windows
    clock = _clock(run, edges) if timed else [{}] * told.windows
    found = tuple(
        Repetition(
            index=index,
            seconds=told.length / TICK_HZ,
            latency_us=events["latency_us"][events["window"] == index],
            wall_us=events["wall_us"][events["window"] == index],
            cpu_s=cpu_s[index],
            wakes=woken[index],
            watts=watts[index],
            clock=clock[index],
        )
        for index in range(told.windows)
    )
    handled = sum(own.latency_us.size for own in found)
    in_order = bool((np.diff(events["serial"]) > 0).all())
    return Measured(run, found, windowed, handled, in_order, lost, clock_cpu_s)


def _told(line: Mapping[str, Any], record: Recording) -> _Told:
    settle_us, window_us = int(line["settle_us"]), int(line["window_us"])
    return _Told(
        pid=int(line["pid"]),
        begin_ns=int(line["ordered_ns"]) + settle_us * 1000,
        begin=int(line["ordered"]) * record.clock.period + settle_us * TICKS_PER_US,
        length=window_us * TICKS_PER_US,
        length_ns=window_us * 1000,
        windows=int(line["windows"]),
        wall_hz=int(line["wall_hz"]),
    )


def _events(lines: Sequence[Mapping[str, Any]], told: _Told) -> dict[str, Numbers]:
    names = ("serial", "hardware_ns", "handler_ns", "handler_count")
    column = {name: np.array([int(line[name]) for line in lines], np.int64) for name in names}
    hardware = np.array([np.nan if (count := line["hardware_count"]) is None else int(count) for line in lines], float)
    return {
        "serial": column["serial"].astype(np.float64),
        "window": np.floor_divide(column["hardware_ns"] - told.begin_ns, told.length_ns).astype(np.float64),
        "latency_us": (column["handler_ns"] - column["hardware_ns"]) / 1e3,
        "wall_us": (column["handler_count"] - hardware) % _WRAPS * 1e6 / told.wall_hz,
    }


def _cpu_s(run: Run, record: Recording, told: _Told, edges: NDArray[np.int64]) -> list[float]:
    """For each window, the seconds that some CPU was at work for the application."""
    found = np.zeros(told.windows)
    for part in spans.by_cpu(record, run.spec.platform):
        own = [number for number, cause in enumerate(part.causes) if _is_task(cause, told.pid)]
        at_work = np.isin(part.cause, own) & (part.state == part.states.index(ACTIVE))
        start, end = part.start[at_work], part.end[at_work]
        for index in range(told.windows):
            overlap = np.minimum(end, edges[index + 1]) - np.maximum(start, edges[index])
            found[index] += float(overlap[overlap > 0].sum()) / TICK_HZ
    return [float(value) for value in found]


def _wakes(run: Run, record: Recording, told: _Told, edges: NDArray[np.int64]) -> list[dict[str, int]]:
    platform = run.spec.platform
    roles = {cpu: platform.role(cluster) for cpus, cluster in platform.cpu_ranges() for cpu in cpus}
    counts = [dict.fromkeys(("main", "own", "device", "shadow"), 0) for _ in range(told.windows)]
    for wake in wakes.of_recording(record, platform):
        index = int(np.searchsorted(edges, wake.time, side="right")) - 1
        if not 0 <= index < told.windows:
            continue
        if roles[wake.cpu] != "main":
            counts[index]["shadow"] += 1
            continue
        counts[index]["main"] += 1
        if wake.armed_by is not None:
            kind = "own" if _is_task(wake.armed_by, told.pid) else "device"
            counts[index][kind] += kind == "own" or wake.armed_by.startswith("device:")
    return counts


def _is_task(text: str, pid: int) -> bool:
    return text.startswith("task:") and text.endswith(f"/{pid}")


def _watts(run: Run, edges: NDArray[np.int64]) -> list[dict[str, float]]:
    """Mean power of each repetition, by name."""
    clusters = run.spec.platform.resolved_clusters()
    shadows = {cluster.name for cluster in clusters if run.spec.platform.role(cluster) == "shadow"}
    found = repetitions.watts(run, edges, lambda row: _names(row, shadows))
    return [{name: own.get(name, 0.0) for name in POWERS} for own in found]


def _clock(run: Run, edges: NDArray[np.int64]) -> list[dict[str, float]]:
    """Mean clock and voltage of the application's cluster in each repetition."""
    platform = run.spec.platform
    number = next(
        number for number, (cpus, _) in enumerate(platform.cpu_ranges()) if int(run.values.get("cpu", 0)) in cpus
    )
    own = {number: platform.resolved_clusters()[number]}
    found = clocks.means(windows.read(run.rundir() / STATS_TABLE), own, edges.tolist())
    return [clock._asdict() for clock in found[number]]


def _names(row: Mapping[str, Any], shadows: set[str]) -> tuple[str, ...]:
    """The sums that a row of the ledger counts in."""
    shared = row["cluster"] is None
    if row["band"] == rows.RAW:
        return ("raw",) if row["backend"] == "mcpat" else ()
    if row["backend"] == "em":
        return ("em",) if shared else ("em", "em_cores")
    if shared:
        return ("power",)
    own = ("power", "cpus", "shadow" if row["cluster"] in shadows else "main")
    return own if row["cpu"] is None else (*own, "cores")
