# SPDX-License-Identifier: BSD-3-Clause
"""Finished points of scenarios that use `steady-power`, with made-up tables, statistics and trace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lull.energy import activity
from lull.energy.mcpat import McPat
from lull.figures import steady
from lull.platform.schema import Platform
from lull.rundir.folder import FILES, MANIFEST, STATS_TABLE, TRACE
from lull.scenario.folder import ScenarioFolder
from lull.scenario.load import load_scenario
from lull.scenario.points import Point, Wishes, resolve, select
from lull.scenario.runs import Runs, read
from lull.trace import recording
from lull.trace.activity import AWAKE
from lull.trace.recording import Recording
from tests import energy_runs, recordings
from tests import wakes as made_runs
from tests.energy_runs import HZ, MS, US, window
from tests.recordings import CLOCK

STATES = ("C1", "C2", "C3", "C4")
NAMES = ["idle", "task:steady-power/1", "irq:arch_timer"]
SETTLE, LENGTH, BETWEEN = 100 * US, 200 * US, 10 * MS


@dataclass(frozen=True)
class Made:
    """A window: what the guest says of it, and what gem5 counted of each CPU in it."""

    state: str
    busy: tuple[int, ...] = ()
    mhz: float = 0.0
    loop: str | None = None
    ops: Sequence[float] | None = None
    dram_pj: float = 0.0
    """Energy of accesses in the window."""
    dram_asleep_w: float = 0.108
    """Watts of `tiny`'s four devices in self-refresh by their data sheet: 20 mA each, at 1.35 V."""
    late: int = 0
    """Ticks by which the guest is wrong about when it ordered the dumps."""
    interrupted: int = 0
    """Ticks for which the first busy CPU is at work for an interrupt."""


def pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, events and traces are made up; the ledger and what is made of it are not."""
    monkeypatch.setattr(activity, "core_joules", energy_runs.core_joules)
    monkeypatch.setattr(activity, "l2_joules", energy_runs.l2_joules)
    monkeypatch.setattr(McPat, "of", lambda platform, gem5, given, kelvin: energy_runs.mcpat(platform, given))


def runs(
    out: Path,
    name: str,
    made: Mapping[str, Sequence[Made]],
    monkeypatch: pytest.MonkeyPatch,
    platform: str | None = None,
    engine: str = "gem5",
) -> Runs:
    """The scenario's points of these names, each with its windows."""
    scenario = load_scenario(name)
    every = resolve(scenario, Wishes("gem5" if engine == "gem5" else "qemu", platform))
    points = select(every, list(made))
    sweep = ScenarioFolder.create(out, scenario.name, "./lull run", points)
    records: dict[Path, Recording] = {}
    for point in points:
        folder = sweep.folder(point.name)
        records[folder] = _finish(folder, point, made[point.name], engine)
    monkeypatch.setattr(recording, "load", lambda rundir: records[rundir.path])
    return read(sweep, scenario)


def _finish(folder: Path, point: Point, made: Sequence[Made], engine: str) -> Recording:
    rundir = made_runs.finish(folder, point, {**made_runs.ENGINE, "name": engine})
    platform = point.spec.platform
    lines = []
    statistics = []
    held: list[list[tuple[int, int, int]]] = [[] for _ in range(platform.cpu_count)]
    now = BETWEEN
    for item in made:
        asleep = [0 if cpu in item.busy else LENGTH for cpu in range(platform.cpu_count)]
        # CPUs change in the middle between windows, so that ways in and out end before the next one.
        change = now - BETWEEN // 2
        for cpu, changes_of in enumerate(held):
            changes_of.append((change, AWAKE, int(cpu in item.busy)))
            if cpu not in item.busy:
                changes_of.append((change + US, STATES.index(item.state), 0))
            elif cpu == item.busy[0] and item.interrupted:
                changes_of += [(now + US, AWAKE, 2), (now + US + item.interrupted, AWAKE, 1)]
        mhz = _mhz(platform, item)
        statistics.append(window(platform, now - BETWEEN, now, [BETWEEN] * platform.cpu_count, mhz))
        statistics.append(window(platform, now, now + LENGTH, asleep, mhz, item.ops))
        for part in ("actEnergy", "totalEnergy"):
            statistics[-1][f"system.mem_ctrls.dram.rank0.{part}"] += item.dram_pj
        rank, picojoules = "system.mem_ctrls.dram.rank0.", item.dram_asleep_w * LENGTH
        statistics[-1] |= {rank + "selfRefreshEnergy": picojoules, rank + "pwrStateTime::SREF": LENGTH}
        statistics[-1][rank + "totalEnergy"] += picojoules
        lines.append(
            {
                "state": item.state, "busy": list(item.busy), "loop": item.loop, "khz": round(item.mhz * 1000),
                "ordered": (now - SETTLE + item.late) // CLOCK.period, "settle_us": SETTLE // US,
                "window_us": LENGTH // US, "counter_hz": CLOCK.hz,
            }
        )  # fmt: skip
        now += LENGTH + BETWEEN
    # Awake at the end, as a guest is whose command ends.
    statistics.append(window(platform, now - BETWEEN, now, [0] * platform.cpu_count))
    for changes_of in held:
        changes_of.append((now - BETWEEN // 2, AWAKE, 0))
    energy_runs.statistics(rundir / STATS_TABLE, statistics)
    (rundir / TRACE).touch()
    made_runs.dump(rundir / FILES / steady.FILE, lines)
    details = {"start_tick": 0, "ticks": int(statistics[-1]["finalTick"]), "tick_hz": HZ}
    manifest = rundir.read_json(MANIFEST)
    rundir.write_json(MANIFEST, {**manifest, "stats_windows": len(statistics), "details": details})
    end = int(statistics[-1]["finalTick"])
    return recordings.recording(held, NAMES, BETWEEN // 2, end)


def _mhz(platform: Platform, item: Made) -> dict[str, float]:
    """A busy CPU's cluster runs as the window says, every other one at its fastest."""
    if not item.busy or not item.mhz:
        return {}
    cluster = next(cluster for cpus, cluster in platform.cpu_ranges() if item.busy[0] in cpus)
    return {cluster.name: item.mhz}
