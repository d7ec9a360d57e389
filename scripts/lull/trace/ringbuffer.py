# SPDX-License-Identifier: BSD-3-Clause
"""Decodes pages of the kernel's ring buffer: the time of each event, and the place of its bytes.

All pages of a batch are decoded together, one event per page and step. The events of one page can only be found one
after the other, because each has its own length, but pages do not depend on each other.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

HEADER = 16
"""A page begins with its time stamp and the length of its content, 8 bytes each, on every 64-bit kernel."""

_LENGTH = 0xFFFFF
_MISSED = 1 << 31
_MISSED_STORED = 1 << 30
_PADDING, _TIME_EXTEND, _TIME_STAMP = 29, 30, 31
_DELTA_BITS = 27
_STAMP_BITS = 59
"""The bits of an absolute time stamp. The top bits are those of the page's time stamp."""


@dataclass(frozen=True)
class Records:
    """The events of a batch of pages in the buffer's order."""

    data: npt.NDArray[np.uint8]
    """All bytes of the batch."""
    time: npt.NDArray[np.uint64]
    place: npt.NDArray[np.int64]
    """The indices of the events' first bytes in `data`, divisible by 4."""
    lost: int
    """The number of events that the kernel lost before pages of this batch. An unknown number counts as one."""


def decode(pages: npt.NDArray[np.uint8]) -> Records:
    """Return the events of a batch of whole pages, an array of (pages, bytes). Raise ValueError for other data."""
    count, size = pages.shape
    data = np.ascontiguousarray(pages).reshape(-1)
    words = data.view("<u4")
    head = data.view("<u8").reshape(count, size // 8)
    stamp = head[:, 0].copy()
    commit = head[:, 1]
    length = (commit & _LENGTH).astype(np.int64)
    if count and int(length.max()) > size - HEADER:
        raise ValueError("a page that says it is longer than a page")
    start = np.arange(count, dtype=np.int64) * size
    place = start + HEADER
    end = place + length
    now = stamp.copy()

    times: list[npt.NDArray[np.uint64]] = []
    places: list[npt.NDArray[np.int64]] = []
    owners: list[npt.NDArray[np.int64]] = []
    page = np.flatnonzero(place < end)
    while page.size:
        at = place[page]
        word = words[at >> 2]
        kind = word & 31
        delta = (word >> 5).astype(np.uint64)
        after = words[np.minimum((at >> 2) + 1, words.size - 1)]
        extend = kind == _TIME_EXTEND
        absolute = kind == _TIME_STAMP
        clock = now[page] + delta + np.where(extend, after.astype(np.uint64) << np.uint64(_DELTA_BITS), np.uint64(0))
        if absolute.any():
            whole = (after.astype(np.uint64) << np.uint64(_DELTA_BITS)) + delta
            top = stamp[page] >> np.uint64(_STAMP_BITS) << np.uint64(_STAMP_BITS)
            clock = np.where(absolute, whole | top, clock)
        now[page] = clock

        long = (kind == 0) | (kind == _PADDING)
        total = 4 + np.where(long, after, np.where(kind < _PADDING, kind * 4, 4)).astype(np.int64)
        rest_is_empty = (kind == _PADDING) & (delta == 0)
        following = np.where(rest_is_empty, end[page], at + ((total + 3) & ~3))
        if (following > end[page]).any():
            raise ValueError("an event that goes on behind the end of its page")
        event = kind < _PADDING
        times.append(clock[event])
        places.append((at + np.where(kind == 0, 8, 4))[event])
        owners.append(page[event])
        place[page] = following
        page = page[following < end[page]]

    if not times:
        empty = np.empty(0, np.int64)
        return Records(data, empty.astype(np.uint64), empty, _lost(head, commit, length))
    order = np.argsort(np.concatenate(owners), kind="stable")
    return Records(data, np.concatenate(times)[order], np.concatenate(places)[order], _lost(head, commit, length))


def _lost(head: npt.NDArray[np.uint64], commit: npt.NDArray[np.uint64], length: npt.NDArray[np.int64]) -> int:
    """Return the number of lost events. The kernel writes it behind a page's content if there is room for it."""
    total = 0
    for page in np.flatnonzero(commit & np.uint64(_MISSED)):
        behind = HEADER + int(length[page])
        if int(commit[page]) & _MISSED_STORED and behind + 8 <= head.shape[1] * 8:
            total += int.from_bytes(head[page].tobytes()[behind : behind + 8], "little")
        else:
            total += 1
    return total
