# SPDX-License-Identifier: BSD-3-Clause
"""Made-up runs with made-up tables, in which every joule is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lull.energy.calibration import Factors
from lull.energy.mcpat import McPat
from lull.energy.memory_controller import MemoryTable
from lull.energy.tables import ClusterTable, Leakage, OppTable, TableManifest
from lull.platform.schema import Platform
from lull.rundir.folder import CPUIDLE, STATS_TABLE, RunDir
from lull.runspec.spec import RunSpec
from lull.trace.spans import CpuSpans
from tests import wakes
from tests.specs import spec

HZ = 10**12
MS = HZ // 1000
US = HZ // 10**6

J_PER_CYCLE = 1e-10
J_PER_OP = 2e-10
J_PER_L2_ACCESS = 1e-9
J_PER_LINE = 8e-9
CORE_LEAKAGE_W = 0.02
L2_LEAKAGE_W = 0.03
MEMORY = MemoryTable(
    platform="none",
    joules_per_event={"memory_reads": 1e-9, "memory_writes": 2e-9},
    watts=0.1,
    leakage=Leakage(subthreshold_w=0.02, gate_w=0.01),
    linearity_error=0.0,
    made_from="",
)
STATISTICS = {"cycles": "numCycles"}
"""Statistics by event, for events whose statistic has another name."""
FACTORS = Factors(dynamic=2.0, static=0.5, source="made up")


@dataclass(frozen=True)
class Span:
    cpu: int
    start: int
    end: int
    state: str
    cause: str


@dataclass(frozen=True)
class Wake:
    cpu: int
    time: int
    state: str
    source: str
    armed_by: str | None


def columns(spans: Sequence[Span]) -> list[CpuSpans]:
    """Return the spans as the reader of traces gives them."""
    found = []
    for cpu in sorted({span.cpu for span in spans}):
        own = [span for span in spans if span.cpu == cpu]
        states, causes = (sorted({getattr(span, name) for span in own}) for name in ("state", "cause"))
        found.append(
            CpuSpans(
                cpu,
                start=np.array([span.start for span in own], np.int64),
                end=np.array([span.end for span in own], np.int64),
                state=np.array([states.index(span.state) for span in own], np.int64),
                cause=np.array([causes.index(span.cause) for span in own], np.int64),
                states=states,
                causes=causes,
            )
        )
    return found


def run_spec(*settings: str, platform: str = "tiny") -> RunSpec:
    return spec(*settings, platform=platform, engine="gem5", cpu="detailed")


def paths(platform: Platform) -> list[str]:
    """gem5's name of each CPU."""
    return [
        f"system.cluster{number}.cpu{index}"
        for number, cluster in enumerate(platform.resolved_clusters())
        for index in range(cluster.cpus)
    ]


def clock_hz(mhz: float) -> float:
    """gem5 rounds a cycle to whole ticks."""
    return HZ / round(HZ / (mhz * 1e6))


def window(
    platform: Platform,
    start: int,
    end: int,
    asleep: Sequence[int],
    mhz: Mapping[str, float] | None = None,
    ops: Sequence[float] | None = None,
    l2_accesses: float = 0.0,
) -> dict[str, float]:
    """Statistics of a window in which each CPU stood in WFI for `asleep` ticks."""
    found = {"finalTick": float(end), "simTicks": float(end - start), "simFreq": float(HZ)}
    cpu = 0
    for number, cluster in enumerate(platform.resolved_clusters()):
        at = (mhz or {}).get(cluster.name, cluster.opps.table[-1].mhz)
        found[f"system.cluster{number}.clk_domain.clock"] = float(round(HZ / (at * 1e6)))
        found[f"system.cluster{number}.l2.accesses"] = l2_accesses
        for index in range(cluster.cpus):
            name = f"system.cluster{number}.cpu{index}"
            on = end - start - asleep[cpu]
            state = f"{name}.power_state.pwrStateResidencyTicks"
            found[f"{state}::ON"], found[f"{state}::CLK_GATED"] = float(on), float(asleep[cpu])
            found[f"{name}.numCycles"] = on / HZ * clock_hz(at)
            found[f"{name}.ops"] = ops[cpu] if ops else 0.0
            cpu += 1
    for part, picojoule in (("actEnergy", 100.0), ("refreshEnergy", 50.0), ("totalEnergy", 150.0)):
        found[f"system.mem_ctrls.dram.rank0.{part}"] = picojoule * (end - start) / MS
    found["system.mem_ctrls.dram.dramBytesRead"] = 512.0 * (end - start) / MS
    found["system.mem_ctrls.dram.dramBytesWritten"] = 128.0 * (end - start) / MS
    found["system.membus.pktSize_system.iobridge::total"] = 1000.0 * (end - start) / MS
    return found


