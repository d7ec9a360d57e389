# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of events, which the guest's event generator plays.

Format, limits and arithmetic are those of the kernel (`kernel-patches/platform/event_schedule.c`). The arithmetic is on
integers, so that a seed gives the same events here and in the kernel. The checks here only report the kernel's errors
earlier and more clearly.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lull.errors import UserError
from lull.files import regular

EVENTS_MAX = 1 << 18
TEXT_MAX = 16 << 20
LINE_MAX = 127
TIME_MAX_US = 24 * 3600 * 1_000_000

EV_KEY = 1
EV_REL = 2
KEYS = frozenset({*range(1, 249), 0x110, 0x111})
"""KEY_ESC to KEY_MICMUTE, BTN_LEFT and BTN_RIGHT."""
AXES = frozenset({0, 1, 8})
"""REL_X, REL_Y and REL_WHEEL."""

_U64 = (1 << 64) - 1
_LN2 = 0xB172_17F7_D1CF_79AB
"""ln 2 in units of 2^-64."""
_NUMBER = re.compile(r"[0-9]+", re.ASCII)
_VALUE = re.compile(r"-?[0-9]+", re.ASCII)


@dataclass(frozen=True)
class Event:
    time_ns: int
    """Time from the start of the schedule."""
    line: int
    type: int
    code: int
    value: int


@dataclass(frozen=True)
class _Line:
    kind: str
    start_us: int
    gap_us: int
    count: int
    seed: int
    type: int
    code: int
    value: int


class _Fault(Exception):
    """An error in a line: the mistake, and what to do."""


def load_schedule(path: Path) -> str:
    """Return the text of a schedule file that the guest will accept."""
    data = regular.read_bytes(path, str(path), "schedule", TEXT_MAX + 1)
    if len(data) > TEXT_MAX:
        raise UserError(f"{path}: larger than {TEXT_MAX >> 20} MiB; shorten it or use periodic and poisson lines")
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}: line {number}: not plain ASCII text; leave such characters out") from None
    expand(text, str(path))
    return text


def expand(text: str, name: str) -> list[Event]:
    """Return the events of a schedule, in the order in which the guest plays them. `name` is for error messages."""
    events: list[Event] = []
    recorded_us = number = 0
    ended = False
    pieces = text.split("\n")
    if pieces[-1] == "":
        pieces.pop()
    for number, piece in enumerate(pieces, 1):
        try:
            if ended:
                raise _Fault("follows the end; delete it")
            line = _read(piece)
            if line is None:
                continue
            if line.kind == "end":
                if piece != "end" or (number == len(pieces) and not text.endswith("\n")):
                    raise _Fault("`end` must stand alone and end its line; write nothing but `end` and a newline")
                ended = True
                continue
            if line.kind == "one":
                if line.start_us < recorded_us:
                    raise _Fault(f"time goes back from {recorded_us} to {line.start_us}; sort the lines by time")
                recorded_us = line.start_us
            if len(events) + line.count > EVENTS_MAX:
                raise _Fault(f"more than {EVENTS_MAX} events; split the schedule")
            events += _events(line, number)
        except _Fault as fault:
            raise UserError(f"{name}: line {number}: {fault}") from None
    if not ended:
        raise UserError(f"{name}: line {max(number, 1)}: the text stops without `end`; add it as the last line")
    if not events:
        raise UserError(f"{name}: line {number}: no event before `end`; add one")
    events.sort(key=lambda event: (event.time_ns, event.line))
    _check_keys(events, name)
    return events


def random_numbers(seed: int) -> Iterator[int]:
    """Yield the numbers of splitmix64, the generator of Vigna and Steele."""
    state = seed
    while True:
        state = (state + 0x9E37_79B9_7F4A_7C15) & _U64
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58_476D_1CE4_E5B9) & _U64
        z = ((z ^ (z >> 27)) * 0x94D0_49BB_1331_11EB) & _U64
        yield z ^ (z >> 31)


def exponential(random: int) -> int:
    """Return -ln(random / 2^64) in units of 2^-32, by the bit-by-bit logarithm to base 2."""
    random = max(random, 1)
    whole = random.bit_length() - 1
    mantissa = random << (63 - whole)
    fraction = 0
    for _ in range(32):
        mantissa = mantissa * mantissa >> 64
        fraction <<= 1
        if mantissa >> 63:
            fraction |= 1
        else:
            mantissa <<= 1
    return (((64 - whole) << 32) - fraction) * _LN2 >> 64


