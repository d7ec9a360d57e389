# SPDX-License-Identifier: BSD-3-Clause
"""What a what-if keeps in memory: so many bytes for each sleep of the trace, and each wake-up that is replayed."""

import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lull.errors import UserError
from lull.files.paths import ROOT
from lull.host import memory
from lull.trace import events
from lull.trace.clock import Clock
from lull.trace.datfile import TraceFile
from lull.trace.events import Batch, Numbers
from lull.whatif import chain, clues, prediction, source, spent
from lull.whatif.chain import AS_RECORDED
from lull.whatif.source import TICK_NS, Replay

pytestmark = pytest.mark.usefixtures("governors")

RECORDING = ROOT / "results" / "recordings" / "poll"
TIMES = 1
"""The recording is repeated so often, and four times as often. The difference is without what any run takes."""
UNIT = Clock(hz=10**9, mult=1, shift=0, epoch_ns=0, epoch_count=0, monotonic_ns=0, monotonic_count=0)
MOVED = {
    ("hrtimer_start", "expires"): 1, ("hrtimer_expire_entry", "now"): 1, ("timer_start", "bucket_expiry"): TICK_NS,
    ("timer_expire_entry", "baseclk"): TICK_NS,
}  # fmt: skip
"""Values of events that are times, in so many nanoseconds."""


class Later(Batch):
    """A batch of events again, later by some nanoseconds. Its stamps are nanoseconds of CLOCK_MONOTONIC."""

    def __init__(self, own: Batch, clock: Clock, by: int) -> None:
        self.__dict__.update(own.__dict__)
        self.time = (clues.monotonic(clock, own.time.astype(np.int64), own.trace.path) + by).astype(np.uint64)
        self._by = by

    def numbers(self, name: str, field: str, which: Numbers) -> Numbers:
        moved = MOVED.get((name, field))
        return super().numbers(name, field, which) + (self._by // moved if moved else 0)


def repeat(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Have the recording read as a trace that is so many times as long."""
    trace, real = TraceFile(RECORDING / "trace.dat"), events.batches
    clock = clues.columns_of(trace)[1].clock
    assert clock is not None
    every = [Later(batch, clock, 0).time for cpu in trace.cpus for batch in real(trace, cpu)]
    ends = [(int(own.min()), int(own.max())) for own in every]
    length = (max(end for _, end in ends) - min(begin for begin, _ in ends)) // TICK_NS * TICK_NS + TICK_NS

    def batches(trace: TraceFile, cpu: int) -> Iterator[Batch]:
        return (Later(own, clock, length * time) for time in range(times) for own in real(trace, cpu))

    def of_marker(text: str) -> Clock | None:
        return UNIT if text.startswith("lull clock") else None

    monkeypatch.setattr(events, "batches", batches)
    monkeypatch.setattr(clues, "Clock", type("Clock", (), {"of_marker": staticmethod(of_marker)}))


def peak_of_load() -> tuple[Replay, int]:
    tracemalloc.start()
    replay = source.load(RECORDING)
    return replay, tracemalloc.get_traced_memory()[1]


def peak_of_point(replay: Replay) -> int:
    ground, machine = prediction.ground_of_points(replay), replay.machine.changed(["cstates.C3.exit_us=20"])
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    prediction.point(ground, replay, machine)
    return tracemalloc.get_traced_memory()[1] - before


def test_memory_grows_by_few_bytes_for_each_sleep_and_each_wake_up(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeps, wakes, loads, points = [], [], [], []
    for times in (TIMES, 4 * TIMES):
        with monkeypatch.context() as context:
            repeat(context, times)
            replay, load = peak_of_load()
            points.append(peak_of_point(replay))
            tracemalloc.stop()
        loads.append(load)
        sleeps.append(sum(own.size for own in replay.entries.by_cpu.values()))
        wakes.append(replay.as_recorded.size)
    assert sleeps[1] >= 4 * sleeps[0]
    assert (loads[1] - loads[0]) / (sleeps[1] - sleeps[0]) < 450
    assert (points[1] - points[0]) / (wakes[1] - wakes[0]) < 500


def test_events_are_read_in_the_order_of_time() -> None:
    trace = TraceFile(RECORDING / "trace.dat")
    _, marks = clues.columns_of(trace)
    assert marks.clock is not None
    for stream in clues.streams(trace, marks.clock):
        seen = list(stream)
        assert all(one.time <= other.time for one, other in pairwise(seen))
        many = sum(batch.of(name).size for batch in events.batches(trace, stream.cpu) for name in clues._FIELDS)
        assert len(seen) == many > 0
        assert all(len(one.values) == len(clues._FIELDS[one.name]) for one in seen)


def test_small_blocks_have_the_same_wake_ups_and_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = source.load(RECORDING)
    whole, machine = chain.run(replay.chains, replay.machine.platform, AS_RECORDED), replay.machine
    spending = replay.spending(machine, whole)
    monkeypatch.setattr(chain, "_BLOCK", 7)
    monkeypatch.setattr(spent, "_AT_ONCE", 11)
    assert (chain.run(replay.chains, machine.platform, AS_RECORDED) == whole).all()
    again = replay.spending(machine, whole)
    assert (again.times, again.slept, again.entries, again.off) == (
        spending.times, spending.slept, spending.entries, spending.off
    )  # fmt: skip
    for cpu, joules in spending.charges.items():
        assert again.charges[cpu] == pytest.approx(joules)


def test_a_trace_that_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 500_000)
    with pytest.raises(UserError, match=r"trace\.dat: has \d+ sleeps, .* 0\.00093 GB, and 0\.0005 GB are free; record"):
        source.load(RECORDING)


def test_the_memory_that_is_free_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (memory.available() or 0) > 1 << 20
    monkeypatch.setattr(memory, "_INFO", tmp_path / "none")
    assert memory.available() is None
