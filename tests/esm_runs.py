# SPDX-License-Identifier: BSD-3-Clause
"""Finished points of the ESM scenarios with known answers: what `input-app`, the trace and gem5 would have left."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lull.figures.esm import runs as esm_runs
from lull.platform.schema import Platform
from lull.rundir.folder import FILES, MANIFEST, STATS_TABLE, TRACE
from lull.runspec.spec import EngineName
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import load_scenario
from lull.scenario.points import Point, Wishes, resolve, select
from lull.scenario.runs import Runs, read
from lull.trace import recording, spans
from lull.trace.activity import AWAKE
from lull.trace.recording import Recording
from tests import energy_runs, recordings
from tests import wakes as made_runs
from tests.energy_runs import HZ, MS, US, window
from tests.recordings import CLOCK, DEVICE_LINE, TIMER_LINE

PID = 7
NAMES = ["idle", f"task:input-app/{PID}"]
IDLE, APP = range(2)
C4 = 3
ORDERED = 2 * MS
"""When the guest ordered the windows, about: it says so in whole counts."""
SETTLE, LENGTH = 3 * MS, 10 * MS
POLL_US = 20
TIMER = 0xABC


@dataclass(frozen=True)
class Made:
    """The events of each window by their latencies, each of which woke the CPU for `work_us`, and polls."""

    latency_us: Sequence[Sequence[float]]
    polls: int = 0
    work_us: int = 50
    missing: int = 0
    """Number of events that the schedule had besides."""
    wall_gap_us: float = 0.0
    """Microseconds that the wall clock says more."""
    clocked: bool = True
    """True if somebody asked what the wall clock was at the hardware."""
    cut_at: int | None = None
    """Somebody else's dump of statistics, across the edges of windows."""


def runs(
    out: Path,
    name: str,
    make: Callable[[Point], Made],
    monkeypatch: pytest.MonkeyPatch,
    patterns: Sequence[str] = (),
    engine: str = "gem5",
) -> Runs:
    """The scenario's points of these names, each with what is made of it. Caches are full in each sleep, so that all
    windows are alike."""
    full = np.array(spans.SLICES)
    monkeypatch.setattr(spans, "_lost", lambda *_: spans._Lost(full, full))
    scenario = load_scenario(name)
    points = select(_points(name, "gem5" if engine == "gem5" else "qemu"), patterns)
    sweep = ScenarioFolder.create(out, scenario.name, "./lull run", points)
    records: dict[Path, Recording] = {}
    for point in points:
        folder = sweep.folder(point.name)
        records[folder] = _finish(folder, point, make(point), engine)
    monkeypatch.setattr(recording, "load", lambda rundir: records[rundir.path])
    return read(sweep, scenario)


@cache
def _points(name: str, engine: EngineName) -> list[Point]:
    """Each point resolves a platform of its own, which takes longer than all that is done with it here."""
    return resolve(load_scenario(name), Wishes(engine))


def begin() -> int:
    """The first window's tick."""
    return ORDERED // CLOCK.period * CLOCK.period + SETTLE


def _finish(folder: Path, point: Point, made: Made, engine: str) -> Recording:
    rundir = made_runs.finish(folder, point, {**made_runs.ENGINE, "name": engine})
    platform = point.spec.platform
    windows = len(made.latency_us)
    _write_guest(rundir / FILES, made)
    end = begin() + windows * LENGTH + 2 * MS
    awake, tables = _wakes(made)
    edges = [0, begin(), *(begin() + LENGTH * (index + 1) for index in range(windows)), end]
    if made.cut_at is not None:
        edges[made.cut_at] += LENGTH // 3
    statistics = [_window(platform, start, stop, awake) for start, stop in pairwise(edges)]
    energy_runs.statistics(rundir / STATS_TABLE, statistics)
    (rundir / TRACE).touch()
    details = {"start_tick": 0, "ticks": end, "tick_hz": HZ}
    manifest = rundir.read_json(MANIFEST)
    rundir.write_json(MANIFEST, {**manifest, "stats_windows": len(statistics), "details": details})
    held = [[(0, AWAKE, IDLE), (US, C4, IDLE)] for _ in range(platform.cpu_count)]
    for start, stop in awake:
        held[0] += [(start, AWAKE, APP), (stop, C4, IDLE)]
    return recordings.recording(held, NAMES, 0, end, tables)


def _write_guest(files: Path, made: Made) -> None:
    begin_ns = ORDERED * 1000 // US + SETTLE * 1000 // US
    events: list[dict[str, object]] = []
    for index, latencies in enumerate(made.latency_us):
        for number, latency in enumerate(latencies):
            hardware_ns = begin_ns + (index * LENGTH + _event_at(number)) * 1000 // US
            count = hardware_ns // 1000 % (1 << 32)
            events.append(
                {
                    "serial": len(events) + 7, "type": 1, "hardware_ns": hardware_ns,
                    "handler_ns": hardware_ns + round(latency * 1000),
                    "hardware_count": count if made.clocked else None,
                    "handler_count": (count + round(latency + made.wall_gap_us)) % (1 << 32),
                }
            )  # fmt: skip
    line = {
        "pid": PID, "ordered": ORDERED // CLOCK.period, "ordered_ns": ORDERED * 1000 // US,
        "settle_us": SETTLE // US, "window_us": LENGTH // US, "windows": len(made.latency_us), "cpu_ns": 1,
        "elapsed_ns": 4, "windowed": len(events) + made.missing, "lost": 0, "wall_hz": 1_000_000,
    }  # fmt: skip
    made_runs.dump(files / esm_runs.FILE, [line])
    made_runs.dump(files / esm_runs.EVENTS, events)


def _event_at(number: int) -> int:
    """In ticks from the start of the window; polls are between events."""
    return (number + 1) * MS


def _wakes(made: Made) -> tuple[list[tuple[int, int]], dict[str, list[tuple[int, ...]]]]:
    """When CPU 0 is awake for the application, and the trace's events that say why."""
    awake: list[tuple[int, int]] = []
    tables: dict[str, list[tuple[int, ...]]] = {
        "irq_handler_entry": [],
        "hrtimer_start": [],
        "hrtimer_expire_entry": [],
    }
    first = begin() - MS
    awake.append((first, first + 10 * US))
    tables["irq_handler_entry"].append((first + US, 0, TIMER_LINE))
    tables["hrtimer_start"].append((first + 5 * US, 0, TIMER, 0))
    for index, latencies in enumerate(made.latency_us):
        start = begin() + index * LENGTH
        own = [(start + _event_at(number), made.work_us, DEVICE_LINE) for number in range(len(latencies))]
        own += [(start + _event_at(number) + MS // 2, POLL_US, TIMER_LINE) for number in range(made.polls)]
        for at, work_us, line in sorted(own):
            awake.append((at, at + work_us * US))
            tables["irq_handler_entry"].append((at + US, 0, line))
            if line == TIMER_LINE:
                tables["hrtimer_expire_entry"].append((at + 2 * US, 0, TIMER))
                tables["hrtimer_start"].append((at + 5 * US, 0, TIMER, 0))
    return awake, tables


def _window(platform: Platform, start: int, stop: int, awake: Sequence[tuple[int, int]]) -> Mapping[str, float]:
    busy = sum(max(0, min(end, stop) - max(begin, start)) for begin, end in awake)
    asleep = [stop - start] * platform.cpu_count
    asleep[0] -= busy
    return window(platform, start, stop, asleep)