def _read(piece: str) -> _Line | None:
    """Return the line's content; None for an empty line, or one with only a comment."""
    if len(piece) > LINE_MAX:
        raise _Fault(f"longer than {LINE_MAX} characters; shorten it")
    if "\0" in piece:
        raise _Fault("has a NUL character; use plain text")
    words = [word for word in re.split(r"[ \t]", piece.partition("#")[0]) if word]
    if not words:
        return None
    if words == ["end"]:
        return _Line("end", 0, 0, 0, 0, 0, 0, 0)
    kind = words[0] if words[0] in ("periodic", "poisson") else "one"
    form = {
        "one": "TIME_US TYPE CODE VALUE",
        "periodic": "periodic START_US PERIOD_US COUNT TYPE CODE VALUE",
        "poisson": "poisson START_US MEAN_US COUNT SEED TYPE CODE VALUE",
    }[kind]
    if len(words) != len(form.split()):
        raise _Fault(f"has {len(words)} words; write `{form}`, or `end` as the last line")
    if kind == "one":
        return _Line(kind, _number(words[0], "TIME_US", TIME_MAX_US), 0, 1, 0, *_event(words[1:], alone=True))
    gap = "PERIOD_US" if kind == "periodic" else "MEAN_US"
    return _Line(
        kind,
        _number(words[1], "START_US", TIME_MAX_US),
        _number(words[2], gap, TIME_MAX_US, least=1),
        _number(words[3], "COUNT", EVENTS_MAX, least=1),
        _number(words[4], "SEED", _U64) if kind == "poisson" else 0,
        *_event(words[-3:], alone=False),
    )


def _number(word: str, what: str, most: int, least: int = 0) -> int:
    if not _NUMBER.fullmatch(word) or not least <= int(word) <= most:
        raise _Fault(f"{what} is {word!r}; write a whole number from {least} to {most}")
    return int(word)


def _event(words: list[str], *, alone: bool) -> tuple[int, int, int]:
    kind, code = _number(words[0], "TYPE", 0xFFFF), _number(words[1], "CODE", 0xFFFF)
    if code not in {EV_KEY: KEYS, EV_REL: AXES}.get(kind, frozenset()):
        raise _Fault(
            f"there is no event of TYPE {kind} and CODE {code}; write TYPE 1 with CODE 1 to 248, 272 or 273, "
            "or TYPE 2 with CODE 0, 1 or 8"
        )
    if not _VALUE.fullmatch(words[2]) or not -(1 << 31) <= int(words[2]) < 1 << 31:
        raise _Fault(f"VALUE is {words[2]!r}; write a whole number of 32 bits")
    value = int(words[2])
    if kind == EV_KEY and value not in ((0, 1) if alone else (1,)):
        wanted = "1 to press or 0 to release" if alone else "1: the key is pressed and released in turn"
        raise _Fault(f"VALUE is {value} for a key; write {wanted}")
    if kind == EV_REL and value == 0:
        raise _Fault("a motion by 0 is no event; write another VALUE")
    return kind, code, value


def _events(line: _Line, number: int) -> list[Event]:
    found = []
    time_ns = line.start_us * 1_000
    numbers = random_numbers(line.seed)
    for index in range(line.count):
        if line.kind == "poisson":
            time_ns += max(line.gap_us * 1_000 * exponential(next(numbers)) >> 32, 1)
        elif index:
            time_ns += line.gap_us * 1_000
        if time_ns > TIME_MAX_US * 1_000:
            raise _Fault("goes on for more than 24 hours; lower COUNT")
        value = line.value if line.type == EV_REL or line.kind == "one" else 1 - index % 2
        found.append(Event(time_ns, number, line.type, line.code, value))
    return found


def _check_keys(events: list[Event], name: str) -> None:
    """Raise a UserError if a key is pressed twice without a release: the input core would drop the second event."""
    pressed: set[int] = set()
    for event in events:
        if event.type != EV_KEY:
            continue
        if (event.code in pressed) == (event.value == 1):
            state, other = ("pressed", "release") if event.value else ("released", "press")
            at = f"{event.time_ns / 1_000:.0f} us"
            raise UserError(f"{name}: line {event.line}: key {event.code} is {state} already at {at}; {other} it first")
        pressed ^= {event.code}
