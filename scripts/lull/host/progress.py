# SPDX-License-Identifier: BSD-3-Clause
"""Messages of a command while it works: on stderr, so that stdout stays the guest's or the result's."""

import sys
import time
from types import TracebackType

from lull.host import terminal

console = terminal.console(stderr=True)
QUIET_PERIOD_S = 30.0
"""Seconds between two lines that say that the work goes on, where nobody watches a terminal."""
SHARE_THAT_TELLS = 0.02
"""Below this share of the work, the time left is noise."""


def report(text: str) -> None:
    console.print(text, soft_wrap=True)


class Progress:
    """The progress of one piece of long work: its name, how far it is, how long it still takes.

    `total` is an expectation, the steps that the same work took before. So the share shown never passes 99 % before the
    work has ended.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self.detail = ""
        self.share: float | None = None
        self.left_s: float | None = None
        """`share` of the work and seconds until its end, if the caller knows them better than the number of steps
        does."""
        self.started = self._last = time.monotonic()
        self._live = console.is_terminal

    def __enter__(self) -> "Progress":
        if not self._live:
            report(f"{self.what} …")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
        verb = "done" if error is None else "stopped"
        report(f"{self.what}: {verb} after {clock(time.monotonic() - self.started)}")

    def step(self, detail: str = "", steps: int = 1) -> None:
        self.done += steps
        self.detail = detail
        self.tick()

    def tick(self) -> None:
        now = time.monotonic()
        if now - self._last < (0.2 if self._live else QUIET_PERIOD_S):
            return
        self._last = now
        line = self.line(now - self.started)
        if self._live:
            width = max(20, console.width - 1)
            sys.stderr.write("\r\x1b[K" + line[:width])
            sys.stderr.flush()
        else:
            report(line)

    def line(self, elapsed: float) -> str:
        parts = [self.what, clock(elapsed)]
        share = min(0.99, self._share())
        if share >= SHARE_THAT_TELLS:
            left = elapsed / share * (1 - share) if self.left_s is None else self.left_s
            parts.append(f"{share:.0%}, about {clock(left)} left")
        if self.detail:
            parts.append(self.detail)
        return " · ".join(parts)

    def _share(self) -> float:
        if self.share is not None:
            return self.share
        return self.done / self.total if self.total else 0.0


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds + 0.5), 60)
    return f"{minutes}:{rest:02d}"
