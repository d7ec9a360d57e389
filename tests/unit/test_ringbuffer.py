# SPDX-License-Identifier: BSD-3-Clause
import random

import numpy as np
import pytest

from lull.trace import ringbuffer
from tests.ring_buffer import PADDING, PAGE, Event, _header, page


def decode(*pages: bytes) -> tuple[list[tuple[int, bytes]], int]:
    """Times and first 4 bytes of the events found, and the number lost."""
    whole = np.frombuffer(b"".join(pages), np.uint8).reshape(-1, PAGE)
    records = ringbuffer.decode(whole)
    starts = [records.data[place : place + 4].tobytes() for place in records.place.tolist()]
    return list(zip(records.time.tolist(), starts, strict=True)), records.lost


def test_pages_of_any_events_come_back_in_order() -> None:
    chance = random.Random(4)
    pages, expected, now = [], [], 10**9
    for _ in range(50):
        events = []
        for _ in range(chance.randrange(12)):
            now += chance.choice([0, 1, 40, (1 << 27) - 1, 1 << 27, 1 << 40])
            payload = chance.randbytes(4) + bytes(4 * chance.choice([0, 1, 27, 28, 50]))
            events.append(Event(now, payload, absolute=chance.random() < 0.1))
            expected.append((now, payload[:4]))
        pages.append(page(events[0].time - 5 if events else now, events))
    assert len(expected) > 200
    assert decode(*pages) == (expected, 0)


def test_an_absolute_time_has_its_top_bits_from_the_page() -> None:
    stamp = (3 << 59) + 100
    assert decode(page(stamp, [Event(stamp + 7, b"abcd", absolute=True)])) == ([(stamp + 7, b"abcd")], 0)


def test_discarded_events_and_the_rest_of_a_page_are_no_events() -> None:
    discarded = _header(PADDING, 3) + (8).to_bytes(4, "little") + b"gone"
    after = _header(1, 2) + b"last"
    rest = _header(PADDING, 0) + bytes(8)
    found, _ = decode(page(100, [Event(110, b"one.")], tail=discarded + after + rest))
    assert found == [(110, b"one."), (115, b"last")]


def test_lost_events_are_counted() -> None:
    one = [Event(1, b"data")]
    assert decode(page(0, one, lost=17), page(0, one), page(0, one, lost=0), page(0, one, lost=4))[1] == 17 + 1 + 4


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (page(0, [], tail=_header(28, 0) + b"end"), "an event that goes on behind the end of its page"),
        ((0).to_bytes(8, "little") + (PAGE).to_bytes(8, "little") + bytes(PAGE - 16), "longer than a page"),
    ],
)
def test_what_is_no_ring_buffer_is_refused(damaged: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decode(damaged)
