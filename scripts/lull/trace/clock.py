# SPDX-License-Identifier: BSD-3-Clause
"""Converts a trace's time stamps to gem5's ticks, exactly.

A time stamp of the clock `local` is sched_clock(), the architected counter scaled to nanoseconds:

    stamp = epoch_ns + ((count - epoch_count) * mult >> shift)

with numbers that `lull-trace` has the kernel tell at the end of each trace. A count is about 40 ns on gem5 and 16 ns
on QEMU, so different counts have different stamps, and the count of a stamp follows without an error. A stamp that no
count has shows that the numbers are not those of this trace.

gem5's counter is 0 at tick 0 and counts whole periods of so many ticks that the frequency is at least what it says
(25165824 Hz: 39736 ticks, where 39736.4 would be right). Checkpoints in which it is otherwise are refused
(`gem5-configs/checkpoint.py`). So a stamp stands for the tick at which its count began; what happened was up to one
period later. On QEMU, which has no ticks, a tick is a picosecond of the guest's time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lull.errors import UserError

TICK_HZ = 10**12
TICKS_PER_US = TICK_HZ // 10**6
_MARKER = re.compile(
    r"lull clock hz=(\d+) mult=(\d+) shift=(\d+) epoch_ns=(\d+) epoch_ticks=(\d+) "
    r"monotonic_ns=(\d+) monotonic_ticks=(\d+)"
)
_ROOM = (1 << 63) - 1


def ticks_of_us(microseconds: Sequence[float]) -> npt.NDArray[np.int64]:
    return np.array([round(us * TICKS_PER_US) for us in microseconds], np.int64)


@dataclass(frozen=True)
class Clock:
    hz: int
    mult: int
    shift: int
    epoch_ns: int
    epoch_count: int
    monotonic_ns: int
    """CLOCK_MONOTONIC at `monotonic_count`, as near as a program can read both."""
    monotonic_count: int

    @classmethod
    def of_marker(cls, text: str) -> "Clock | None":
        match = _MARKER.match(text)
        return cls(*map(int, match.groups())) if match else None

    @property
    def period(self) -> int:
        """Ticks of a count, by gem5's own arithmetic."""
        return int(1.0 / self.hz * TICK_HZ)

    def counts(self, stamps: npt.NDArray[np.uint64], origin: object) -> npt.NDArray[np.int64]:
        since = stamps.astype(np.int64) - self.epoch_ns
        if since.size and (int(since.min()) < 0 or int(since.max()) > _ROOM >> self.shift):
            raise UserError(f"{origin}: has time stamps from outside of its clock's range; run the command again")
        counts = -((-(since << self.shift)) // self.mult)
        if ((counts * self.mult >> self.shift) != since).any():
            raise UserError(
                f"{origin}: has time stamps that its clock never showed; record it by `lull boot --trace`, "
                "and leave the trace clock alone"
            )
        return counts + self.epoch_count

    def ticks(self, stamps: npt.NDArray[np.uint64], origin: object) -> npt.NDArray[np.int64]:
        return self.counts(stamps, origin) * self.period

    def nanoseconds(self, ticks: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """sched_clock() at these ticks, also between two counts."""
        counts = ticks / self.period - self.epoch_count
        return self.epoch_ns + counts * (self.mult / (1 << self.shift))

    def monotonic_ticks(self, ns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Ticks of times of CLOCK_MONOTONIC, such as a timer's, to within a few counts.

        Linux keeps this clock in step with the counter within some parts in a billion.
        """
        count_ns = self.mult / (1 << self.shift)
        return np.rint((self.monotonic_count + (ns - self.monotonic_ns) / count_ns) * self.period).astype(np.int64)