def statistics(path: Path, windows: Sequence[Mapping[str, float]]) -> None:
    pq.write_table(
        pa.table(
            {
                "window": pa.array([number for number, values in enumerate(windows) for _ in values], pa.int32()),
                "statistic": [name for values in windows for name in values],
                "value": [value for values in windows for value in values.values()],
            }
        ),
        path,
    )


def rundir(folder: Path, asked: RunSpec, windows: Sequence[Mapping[str, float]], **manifest: object) -> RunDir:
    """A finished run."""
    made = RunDir.create(folder, asked)
    statistics(made / STATS_TABLE, windows)
    start = int(windows[0]["finalTick"] - windows[0]["simTicks"])
    ticks = int(windows[-1]["finalTick"]) - start
    made.begin({"name": "gem5", "version": "24.0.0.1"}, wakes.ARTIFACTS)
    made.finish(
        {
            "status": 0,
            "simulated_s": ticks / HZ,
            "wall_s": 2.0,
            "instructions": 3,
            "stats_windows": len(windows),
            "details": {"start_tick": start, "ticks": ticks, "tick_hz": HZ},
            **manifest,
        }
    )
    return made


def slept(made: RunDir, window_us: int, counts: Mapping[int, Mapping[str, tuple[int, int]]]) -> None:
    """Linux's counters: entries and microseconds by CPU and state."""
    lines = [
        wakes.counted(cpu, state, window_us=window_us, usage=usage, time_us=time_us, disabled=not usage)
        for cpu, states in counts.items()
        for state, (usage, time_us) in states.items()
    ]
    wakes.dump(made / CPUIDLE, lines)


def table(platform: Platform, cluster_name: str) -> ClusterTable:
    cluster = next(own for own in platform.resolved_clusters() if own.name == cluster_name)
    opps = [
        OppTable(
            mhz=opp.mhz,
            mv=opp.mv,
            joules_per_event={
                "pipe": {"cycles": J_PER_CYCLE, "ops": J_PER_OP},
                "cache": {"ops": J_PER_OP / 2},
                "l2": {"accesses": J_PER_L2_ACCESS},
            },
            leakage={
                "pipe": Leakage(subthreshold_w=CORE_LEAKAGE_W * 0.7, gate_w=0.0),
                "cache": Leakage(subthreshold_w=CORE_LEAKAGE_W * 0.2, gate_w=CORE_LEAKAGE_W * 0.1),
                "l2": Leakage(subthreshold_w=L2_LEAKAGE_W, gate_w=0.0),
            },
        )
        for opp in cluster.opps.table
    ]
    return ClusterTable(
        platform=platform.name, cluster=cluster.name, core=cluster.core, node_nm=32, device="none", temperature_k=350,
        area_mm2={"pipe": 0.6, "cache": 0.4, "l2": 1.0}, opps=opps,
        manifest=TableManifest(
            made_from="", mcpat_version="none", mcpat_sha256="", lull_version="", seed=0, linearity_error=0.0
        ),
    )  # fmt: skip


def core_joules(opp: OppTable, stats: Mapping[str, float], cpu: str, gem5: str = "") -> dict[str, float]:
    """In place of the mapping from gem5's statistics: made-up events have the names of made-up statistics."""
    return _joules(opp, stats, cpu, ("pipe", "cache"))


def l2_joules(opp: OppTable, stats: Mapping[str, float], l2: str, gem5: str = "") -> dict[str, float]:
    return _joules(opp, stats, l2, ("l2",))


def _joules(opp: OppTable, stats: Mapping[str, float], path: str, components: Sequence[str]) -> dict[str, float]:
    return {
        name: sum(
            joules * stats[f"{path}.{STATISTICS.get(event, event)}"]
            for event, joules in opp.joules_per_event[name].items()
        )
        for name in components
    }


def mcpat(platform: Platform, given: bool = False) -> McPat:
    clusters = platform.resolved_clusters()
    made = [table(platform, own.name) for own in clusters]
    return McPat(clusters, made, [FACTORS] * len(clusters), MEMORY, J_PER_LINE, "24.0", given)


def total(path: Path, **where: object) -> float:
    """Joules of the rows that match."""
    found = pq.read_table(path)
    for key, value in where.items():
        column = found[key]
        words = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        found = found.filter(pc.equal(words, value))
    return float(pc.sum(found["joules"], min_count=0).as_py())
