# SPDX-License-Identifier: BSD-3-Clause
"""Reads runs of the guest program `input-app`, and cuts them into repetitions.

The guest records when it ordered the windows of statistics. Its clock, the architected counter, is gem5's own time. So
each repetition gets the joules of its windows, the numbers of the trace in this time, and the hardware's events in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lull.energy import rows
from lull.figures import repetitions
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.trace import recording, spans, wakes
from lull.trace.clock import TICK_HZ, TICKS_PER_US
from lull.trace.recording import Recording
from lull.trace.spans import ACTIVE

FILE, EVENTS = "run.jsonl", "events.jsonl"
POWERS = ("power", "raw", "em", "cpus", "cores", "em_cores", "main", "shadow")
"""Watts by name. Of the whole machine: `power` is calibrated, `raw` is McPAT's own, `em` is by the backend `em`.
`cpus` is calibrated, and leaves out all that clusters share, above all memory. Its parts are `main` and `shadow`.
`cores` also leaves out L2s, and is most of `cpus` while no cluster goes off. `em_cores` is by `em`, which has no L2."""

Numbers = NDArray[np.float64]
_WRAPS = 1 << 32


@dataclass(frozen=True)
class Repetition:
    index: int
    seconds: float
    latency_us: Numbers
    """The latency of each event from the hardware to the handler, by CLOCK_MONOTONIC."""
    wall_us: Numbers
    """The same latency by the wall clock, in its steps; NaN if the wall clock was not read at the hardware's event."""
    cpu_s: float
    """Seconds in which the application ran on a CPU, by the trace. Interrupts do not count."""
    wakes: Mapping[str, int]
    """Counts of wake-ups. `main` is of the main CPUs: of these, `own` are by timers or calls of the application, and
    `device` by the event timer's interrupt or its consequences. `shadow` is of the shadow CPU."""
    watts: Mapping[str, float]
    """Watts by the names in POWERS; empty for runs without timing."""
    clock: Mapping[str, float]
    """Mean clock `mhz` and voltage `mv` of the application's CPU; empty for runs without timing."""


@dataclass(frozen=True)
class Measured:
    """A point with its repetitions, and the guest's counts for the whole run."""

    run: Run
    repetitions: tuple[Repetition, ...]
    windowed: int
    """The number of events in the windows, by the schedule, that the application asks for."""
    handled: int
    """The number of these events that came to the handler."""
    in_order: bool
    lost: int
    clock_cpu_s: float
    """CPU time per second by the process's own clock, which also counts interrupts during the process."""

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
    """The begin of the first window, in ticks. `length` is the length of each window, in ticks."""
    length: int
    length_ns: int
    windows: int
    wall_hz: int


def read(runs: Runs) -> list[Measured]:
    """Return all finished points. Write the ledger of timed points again."""
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
    """Return for each window the seconds in which CPUs ran the application."""
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
    """Return the mean power of each repetition, by the names in POWERS."""
    clusters = run.spec.platform.resolved_clusters()
    shadows = {cluster.name for cluster in clusters if run.spec.platform.role(cluster) == "shadow"}
    found = repetitions.watts(run, edges, lambda row: _names(row, shadows))
    return [{name: own.get(name, 0.0) for name in POWERS} for own in found]


def _clock(run: Run, edges: NDArray[np.int64]) -> list[dict[str, float]]:
    """Return the mean clock and voltage of the application's cluster in each repetition."""
    cpu = int(run.values.get("cpu", 0))
    (own,) = (cluster.name for cpus, cluster in run.spec.platform.cpu_ranges() if cpu in cpus)
    return [clock._asdict() for clock in repetitions.clocks(run, edges)[own]]


def _names(row: Mapping[str, Any], shadows: set[str]) -> tuple[str, ...]:
    """Return the names in POWERS to which a row of the ledger is added."""
    shared = row["cluster"] is None
    if row["band"] == rows.RAW:
        return ("raw",) if row["backend"] == "mcpat" else ()
    if row["backend"] == "em":
        return ("em",) if shared else ("em", "em_cores")
    if shared:
        return ("power",)
    own = ("power", "cpus", "shadow" if row["cluster"] in shadows else "main")
    return own if row["cpu"] is None else (*own, "cores")
