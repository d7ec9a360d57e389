# SPDX-License-Identifier: BSD-3-Clause
"""Reads gem5's statistics as consecutive windows of time, in one pass and in bounded memory.

A window ends at each dump. A dump without a reset repeats the counts of the dump before, so the window is their
difference. Assumed: every used statistic is a counter, except clocks and voltages. These are the same in both dumps,
because every change of frequency resets the statistics.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lull.errors import UserError
from lull.rundir import stats

BATCH_ROWS = 1 << 17
GAUGES = (".clock", ".voltage", "simFreq", "finalTick")
"""The ends of names of statistics that are no counters."""
LENGTH_TOLERANCE = 0.01
_NOWHERE = 1 << 62


class Statistics:
    """The index of each statistic in a row of values. It grows while a file is read."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self._names: list[str] = []
        self._found: dict[re.Pattern[str], tuple[int, list[str]]] = {}
        self._rows: dict[tuple[str, ...], tuple[int, NDArray[np.int64]]] = {}

    def place(self, name: str) -> int:
        place = self.places.setdefault(name, len(self._names))
        if place == len(self._names):
            self._names.append(name)
        return place

    def places_of(self, names: tuple[str, ...]) -> NDArray[np.int64]:
        """Return the indices of names. An unknown name has an index beyond the end of any row."""
        seen, places = self._rows.get(names, (-1, np.empty(0, np.int64)))
        if seen != len(self._names):
            places = np.array([self.places.get(name, _NOWHERE) for name in names], np.int64)
            self._rows[names] = (len(self._names), places)
        return places

    def matching(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the names that match. Each name is tested only once, however many windows there are."""
        seen, found = self._found.get(pattern, (0, []))
        found += [name for name in self._names[seen:] if pattern.fullmatch(name)]
        self._found[pattern] = (len(self._names), found)
        return found


@dataclass(frozen=True, eq=False)
class Window(Mapping[str, float]):
    """gem5's statistics from the tick `start` to the tick `end`. gem5 leaves out buckets that are zero."""

    number: int
    start: int
    end: int
    _columns: Statistics
    _values: NDArray[np.float64]
    """Values by column; a statistic that the window lacks is NaN or beyond the end."""

    def __getitem__(self, statistic: str) -> float:
        value = self._value(statistic)
        if value is None:
            raise KeyError(statistic)
        return value

    def get(self, statistic: str, default: Any = None) -> Any:
        value = self._value(statistic)
        return default if value is None else value

    def row(self, statistics: tuple[str, ...]) -> NDArray[np.float64]:
        """Return the values of statistics; NaN for those that the window lacks."""
        places = self._columns.places_of(statistics)
        there = places < len(self._values)
        found: NDArray[np.float64] = np.where(there, self._values[np.where(there, places, 0)], np.nan)
        return found

    def _value(self, statistic: str) -> float | None:
        place = self._columns.places.get(statistic)
        if place is None or place >= len(self._values):
            return None
        value = float(self._values[place])
        return None if math.isnan(value) else value

    def __contains__(self, statistic: object) -> bool:
        return isinstance(statistic, str) and self._value(statistic) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._columns.places if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def matching(self, pattern: re.Pattern[str]) -> dict[str, float]:
        return {name: self[name] for name in self._columns.matching(pattern) if name in self}

    @property
    def ticks(self) -> int:
        return self.end - self.start


def lasts(ticks: float, wanted: float) -> bool:
    """Return true if a window is as long as ordered, within 1 %."""
    return abs(ticks - wanted) <= LENGTH_TOLERANCE * wanted


def read(path: Path) -> Iterator[Window]:
    """Yield the windows of a table of statistics, without gaps between them. Empty ones are left out."""
    columns = Statistics()
    previous: tuple[int, NDArray[np.float64]] | None = None
    end: int | None = None
    for number, values in _dumps(path, columns):
        last, ticks = (_whole(path, number, columns, values, name) for name in ("finalTick", "simTicks"))
        since_reset = values
        if end is not None and last - ticks < end and previous is not None and last - ticks == previous[0]:
            values = _minus(values, previous[1], columns)
        elif end is not None and last - ticks != end:
            raise UserError(
                f"{path}: window {number} begins at tick {last - ticks}, but the one before it ends at {end}, so "
                "statistics were reset without a dump; use m5's dump-and-reset in the guest and run it again"
            )
        begin = end if end is not None else last - ticks
        if last > begin:
            yield Window(number, begin, last, columns, values)
        previous, end = (last - ticks, since_reset), last
    if end is None:
        raise UserError(f"{path}: no window in it; run the command again")


def _dumps(path: Path, columns: Statistics) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield each dump, with a value for each statistic seen so far. In the file, a dump's rows follow each other."""
    current: int | None = None
    held: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    for batch in stats.TABLE.batches(path, BATCH_ROWS, stats.TABLE.schema.names, words=["statistic"]):
        windows = batch["window"].to_numpy()
        places = _places(batch["statistic"], columns)
        values = batch["value"].to_numpy()
        cuts = np.flatnonzero(np.diff(windows)) + 1
        edges = [0, *cuts.tolist(), len(windows)]
        for low, high in pairwise(edges):
            if low == high:
                continue
            number = int(windows[low])
            if current is not None and number != current:
                yield current, _row(held, len(columns.places))
                held = []
            current = number
            held.append((places[low:high], values[low:high]))
    if current is not None:
        yield current, _row(held, len(columns.places))


def _places(statistics: pa.DictionaryArray, columns: Statistics) -> NDArray[np.int64]:
    lookup = np.array([columns.place(name) for name in statistics.dictionary.to_pylist()], np.int64)
    places: NDArray[np.int64] = lookup[statistics.indices.to_numpy()]
    return places


def _row(held: list[tuple[NDArray[np.int64], NDArray[np.float64]]], width: int) -> NDArray[np.float64]:
    row = np.full(width, np.nan)
    for places, values in held:
        row[places] = values
    return row


def _minus(values: NDArray[np.float64], before: NDArray[np.float64], columns: Statistics) -> NDArray[np.float64]:
    """Return the counts since the dump before."""
    earlier = np.zeros(values.size)
    earlier[: before.size] = np.nan_to_num(before)
    for name, place in columns.places.items():
        if name.endswith(GAUGES) and place < earlier.size:
            earlier[place] = 0.0
    return values - earlier


def _whole(path: Path, number: int, columns: Statistics, values: NDArray[np.float64], name: str) -> int:
    place = columns.places.get(name)
    if place is None or np.isnan(values[place]):
        raise UserError(f"{path}: window {number} has no statistic {name}; gem5 24 and 25 have it")
    return int(values[place])
