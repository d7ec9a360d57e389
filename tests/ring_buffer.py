# SPDX-License-Identifier: BSD-3-Clause
"""Writes what the kernel's ring buffer holds, by `kernel/trace/ring_buffer.c`, one event after the other."""

import struct
from dataclasses import dataclass

PAGE = 4096
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
MISSED, MISSED_STORED = 1 << 31, 1 << 30


@dataclass(frozen=True)
class Event:
    time: int
    payload: bytes
    absolute: bool = False


def _header(kind: int, delta: int) -> bytes:
    return struct.pack("<I", kind | delta << 5)


def _data(delta: int, payload: bytes) -> bytes:
    payload += bytes(-len(payload) % 4)
    if len(payload) <= 28 * 4:
        return _header(len(payload) // 4, delta) + payload
    return _header(0, delta) + struct.pack("<I", len(payload) + 4) + payload


def page(stamp: int, events: list[Event], lost: int | None = None, tail: bytes = b"") -> bytes:
    """A page that begins at a time; `lost` events before it (0: the kernel does not say how many)."""
    content, now = b"", stamp
    for event in events:
        delta = event.time - now
        if event.absolute:
            low = event.time & (1 << 59) - 1
            content += _header(TIME_STAMP, low & (1 << 27) - 1) + struct.pack("<I", low >> 27)
            delta = 0
        elif delta >= 1 << 27:
            content += _header(TIME_EXTEND, delta & (1 << 27) - 1) + struct.pack("<I", delta >> 27)
            delta = 0
        content += _data(delta, event.payload)
        now = event.time
    content += tail
    commit = len(content)
    if lost is not None:
        commit |= MISSED
    if lost:
        commit |= MISSED_STORED
        content += struct.pack("<Q", lost)
    return (struct.pack("<QQ", stamp, commit) + content).ljust(PAGE, b"\0")
