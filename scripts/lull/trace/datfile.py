# SPDX-License-Identifier: BSD-3-Clause
"""Reads trace-cmd's file: the events' formats, the names of tasks, and each CPU's pages (trace-cmd.dat.v7(5)).

Our guests write version 7, little-endian, of a 64-bit machine. Any other file is an error.
"""

import mmap
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lull.errors import UserError
from lull.trace import formats
from lull.trace.formats import Format

MAGIC = b"\x17\x08\x44tracing7\0"
BATCH_PAGES = 1 << 7
"""The number of pages that are read at a time: half a MiB."""

_COMPRESSED = 1
_DONE, _CPUSTAT, _BUFFER, _EVENT_FORMATS, _FTRACE_FORMATS, _PRINTK = 0, 2, 3, 18, 17, 20
_DROPS = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)
_READ = re.compile(r"^read events: (\d+)$", re.MULTILINE)
_CPU = re.compile(r"^CPU: (\d+)$", re.MULTILINE)
_STRING = re.compile(r'^0x([0-9a-f]+) : "(.*)"$', re.MULTILINE)


class _Cursor:
    """Reads a part of the file from its beginning. Errors such as `struct.error` become UserErrors."""

    def __init__(self, data: memoryview, origin: Path, at: int = 0) -> None:
        self.data, self.origin, self.at = data, origin, at

    def take(self, size: int) -> memoryview:
        piece = self.data[self.at : self.at + size]
        if size < 0 or len(piece) != size:
            raise UserError(f"{self.origin}: cut off at byte {len(self.data)}; run the command again")
        self.at += size
        return piece

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def text(self) -> str:
        end = self.at
        while end < len(self.data) and self.data[end]:
            end += 1
        text = bytes(self.take(end - self.at)).decode(errors="replace")
        self.take(1)
        return text


@dataclass(frozen=True)
class _Buffer:
    clock: str
    page_size: int
    places: dict[int, tuple[int, int]]


