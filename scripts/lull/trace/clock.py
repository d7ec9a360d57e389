# SPDX-License-Identifier: BSD-3-Clause
"""Converts a trace's time stamps to gem5's ticks, without error.

A time stamp of the clock `local` is sched_clock(), which is the architected counter scaled to nanoseconds:

    stamp = epoch_ns + ((count - epoch_count) * mult >> shift)

`lull-trace` makes the kernel write these numbers at the end of each trace. A count is about 40 ns on gem5 and 16 ns on
QEMU. So different counts have different stamps, and each stamp has exactly one count. A stamp without a count means
that the numbers belong to another trace.

gem5's counter is 0 at tick 0. Its period is the exact one rounded down to whole ticks (25165824 Hz: 39736 ticks instead
of 39736.4). Checkpoints with another counter are refused (`gem5-configs/checkpoint.py`). A stamp is converted to the
tick at which its count began; the event happened up to one period later. QEMU has no ticks: there, a tick is a
picosecond of the guest's time.
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
    """CLOCK_MONOTONIC at `monotonic_count`; a program has read both as close together as possible."""
    monotonic_count: int

    @classmethod
    def of_marker(cls, text: str) -> "Clock | None":
        match = _MARKER.match(text)
        return cls(*map(int, match.groups())) if match else None

    @property
    def period(self) -> int:
        """Return the ticks of a count, by gem5's own arithmetic."""
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
        """Return sched_clock() at these ticks, interpolated between two counts."""
        counts = ticks / self.period - self.epoch_count
        return self.epoch_ns + counts * (self.mult / (1 << self.shift))

    def monotonic_ticks(self, ns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the ticks of times of CLOCK_MONOTONIC, such as a timer's, with an error of a few counts.

        The error is small because Linux keeps this clock in step with the counter, within a few parts in a billion.
        """
        count_ns = self.mult / (1 << self.shift)
        return np.rint((self.monotonic_count + (ns - self.monotonic_ns) / count_ns) * self.period).astype(np.int64)
