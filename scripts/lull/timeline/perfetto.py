# SPDX-License-Identifier: BSD-3-Clause
"""Writes a file for ui.perfetto.dev: Chrome's JSON trace events, one per line, gzip'd.

This format needs no library, has slices, counters and flows, and can be read by eye.

Starts and ends are ticks rounded down to whole nanoseconds, so that slices that touch in the run touch in Perfetto.
This is needed because Perfetto rounds a slice's start and length separately to whole nanoseconds, and drops a slice
that overlaps the next one of its track. The unit of the format is the microsecond.
"""

import gzip
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lull.files import whole
from lull.trace.clock import TICKS_PER_US

TICKS_PER_NS = TICKS_PER_US // 1000


class PerfettoFile:
    """Groups of tracks, from top to bottom in the order of their first use."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self._first = True
        self._tracks: dict[str, tuple[int, dict[str, int]]] = {}
        self._flows = 0

    @classmethod
    @contextmanager
    def written(cls, path: Path) -> Iterator["PerfettoFile"]:
        """Yield a file to write. If this fails, no file is left."""
        with (
            whole.written(path) as partial,
            partial.open("wb") as raw,
            # Without name and date, the same run makes the same bytes.
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as file,
        ):
            file.write(b'{"displayTimeUnit": "ns", "traceEvents": [\n')
            yield cls(file)
            file.write(b"\n]}\n")

    def track(self, group: str, track: str) -> None:
        """Add a track, even if it stays empty, so that it has its place in the order."""
        self._place(group, track)

    def slice(
        self, group: str, track: str, name: str, start: int, end: int, args: Mapping[str, object] | None = None
    ) -> None:
        begin, length = _ns(start), _ns(end) - _ns(start)
        event = {"ph": "X", "name": name, "ts": _us(begin), "dur": _us(length), **self._place(group, track)}
        self._write({**event, "args": dict(args)} if args else event)

    def instant(self, group: str, track: str, name: str, time: int, args: Mapping[str, object]) -> None:
        place = self._place(group, track)
        self._write({"ph": "i", "s": "t", "name": name, "ts": _us(_ns(time)), **place, "args": dict(args)})

    def counter(self, group: str, name: str, time: int, value: float) -> None:
        pid = self._place(group, "")["pid"]
        self._write({"ph": "C", "name": name, "ts": _us(_ns(time)), "pid": pid, "args": {"value": value}})

    def flow(self, name: str, start: tuple[str, str, int], end: tuple[str, str, int]) -> None:
        """Write an arrow between two slices, each given by group, track and a time inside the slice."""
        self._flows += 1
        for phase, (group, track, time) in (("s", start), ("f", end)):
            place = self._place(group, track)
            binding = {"bp": "e"} if phase == "f" else {}
            self._write(
                {"ph": phase, "name": name, "cat": "wake", "id": self._flows, "ts": _us(_ns(time)), **place, **binding}
            )

    def _place(self, group: str, track: str) -> dict[str, int]:
        """Return the numbers of a group and of a track in it. On first use, write their names."""
        if group not in self._tracks:
            pid = len(self._tracks) + 1
            self._tracks[group] = (pid, {"": 0})
            self._name("process", {"pid": pid}, group, pid)
        pid, tracks = self._tracks[group]
        if track not in tracks:
            tracks[track] = len(tracks)
            self._name("thread", {"pid": pid, "tid": tracks[track]}, track, tracks[track])
        return {"pid": pid, "tid": tracks[track]}

    def _name(self, kind: str, place: dict[str, int], name: str, order: int) -> None:
        self._write({"ph": "M", "name": f"{kind}_name", **place, "args": {"name": name}})
        self._write({"ph": "M", "name": f"{kind}_sort_index", **place, "args": {"sort_index": order}})

    def _write(self, event: Mapping[str, object]) -> None:
        line = json.dumps(event, separators=(",", ":")).encode()
        self._file.write(line if self._first else b",\n" + line)
        self._first = False


def _ns(ticks: int) -> int:
    return ticks // TICKS_PER_NS


def _us(ns: int) -> float:
    """Return microseconds that times 1000 give `ns` again, rounded down (older Perfetto) or to the nearest."""
    us = ns / 1000
    return us if int(us * 1000) == ns else math.nextafter(us, math.inf)