class TraceFile:
    """A trace file. It stays open while it is used, because pages are read on demand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as stream:
                self._view = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError as error:
            raise UserError(f"{path}: empty; run the command again with --trace") from error
        start = _Cursor(self._view, path)
        if len(self._view) < len(MAGIC) + 6 or bytes(start.take(len(MAGIC))) != MAGIC:
            raise UserError(f"{path}: not a trace of trace-cmd's file version 7; record it by `lull boot --trace`")
        if start.number(1) != 0 or start.number(1) != 8:
            raise UserError(f"{path}: not of a little-endian 64-bit machine; record it by `lull boot --trace`")
        start.take(4)
        self.codec = start.text()
        start.text()
        self.formats: dict[str, Format] = {}
        self.strings: dict[int, str] = {}
        """The kernel's own texts, by address."""
        self.dropped: dict[int, int] = {}
        """The kernel's count of events that were lost: never written into a CPU's pages, or overwritten there."""
        self.counted: dict[int, int] = {}
        """The kernel's count of a CPU's events in this file."""
        self._buffer: _Buffer | None = None
        self._read_options(start.number(8))
        if self._buffer is None or not self.formats:
            raise UserError(f"{path}: holds no events; record it by `lull boot --trace`")
        self.by_id: dict[int, Format] = {item.id: item for item in self.formats.values()}

    @property
    def clock(self) -> str:
        assert self._buffer is not None
        return self._buffer.clock

    @property
    def cpus(self) -> list[int]:
        assert self._buffer is not None
        return sorted(self._buffer.places)

    @property
    def places(self) -> dict[int, tuple[int, int]]:
        """Return for each CPU the offset and size of its pages in the file."""
        assert self._buffer is not None
        return self._buffer.places

    def pages(self, cpu: int) -> Iterator[npt.NDArray[np.uint8]]:
        """Yield a CPU's pages in batches, in the buffer's order."""
        assert self._buffer is not None
        offset, size = self._buffer.places[cpu]
        page_size = self._buffer.page_size
        batch: list[npt.NDArray[np.uint8]] = []
        held = 0
        for piece in self._chunks(offset, size):
            if len(piece) % page_size:
                raise UserError(f"{self.path}: CPU {cpu} has a part of a page; run the command again")
            pages = np.frombuffer(piece, np.uint8).reshape(-1, page_size)
            for first in range(0, len(pages), BATCH_PAGES):
                batch.append(pages[first : first + BATCH_PAGES])
                held += len(batch[-1])
                if held >= BATCH_PAGES:
                    yield np.concatenate(batch)
                    batch, held = [], 0
        if batch:
            yield np.concatenate(batch)

    def _chunks(self, offset: int, size: int) -> Iterator[memoryview]:
        if not size:
            return
        cursor = _Cursor(self._view, self.path, offset)
        if self.codec == "none":
            yield cursor.take(size)
            return
        for _ in range(cursor.number(4)):
            yield self._inflate(cursor)

    def _inflate(self, cursor: _Cursor) -> memoryview:
        packed, whole = cursor.number(4), cursor.number(4)
        data = cursor.take(packed)
        try:
            if self.codec == "zstd":
                return memoryview(pa.Codec("zstd").decompress(data, whole))
            if self.codec == "zlib":
                return memoryview(zlib.decompress(data))
        except (OSError, zlib.error) as error:
            raise UserError(f"{self.path}: damaged ({error}); run the command again") from error
        raise UserError(f"{self.path}: compressed by {self.codec}; lull reads zstd, zlib and none")

    def _section(self, offset: int) -> _Cursor:
        cursor = _Cursor(self._view, self.path, offset)
        cursor.number(2)
        flags = cursor.number(2)
        cursor.number(4)
        size = cursor.number(8)
        data = self._inflate(cursor) if flags & _COMPRESSED else cursor.take(size)
        return _Cursor(data, self.path)

    def _read_options(self, offset: int) -> None:
        while offset:
            options = self._section(offset)
            kind = None
            while kind != _DONE:
                kind = options.number(2)
                option = _Cursor(options.take(options.number(4)), self.path)
                if kind == _DONE:
                    offset = option.number(8)
                elif kind == _CPUSTAT:
                    self._read_counts(option.text())
                elif kind == _BUFFER:
                    self._read_buffer(option)
                elif kind == _EVENT_FORMATS:
                    self._read_event_formats(self._section(option.number(8)))
                elif kind == _FTRACE_FORMATS:
                    self._read_formats(self._section(option.number(8)), "ftrace")
                elif kind == _PRINTK:
                    self._read_strings(self._section(option.number(8)))

    def _read_counts(self, text: str) -> None:
        if cpu := _CPU.search(text):
            self.dropped[int(cpu[1])] = sum(map(int, _DROPS.findall(text)))
            self.counted[int(cpu[1])] = sum(map(int, _READ.findall(text)))

    def _read_buffer(self, option: _Cursor) -> None:
        option.number(8)
        name = option.text()
        clock, page_size = option.text(), option.number(4)
        places = {}
        for _ in range(option.number(4)):
            cpu = option.number(4)
            places[cpu] = (option.number(8), option.number(8))
        if not name:  # buffers with a name are instances, which lull does not make
            self._buffer = _Buffer(clock, page_size, places)

    def _read_event_formats(self, section: _Cursor) -> None:
        for _ in range(section.number(4)):
            self._read_formats(section, section.text())

    def _read_formats(self, section: _Cursor, system: str) -> None:
        for _ in range(section.number(4)):
            text = bytes(section.take(section.number(8))).decode(errors="replace")
            try:
                item = formats.parse(system, text)
            except ValueError as error:
                raise UserError(f"{self.path}: {error}; run the command again") from error
            self.formats[item.name] = item

    def _read_strings(self, section: _Cursor) -> None:
        text = bytes(section.take(section.number(4))).decode(errors="replace")
        self.strings = {int(address, 16): string for address, string in _STRING.findall(text)}
