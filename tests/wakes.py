# SPDX-License-Identifier: BSD-3-Clause
"""Runs of wake-latency with known answers, made without an engine: what the guest and the engine would have left."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lull.figures import wake
from lull.rundir.folder import FILES, RunDir
from lull.runspec.spec import EngineName
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import file_of, load_scenario
from lull.scenario.points import Point, Wishes, resolve, select
from lull.scenario.runs import Runs, read

FREQUENCY = 25_000_000
CPUS = (0, 1, 2)
"""The first of each cluster of `tiny`."""
STATE_INDEX = {"C1": 0, "C2": 1, "C3": 2, "C4": 3}
ENGINE = {"name": "gem5", "version": "24.0", "sha256": "0", "path": "/somewhere/gem5.opt"}
ARTIFACTS = {"kernel": {"key": "k"}, "rootfs": {"key": "r"}, "firmware": {"key": "f"}}

Make = Callable[[Point, int], npt.NDArray[Any]]


def ticks(microseconds: object) -> npt.NDArray[np.uint64]:
    return np.rint(np.asarray(microseconds, dtype=np.float64) * FREQUENCY / 1e6).astype(np.uint64)


def good(cpu: int, state: str, phases: Mapping[str, object], count: int, stamped: bool = True) -> npt.NDArray[np.void]:
    """`count` perfect wake-ups with these phases in µs (numbers, or arrays of `count`)."""
    rows = np.zeros(count, wake.SAMPLE)
    rows["asked_cpu"] = rows["cpu"] = cpu
    rows["asked_state"] = rows["state"] = STATE_INDEX[state]
    rows["depth"] = STATE_INDEX[state] + 1
    rows["flags"] = wake.SLEPT | (wake.FIRMWARE if stamped else 0)
    rows["delay_ns"] = 3_000_000
    rows["armed"] = 1_000_000 + np.arange(count, dtype=np.uint64) * 1_000_000
    rows["event"] = rows["armed"] + ticks(3000)
    if stamped:
        rows["fw_enter"] = rows["armed"] + ticks(20)
        rows["hw_enter"] = rows["fw_enter"] + ticks(phases["entry"])
        rows["hw_exit"] = rows["event"] + ticks(phases["hardware"])
        rows["fw_exit"] = rows["hw_exit"] + ticks(phases["firmware"])
        rows["irq"] = rows["fw_exit"] + ticks(phases["kernel"])
    else:
        rows["irq"] = rows["event"] + ticks(phases["interrupt"])
    rows["task"] = rows["irq"] + ticks(phases["task"])
    return rows


def write(path: Path, rows: npt.NDArray[Any]) -> None:
    header = np.array([(wake.MAGIC, wake.VERSION, wake.SAMPLE.itemsize, len(rows), FREQUENCY)], wake.HEADER)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header.tobytes() + rows.tobytes())


def finish(folder: Path, point: Point, engine: Mapping[str, object] = ENGINE) -> RunDir:
    """A RunDir as if the point had run."""
    rundir = RunDir.create(folder, point.spec)
    rundir.begin(dict(engine), dict(ARTIFACTS))
    (rundir / FILES).mkdir()
    rundir.finish(
        {"status": 0, "simulated_s": 1.0, "wall_s": 2.0, "instructions": 3, "stats_windows": 1, "details": {}}
    )
    return rundir


def counted(cpu: int, state: str, **changes: object) -> dict[str, object]:
    """Return the guest's counts of an idle state: a line of `cpuidle.jsonl`."""
    counts = dict.fromkeys(("usage", "time_us", "above", "below", "rejected"), 0)
    told = {"disabled": False, "governor": "menu", "cpufreq_governor": "performance"}
    return {"cpu": cpu, "name": state, "window_us": 1000, **counts, **told, **changes}


def runs(
    out: Path,
    make: Make,
    settings: Sequence[str] = (),
    patterns: Sequence[str] = (),
    engine: str = "gem5",
    scenario: str = "wake-latency",
) -> Runs:
    """A sweep of wake-latency, or of a copy of it, in which every point left what `make` says of it."""
    points = select(_points("gem5" if engine == "gem5" else "qemu", tuple(settings)), patterns)
    asked = load_scenario(scenario)
    sweep = ScenarioFolder.create(out, asked.name, "./lull run wake-latency", points, file_of(scenario))
    for point in points:
        rundir = finish(sweep.folder(point.name), point, {**ENGINE, "name": engine})
        write(rundir / FILES / wake.FILE, np.concatenate([make(point, cpu) for cpu in CPUS]))
    return read(sweep, asked)


@cache
def _points(engine: EngineName, settings: tuple[str, ...]) -> list[Point]:
    """Each point resolves a platform of its own, which takes longer than all that is done with it here."""
    return resolve(load_scenario("wake-latency"), Wishes(engine, settings=settings))


def dump(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
