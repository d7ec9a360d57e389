# SPDX-License-Identifier: BSD-3-Clause
"""Writes a run as tracks over gem5's time: idle states, tasks, interrupts, frequency and power of each CPU."""

from pathlib import Path

import numpy as np

from lull.rundir.folder import RunDir
from lull.timeline import power
from lull.timeline.perfetto import TICKS_PER_NS, PerfettoFile
from lull.trace import frequency, recording, spans, wakes
from lull.trace.activity import IDLE
from lull.trace.origins import TASK
from lull.trace.recording import Recording
from lull.trace.spans import ACTIVE, Span
from lull.trace.wakes import Wake

TIMELINE = "timeline.json.gz"

STATES, TASKS, INTERRUPTS = "idle state", "task", "interrupt"
FREQUENCY, POWER = "frequency, MHz", "power, W"
ROUTING, MACHINE = "routing of event interrupts", "machine"
_REASONS = ("none", "awake", "sleep", "always", "offline", "wanted")
"""`kernel-patches/platform/routing_trace.h`."""


def write(rundir: RunDir, path: Path, allow_lost: bool = False) -> None:
    platform = rundir.spec().platform
    record = recording.load(rundir)
    groups = {
        cpu: f"CPU {cpu} ({cluster.name}, {cluster.core})" for cpus, cluster in platform.cpu_ranges() for cpu in cpus
    }
    with PerfettoFile.written(path) as file:
        for group in groups.values():
            for track in (STATES, TASKS, INTERRUPTS):
                file.track(group, track)
        for part in spans.by_cpu(record, platform, allow_lost):
            for span in part:
                _write_span(file, groups[span.cpu], span)
        for wake in wakes.of_recording(record, platform):
            _write_wake(file, groups, record, wake)
        for cpu, time, mhz in frequency.samples(rundir, platform, record):
            file.counter(groups[cpu], FREQUENCY, time, mhz)
        _write_routes(file, record)
        for place, time, watts in power.samples(rundir):
            file.counter(groups.get(place, MACHINE), POWER, time, watts)


def _write_span(file: PerfettoFile, group: str, span: Span) -> None:
    if span.state != ACTIVE:
        file.slice(group, STATES, span.state, span.start, span.end)
    elif span.cause != IDLE:
        file.slice(group, _track(span.cause), span.cause.partition(":")[2], span.start, span.end)


def _track(cause: str) -> str:
    return TASKS if cause.startswith(TASK) else INTERRUPTS


def _write_wake(file: PerfettoFile, groups: dict[int, str], record: Recording, wake: Wake) -> None:
    """Write a wake-up, and an arrow from the place where it was armed, if that is in the timeline."""
    about = {"out of": wake.state, "armed by": wake.armed_by or "nobody"}
    file.instant(groups[wake.cpu], STATES, f"woken by {wake.source}", wake.time, about)
    if wake.act is None:
        return
    cpu, time = wake.act
    cause = record.cause_at(cpu, time)
    if time >= record.begin and cause != IDLE:
        file.flow("wake", (groups[cpu], _track(cause), time), (groups[wake.cpu], STATES, wake.time - TICKS_PER_NS))


def _write_routes(file: PerfettoFile, record: Recording) -> None:
    """Write the CPU to which each event interrupt is routed, from one change to the next."""
    routes = record.tables["lull_route"]
    for irq in np.unique(routes["irq"]).tolist():
        mine = np.flatnonzero(routes["irq"] == irq)
        ends = np.append(routes.time[mine][1:], record.end)
        track = f"{record.irqs.get(irq, 'irq')} ({irq})"
        for at, end in zip(mine.tolist(), ends.tolist(), strict=True):
            to, reason = int(routes["to"][at]), _REASONS[int(routes["reason"][at])]
            start = max(int(routes.time[at]), record.begin)
            if end > start:
                file.slice(ROUTING, track, f"CPU {to}" if to >= 0 else "nowhere", start, end, {"reason": reason})
