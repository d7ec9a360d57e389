# SPDX-License-Identifier: BSD-3-Clause
"""The progress of a sweep, from the state files of its jobs, wherever they run.

Work is counted in simulated seconds. The expected work of a point is that of a finished one: the same point with
another seed, else a point with the same name in the scenario, else any point. Before a point has finished, the time
left is not known.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from lull.engines.gem5 import PROGRESS
from lull.scenario.folder import FAILED, HUNG, KEPT, RAN, Done
from lull.sweep.folder import SweepFolder, SweepPoint
from lull.sweep.job import RUNNING

Likes = tuple[str, str, str]
"""Three keys of a point to find similar points, the closest first: title, name, and a key that all points share."""


class Tally:
    def __init__(
        self,
        folder: SweepFolder,
        state: Path,
        entries: Sequence[SweepPoint],
        boots: Sequence[Path] = (),
        known: Iterable[tuple[SweepPoint, float]] = (),
    ) -> None:
        """`boots` are files that exist once a machine has booted. `known` are points that ended before, with their
        simulated seconds."""
        self._folder, self._state, self._boots = folder, state, boots
        self._entries = {entry.key: _likes(entry) for entry in entries}
        self._read: Counter[str] = Counter()
        """Bytes that were read of each job's state file."""
        self.states: dict[str, Done] = {}
        """The states of the runs that have begun, by key."""
        self._running: dict[str, tuple[float, int]] = {}
        """Seconds and instructions that each running run has simulated so far, by key."""
        self._took: dict[str, tuple[float, int]] = {}
        """The total of simulated seconds and the number of ended runs, by title, by name, and for all points."""
        self._simulated, self._instructions = 0.0, 0
        """Seconds and instructions of the runs that have ended here."""
        self._since: float | None = None
        """The time when the first run was seen. Boots before it do not count for the speed."""
        self._last = 0.0
        self._busy_s = 0.0
        """The sum of all runs' wall-clock seconds: two runs at the same time for one second count 2."""
        self._ahead: tuple[float, float] | None = None
        for entry, seconds in known:
            self._learn(_likes(entry), seconds)

    def look(self, now: float) -> None:
        if self._since is not None:
            self._busy_s += (now - self._last) * len(self._running)
        for done in self._news():
            self.states[done.name] = done
            if done.how == RUNNING:
                self._running[done.name] = (0.0, 0)
                continue
            self._running.pop(done.name, None)
            if done.simulated_s is not None and done.how in (RAN, KEPT):
                self._learn(self._entries[done.name], done.simulated_s)
            if done.how == RAN:
                self._simulated += done.simulated_s or 0.0
                self._instructions += done.instructions or 0
        for key in self._running:
            self._running[key] = _so_far(self._folder.run_of(key)) or self._running[key]
        if self.states and self._since is None:
            self._since = now
        self._last = now
        self._ahead = self._to_come()

    @property
    def ended(self) -> int:
        return len(self.states) - len(self._running)

    def share(self) -> float | None:
        """Return the finished share of the work; None if the amount of work is not known."""
        ahead = self._ahead
        if ahead is None:
            return None
        behind = self._simulated + sum(seconds for seconds, _ in self._running.values())
        return behind / (behind + ahead[0]) if behind + ahead[0] else None

    def left_s(self, at_once: int) -> float | None:
        """Return the seconds until all is done, if `at_once` runs at a time are as fast as those so far. The answer is
        at least the time of the longest run."""
        ahead = self._ahead
        behind = self._simulated + sum(seconds for seconds, _ in self._running.values())
        if ahead is None or not behind or not self._busy_s:
            return None
        speed = behind / self._busy_s
        lanes = min(at_once, len(self._entries) - self.ended)
        return max(ahead[0] / lanes, ahead[1]) / speed if lanes else 0.0

    def line(self, now: float) -> str:
        """Return the line of progress, such as `3 of 8 done, 2 running, 0 failed, 0.412 s simulated, 1.90 MIPS`."""
        count = Counter(done.how for done in self.states.values())
        running, failed = count[RUNNING], count[FAILED] + count[HUNG]
        words = [f"{count[RAN] + count[KEPT]} of {len(self._entries)} done, {running} running, {failed} failed"]
        if boots := sum(not path.exists() for path in self._boots):
            words.append(f"{boots} to boot first")
        if seconds := self._simulated + sum(seconds for seconds, _ in self._running.values()):
            words.append(f"{seconds:.3f} s simulated")
        instructions = self._instructions + sum(number for _, number in self._running.values())
        if instructions and self._since is not None and now > self._since:
            words.append(f"{instructions / (now - self._since) / 1e6:.2f} MIPS")
        return ", ".join(words)

    def _news(self) -> list[Done]:
        """Return the states that jobs have written since the last look. Each job has its own state file."""
        found = []
        try:
            files = [file for file in os.scandir(self._state) if file.stat().st_size > self._read[file.name]]
        except OSError:
            return []
        for file in sorted(files, key=lambda file: file.name):
            with Path(file.path).open("rb") as stream:
                stream.seek(self._read[file.name])
                text, _, _ = stream.read().rpartition(b"\n")
            self._read[file.name] += len(text) + 1 if text else 0
            found += [Done(**json.loads(line)) for line in text.splitlines()]
        return [done for done in found if done.name in self._entries]

    def _learn(self, likes: Likes, seconds: float) -> None:
        for like in likes:
            total, count = self._took.get(like, (0.0, 0))
            self._took[like] = total + seconds, count + 1

    def _expected(self, likes: Likes) -> float:
        total, count = next(self._took[like] for like in likes if like in self._took)
        return total / count

    def _to_come(self) -> tuple[float, float] | None:
        """Return the simulated seconds still to come: of all runs together, and of the longest one."""
        if not self._took:
            return None
        total = longest = 0.0
        for key, likes in self._entries.items():
            if key in self.states and key not in self._running:
                continue
            so_far, _ = self._running.get(key, (0.0, 0))
            left = max(self._expected(likes) - so_far, 0.0)
            total, longest = total + left, max(longest, left)
        return total, longest


def _likes(entry: SweepPoint) -> Likes:
    return entry.title, entry.name, ""


def _so_far(run: Path) -> tuple[float, int] | None:
    """Return the seconds and instructions that a run has simulated so far; None on QEMU, which does not tell."""
    try:
        seconds, instructions = (run / PROGRESS).read_text().split()
        return float(seconds), int(instructions)
    except (OSError, ValueError):
        return None
