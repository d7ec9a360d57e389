# SPDX-License-Identifier: BSD-3-Clause
"""Messages of a command while it works. They go to stderr, because stdout is for the guest's output or the result."""

import sys
import time
from types import TracebackType

from lull.host import terminal

console = terminal.console(stderr=True)
QUIET_PERIOD_S = 30.0
"""Seconds between two lines of progress if stderr is no terminal."""
SHARE_THAT_TELLS = 0.02
"""Below this share of the work, the time left is not shown, because it would be too uncertain."""


def report(text: str) -> None:
    console.print(text, soft_wrap=True)


class Progress:
    """The progress of one piece of long work: name, share, and time left.

    `total` is only expected, from the steps of the same work before. So the share stays at 99 % at most until the work
    has ended.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self.detail = ""
        self.share: float | None = None
        self.left_s: float | None = None
        """`share` of the work and `left_s` seconds until its end, if the caller knows better than the number of steps.
        """
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
