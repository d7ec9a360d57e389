# SPDX-License-Identifier: BSD-3-Clause
"""A run as McPAT's input: one file for each cluster and operating point, with all that its CPUs did there.

McPAT is linear, so the windows of a run that share an operating point are one input. Its cores share a clock, so what
a run did at several is several.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from lull import gem5_names, yaml_file
from lull.energy import activity
from lull.energy.mcpat_xml import Chip, render
from lull.errors import UserError
from lull.platform.schema import Cluster, Opp, Platform
from lull.rundir import RunDir
from lull.runs import STATS_TABLE


@dataclass
class Spent:
    """What a cluster did at one operating point."""

    seconds: float = 0.0
    cores: list[dict[str, float]] = field(default_factory=list)
    l2: dict[str, float] = field(default_factory=dict)

    def add(self, seconds: float, cores: list[dict[str, float]], l2: dict[str, float]) -> None:
        self.seconds += seconds
        self.cores = self.cores or [{} for _ in cores]
        for total, counts in zip([*self.cores, self.l2], [*cores, l2], strict=True):
            for event, count in counts.items():
                total[event] = total.get(event, 0.0) + count


def write(rundir: RunDir, out: Path) -> list[Path]:
    """The files, `CLUSTER-MHZ.xml`, in a folder that is made if need be."""
    platform = rundir.spec().platform
    texts = {
        f"{cluster.name}-{opp.mhz:g}.xml": _xml(Chip(platform, cluster, opp), spent)
        for (cluster, opp), spent in _spent(rundir, platform)
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in texts]


def spent(rundir: RunDir) -> Iterator[tuple[Chip, Spent]]:
    """What `write` writes, as numbers."""
    platform = rundir.spec().platform
    for (cluster, opp), each in _spent(rundir, platform):
        yield Chip(platform, cluster, opp), each


def _xml(chip: Chip, spent: Spent) -> str:
    return render(chip, spent.cores, spent.l2, spent.seconds * chip.clock_mhz * 1e6)


def _spent(rundir: RunDir, platform: Platform) -> Iterator[tuple[tuple[Cluster, Opp], Spent]]:
    gem5 = version(rundir)
    clusters = platform.resolved_clusters()
    found: dict[tuple[int, int], Spent] = {}
    for stats in windows(rundir / STATS_TABLE):
        for number, cluster in enumerate(clusters):
            counts = [activity.core_counts(stats, gem5_names.cpu(number, cpu), gem5) for cpu in range(cluster.cpus)]
            place = found.setdefault((number, _level(stats, number, cluster)), Spent())
            place.add(stats["simSeconds"], counts, activity.l2_counts(stats, gem5_names.l2(number), gem5))
    for (number, level), each in sorted(found.items()):
        yield (clusters[number], clusters[number].opps.table[level]), each


def _level(stats: Mapping[str, float], number: int, cluster: Cluster) -> int:
    """gem5's clocks are whole picoseconds, so the nearest operating point is the one."""
    key = gem5_names.clock(number)
    if key not in stats:
        raise UserError(f"{key}: not among the run's statistics; run it with a gem5 that lull supports")
    mhz = 1e6 / stats[key]
    table = cluster.opps.table
    return min(range(len(table)), key=lambda level: abs(table[level].mhz - mhz))


def version(rundir: RunDir) -> str:
    """Of the gem5 that made the run."""
    engine = rundir.read_json("manifest.json").get("engine")
    if not isinstance(engine, dict) or engine.get("name") != "gem5":
        raise UserError(f"{rundir.path}: not a run of gem5, and only gem5 counts what energy needs; use --engine gem5")
    return str(engine.get("version"))


def windows(table: Path) -> Iterator[dict[str, float]]:
    """The statistics of each window, in order; in memory is one at a time."""
    if not table.is_file():
        raise UserError(f"{yaml_file.shown(table)}: no statistics; run it on gem5 with --cpu detailed")
    current: dict[str, float] = {}
    last = 0
    for batch in pq.ParquetFile(table).iter_batches():
        columns = (batch.column(name).to_pylist() for name in ("window", "statistic", "value"))
        for window, statistic, value in zip(*columns, strict=True):
            if window != last:
                yield current
                current, last = {}, window
            current[statistic] = value
    if current:
        yield current
