# SPDX-License-Identifier: BSD-3-Clause
"""Perfetto's reading of a timeline's slices: its rules for Chrome's JSON, as far as they lose something.

Perfetto takes each number times 1000 for nanoseconds: the nearest whole ones today (`std::llround`), rounded down in
older versions. A slice that begins within another one of its track and ends after it is dropped
(`slice_drop_overlapping_complete_event`).
"""

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

Slice = tuple[int, int, str]
"""Start and end in nanoseconds, name."""


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


READERS: tuple[Callable[[float], int], ...] = (_nearest, int)
TODAY = READERS[0]


def events(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    return found


def tracks(found: list[dict[str, Any]], whole_ns: Callable[[float], int] = TODAY) -> dict[tuple[str, str], list[Slice]]:
    """Return the slices that are not dropped, by group and track."""
    groups = {event["pid"]: event["args"]["name"] for event in found if event["name"] == "process_name"}
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in found if event["name"] == "thread_name"}
    kept: dict[tuple[str, str], list[Slice]] = defaultdict(list)
    opened: dict[tuple[str, str], list[int]] = defaultdict(list)
    for event in sorted((event for event in found if event["ph"] == "X"), key=lambda event: event["ts"]):
        start, length = (whole_ns(event[key] * 1000) for key in ("ts", "dur"))
        place = groups[event["pid"]], names[event["pid"], event["tid"]]
        stack = opened[place]
        while stack and stack[-1] <= start:
            stack.pop()
        if all(end >= start + length for end in stack):
            stack.append(start + length)
            kept[place].append((start, start + length, event["name"]))
    return kept
