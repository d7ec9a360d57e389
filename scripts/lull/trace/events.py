# SPDX-License-Identifier: BSD-3-Clause
"""A batch of one CPU's events as columns: a number, a text or a set of bits for each event."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lull.errors import UserError
from lull.trace import ringbuffer
from lull.trace.datfile import TraceFile
from lull.trace.formats import Field

Numbers = npt.NDArray[np.int64]
Texts = npt.NDArray[np.bytes_]


class Batch:
    """The events of a few pages. `time` is in nanoseconds of the trace's clock."""

    def __init__(self, trace: TraceFile, cpu: int, records: ringbuffer.Records) -> None:
        self.trace, self.cpu, self.lost = trace, cpu, records.lost
        self.time = records.time
        self._data, self._place = records.data, records.place
        self._words = records.data.view("<u4")
        self.kind: Numbers = (self._words[self._place >> 2] & 0xFFFF).astype(np.int64)

    def __len__(self) -> int:
        return len(self.time)

    def of(self, name: str) -> Numbers:
        """Return the indices of the events of this name in the batch; none if the kernel has no such event."""
        known = self.trace.formats.get(name)
        return np.flatnonzero(self.kind == (known.id if known else -1))

    def numbers(self, name: str, field: str, which: Numbers) -> Numbers:
        """Return a field of up to 8 bytes. Unsigned fields of 8 bytes wrap, but can be compared for equality."""
        known = self._field(name, field)
        raw = self._bytes(self._place[which] + known.offset, known.size)
        kind = f"<{'i' if known.signed else 'u'}{known.size}"
        return raw.view(kind).reshape(-1).astype(np.int64)

    def texts(self, name: str, field: str, which: Numbers) -> Texts:
        """Return a text of fixed size, without the bytes behind its end."""
        known = self._field(name, field)
        raw = self._bytes(self._place[which] + known.offset, known.size)
        ended = np.cumsum(raw == 0, axis=1) > 0
        return np.where(ended, 0, raw).astype(np.uint8).view(f"S{known.size}").reshape(-1)

    def dynamic(self, name: str, field: str, at: int) -> bytes:
        """Return the content of a field of variable size, for one event."""
        known = self._field(name, field)
        where = int.from_bytes(self._slice(int(self._place[at]) + known.offset, 4), "little")
        return self._slice(int(self._place[at]) + (where & 0xFFFF), where >> 16)

    def raw(self, name: str, field: str, which: Numbers) -> list[bytes]:
        """Return the bytes of a field of fixed size."""
        known = self._field(name, field)
        return [row.tobytes() for row in self._bytes(self._place[which] + known.offset, known.size)]

    def tail(self, name: str, field: str, at: int) -> bytes:
        """Return the bytes of a field that extends to the event's end."""
        return self._slice(int(self._place[at]) + self._field(name, field).offset, 256)

    def bits(self, name: str, field: str, which: Numbers) -> Numbers:
        """Return a field that is a set of up to 64 CPUs, with a bit for each."""
        known = self._field(name, field)
        where = self._bytes(self._place[which] + known.offset, 4).view("<u4").reshape(-1)
        content = self._bytes(self._place[which] + (where & 0xFFFF), 8)
        return content.view("<i8").reshape(-1)

    def _slice(self, start: int, size: int) -> bytes:
        return self._data[start : start + size].tobytes()

    def _bytes(self, places: Numbers, size: int) -> npt.NDArray[np.uint8]:
        """Return `size` bytes from each place on. Every page has enough bytes."""
        index = np.minimum(places[:, None] + np.arange(size), len(self._data) - 1)
        return np.ascontiguousarray(self._data[index])

    def _field(self, name: str, field: str) -> Field:
        try:
            return self.trace.formats[name].fields[field]
        except KeyError:
            raise UserError(
                f"{self.trace.path}: event {name} has no field {field}; this trace is of another kernel than lull's"
            ) from None


def batches(trace: TraceFile, cpu: int) -> Iterator[Batch]:
    for pages in trace.pages(cpu):
        try:
            yield Batch(trace, cpu, ringbuffer.decode(pages))
        except ValueError as error:
            raise UserError(f"{trace.path}: CPU {cpu} has {error}; run the command again") from error
