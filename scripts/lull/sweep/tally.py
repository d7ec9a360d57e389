# SPDX-License-Identifier: BSD-3-Clause
"""How far a sweep is, by what its jobs leave in files: it is the same on this machine and on any other."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lull.engines.gem5 import PROGRESS
from lull.rundir.folder import MANIFEST
from lull.scenario.folder import FAILED, HUNG, KEPT, RAN, Done
from lull.sweep.folder import SweepFolder
from lull.sweep.job import RUNNING


class Tally:
    def __init__(self, folder: SweepFolder, state: Path, keys: Sequence[str], boots: Sequence[Path] = ()) -> None:
        """`boots` are files that are there once a machine has booted."""
        self._folder, self._state, self._total, self._boots = folder, state, len(keys), boots
        self._open = list(keys)
        self.states: dict[str, Done] = {}
        """Of the runs that were begun."""
        self._simulated: dict[str, tuple[float, int]] = {}
        """Seconds and instructions."""
        self._since: float | None = None
        """When the first run was seen: boots before it are not what is being timed."""

    def look(self, now: float) -> None:
        for key in self._open:
            try:
                done = Done(**json.loads((self._state / f"{key}.json").read_text()))
            except (OSError, ValueError):
                continue
            self.states[key] = done
            if done.how in (RUNNING, RAN) and (found := _simulated(self._folder.run_of(key), done.how == RAN)):
                self._simulated[key] = found
        if self.states and self._since is None:
            self._since = now
        self._open = [key for key in self._open if key not in self.states or self.states[key].how == RUNNING]

    @property
    def ended(self) -> int:
        return self._total - len(self._open)

    def line(self, now: float) -> str:
        """Points done, running, failed and to come, what was simulated, and how fast all of it together."""
        count = Counter(done.how for done in self.states.values())
        running, failed = count[RUNNING], count[FAILED] + count[HUNG]
        words = [f"{count[RAN] + count[KEPT]} of {self._total} done, {running} running, {failed} failed"]
        if boots := sum(not path.exists() for path in self._boots):
            words.append(f"{boots} to boot first")
        if self._simulated:
            words.append(f"{sum(seconds for seconds, _ in self._simulated.values()):.3f} s simulated")
        instructions = sum(number for _, number in self._simulated.values())
        if instructions and self._since is not None and now > self._since:
            words.append(f"{instructions / (now - self._since) / 1e6:.2f} MIPS")
        return ", ".join(words)


def _simulated(run: Path, ended: bool) -> tuple[float, int] | None:
    """QEMU counts no instructions, and says nothing before its end."""
    try:
        if not ended:
            seconds, instructions = (run / PROGRESS).read_text().split()
            return float(seconds), int(instructions)
        manifest = json.loads((run / MANIFEST).read_text())
        return float(manifest["simulated_s"]), int(manifest["instructions"] or 0)
    except (OSError, ValueError, KeyError):
        return None
