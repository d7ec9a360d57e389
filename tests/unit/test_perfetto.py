# SPDX-License-Identifier: BSD-3-Clause
"""The file for Perfetto, by its own rules: what it would refuse or draw wrong."""

import errno
import gzip
import random
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.energy.rows import NO_CPU
from lull.rundir.folder import LEDGER, RunDir
from lull.timeline import power
from lull.timeline.perfetto import PerfettoFile
from tests import perfetto
from tests.perfetto import events

MS = 10**9


def example(path: Path) -> None:
    with PerfettoFile.written(path) as file:
        file.track("CPU 0", "state")
        file.slice("CPU 0", "task", "a/1", 2 * MS, 3 * MS)
        file.slice("CPU 1", "state", "C1", 1 * MS, 2 * MS + 1, {"why": "test"})
        file.counter("CPU 0", "power, W", 2 * MS, 1.5)
        file.instant("CPU 1", "state", "woken", 2 * MS, {"by": "x"})
        file.flow("wake", ("CPU 0", "task", 2 * MS + 5), ("CPU 1", "state", 2 * MS))


def test_slices_have_tracks_that_have_names(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    example(path)
    found = events(path)
    groups = {event["pid"]: event["args"]["name"] for event in found if event["name"] == "process_name"}
    tracks = {(event["pid"], event["tid"]): event["args"]["name"] for event in found if event["name"] == "thread_name"}
    assert list(groups.values()) == ["CPU 0", "CPU 1"]
    by_track = defaultdict(list)
    for event in found:
        if event["ph"] == "X":
            by_track[groups[event["pid"]], tracks[event["pid"], event["tid"]]].append(event)
    ((task,), (state,)) = by_track["CPU 0", "task"], by_track["CPU 1", "state"]
    assert (task["name"], task["ts"], task["dur"]) == ("a/1", 2000.0, 1000.0)
    assert (state["dur"], state["args"]) == (1000.0, {"why": "test"})


def test_flows_have_both_ends_and_counters_a_number(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    example(path)
    found = events(path)
    (start,) = [event for event in found if event["ph"] == "s"]
    (end,) = [event for event in found if event["ph"] == "f"]
    assert (start["id"], start["cat"], start["name"]) == (end["id"], end["cat"], end["name"])
    assert end["bp"] == "e"
    (counter,) = [event for event in found if event["ph"] == "C"]
    assert counter["args"] == {"value": 1.5}


@pytest.mark.parametrize("period", [39736, 16000])
def test_perfetto_drops_no_slice_that_touches_the_next(tmp_path: Path, period: int) -> None:
    """gem5's counts are no whole nanoseconds, and QEMU's are, of which 1000 times the microseconds may fall short."""
    draw = random.Random(period)
    edges = sorted(draw.sample(range(10**9), 5000))
    path = tmp_path / "t.json.gz"
    with PerfettoFile.written(path) as file:
        for start, end in pairwise(edges):
            file.slice("CPU 0", "state", "C1", start * period, end * period)
    for whole_ns in perfetto.READERS:
        (kept,) = perfetto.tracks(events(path), whole_ns).values()
        assert len(kept) == len(edges) - 1
        assert sum(end - start for start, end, _ in kept) == edges[-1] * period // 1000 - edges[0] * period // 1000


def test_the_same_content_is_the_same_bytes(tmp_path: Path) -> None:
    example(tmp_path / "a")
    example(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def half(path: Path) -> None:
    with PerfettoFile.written(path) as file:
        file.track("CPU 0", "state")
        raise KeyError


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        half(tmp_path / "t")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_of_a_file_that_cannot_be_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    close = gzip.GzipFile.close

    def full(file: gzip.GzipFile) -> None:
        was_open = not file.closed
        close(file)
        if was_open:  # closed once more when it is collected
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(gzip.GzipFile, "close", full)
    with pytest.raises(OSError, match="No space left"):
        example(tmp_path / "t")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_watts_are_joules_over_the_window(tmp_path: Path) -> None:
    rundir = RunDir(tmp_path)
    assert list(power.samples(rundir)) == []
    rows = [
        {"cpu": cpu, "start": start * MS, "end": (start + 2) * MS, "joules": joules, "backend": backend, "band": band}
        for cpu, start, joules, backend, band in (
            (0, 0, 0.001, "mcpat", "calibrated"),
            (0, 0, 0.003, "mcpat", "calibrated"),
            (0, 0, 0.500, "mcpat", "raw"),
            (0, 0, 0.500, "em", "calibrated"),
            (0, 2, 0.002, "mcpat", "calibrated"),
            (None, 0, 0.010, "mcpat", "calibrated"),
        )
    ]
    pq.write_table(pa.Table.from_pylist(rows), rundir / LEDGER)
    found = sorted(power.samples(rundir))
    assert [row[:2] for row in found] == [(NO_CPU, 0), (0, 0), (0, 2 * MS)]
    assert [row[2] for row in found] == pytest.approx([5.0, 2.0, 1.0])
