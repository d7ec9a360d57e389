# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a sweep over governors, made without an engine: what `lull sweep` would have left."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lull.figures import wake
from lull.rundir.folder import CPUIDLE, FILES
from lull.runspec.settings import resolve as resolved
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes, resolve
from lull.sweep.folder import SweepFolder, SweepPoint
from tests import wakes

POINT = resolve(load_scenario("wake-latency"), Wishes("gem5"))[0]


def make(path: Path, made: Mapping[str, Sequence[tuple[float, float]]], seeds: Sequence[int] = (1, 2, 3)) -> Path:
    """Make a sweep. `made` has latency and watts of each seed by governor; the guest left them in a line. CPU 0
    slept for half the time, and took 58 µs and a tenth of the latency to wake up."""
    path.mkdir(parents=True)
    folder, entries = SweepFolder(path), []
    for governor, values in made.items():
        for seed, (latency, watts) in zip(seeds, values, strict=True):
            key = f"{governor}-{seed}"
            policy = resolved("tiny", [f"governor={governor}"]).policy
            spec = POINT.spec.model_copy(update={"policy": policy, "seed": seed})
            rundir = wakes.finish(folder.run_of(key), replace(POINT, spec=spec))
            line = {"latency_us": latency, "power_w": watts, "constant": 7}
            wakes.dump(rundir / FILES / "guest.jsonl", [line])
            phases = {"entry": 5.0, "hardware": 50.0, "firmware": 5.0, "kernel": 3.0, "task": latency / 10}
            wakes.write(rundir / FILES / wake.FILE, wakes.good(0, "C3", phases, 20))
            wakes.dump(rundir / CPUIDLE, [wakes.counted(0, "C1", usage=2, time_us=500)])
            settings = {"governor": governor}
            entries.append(SweepPoint(POINT.name, POINT.group, POINT.values, settings, seed, spec.hash(), key))
    about = {"name": "made", "scenario": "wake-latency", "title": "made up", "command": "./lull sweep"}
    folder.record({**about, "engine": "gem5", "grid": {"governor": list(made)}, "seeds": len(seeds)}, entries)
    return path
