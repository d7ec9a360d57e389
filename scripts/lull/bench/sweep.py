# SPDX-License-Identifier: BSD-3-Clause
"""Compares the time of a sweep over an exit latency with that of independent calls, which each boot and run one point.

Both begin with their own cache, which has the inputs of a boot, but no checkpoint. Simulation is the time of gem5's
processes: the boot, and each run from its restore to its end.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.engines.gem5 import OUTCOME
from lull.errors import UserError
from lull.files import json_file, paths
from lull.rundir.folder import MANIFEST
from lull.runspec.spec import CpuMode

AXIS = "cstates.C3.exit_us"
STEP_US = 10
SHARED = ("debian", "firmware", "gem5", "kernel", "rootfs")


@dataclass(frozen=True)
class SweepPlan:
    platform: str
    cpu: CpuMode
    points: int
    settings: Sequence[str]
    """Settings of the scenario, such as those that make a point long or short."""
    jobs: int

    @property
    def values(self) -> list[int]:
        return [STEP_US * (number + 1) for number in range(self.points)]

    def words(self) -> list[str]:
        fixed = [word for setting in self.settings for word in ("--set", setting)]
        return ["--points", "states/C3", "-e", "gem5", "-p", self.platform, "--cpu", self.cpu, *fixed]


@dataclass(frozen=True)
class SweepTook:
    points: int
    wall_s: float
    boots_s: float
    runs_s: float
    """Seconds of runs in gem5; `boots_s` are those of boots."""

    @property
    def beyond_s(self) -> float:
        """Return the seconds of a point outside of gem5. They are meaningful only if one point runs at a time."""
        return (self.wall_s - self.boots_s - self.runs_s) / self.points


def independent(what: SweepPlan, scratch: Path, count: int) -> SweepTook:
    """Measure the first `count` points, one call after the other, each with a boot of its own."""
    wall = boots = runs = 0.0
    for value in what.values[:count]:
        place = scratch / f"alone-{value}"
        cache = _cache(place)
        words = ["run", "wake-latency", *what.words(), "--set", f"{AXIS}={value}", "--out", str(place / "out")]
        wall += _call(words, cache)
        boots += _boots_s(cache)
        runs += _runs_s(place / "out" / "states")
    return SweepTook(count, wall, boots, runs)


def swept(what: SweepPlan, scratch: Path) -> SweepTook:
    place = scratch / "sweep"
    cache = _cache(place)
    words = ["sweep", "--scenario", "wake-latency", *what.words(), "-j", str(what.jobs), "--out", str(place / "out")]
    wall = _call([*words, "--grid", f"{AXIS}={','.join(map(str, what.values))}"], cache)
    return SweepTook(what.points, wall, _boots_s(cache), _runs_s(place / "out" / "points"))


def _cache(place: Path) -> Path:
    """Make a cache with everything that the user's cache has, but the checkpoints."""
    cache = place / "cache"
    cache.mkdir(parents=True)
    for name in SHARED:
        (paths.cache_dir() / name).mkdir(parents=True, exist_ok=True)
        (cache / name).symlink_to(paths.cache_dir() / name)
    return cache


def _call(words: Sequence[str], cache: Path) -> float:
    begun = time.monotonic()
    env = {**os.environ, "LULL_CACHE": str(cache)}
    done = subprocess.run([sys.executable, "-m", "lull", *words], env=env, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise UserError(f"`lull {words[0]}` ended with status {done.returncode}; it said why above")
    return time.monotonic() - begun


def _boots_s(cache: Path) -> float:
    return sum(
        float(json_file.read(entry / OUTCOME, "run the benchmark again")["host_seconds"])
        for entry in (cache / "checkpoint").iterdir()
    )


def _runs_s(folder: Path) -> float:
    return sum(float(json.loads(path.read_text())["wall_s"]) for path in folder.glob(f"*/{MANIFEST}"))
