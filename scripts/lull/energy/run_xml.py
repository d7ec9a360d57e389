# SPDX-License-Identifier: BSD-3-Clause
"""A run as McPAT's input: one file for each cluster and operating point, with all events at that operating point.

All windows of a run with the same operating point are one input, because McPAT is linear. Each operating point has its
own input, because McPAT's cores share a clock.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lull.energy import activity, source, windows
from lull.energy.mcpat_xml import Chip, render
from lull.engines import gem5_names
from lull.rundir.folder import STATS_TABLE, RunDir


@dataclass
class Spent:
    """The events of a cluster at one operating point."""

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
    """Write the files `CLUSTER-MHZ.xml` into a folder, and return their paths. The folder is made if it is missing."""
    texts = {f"{chip.cluster.name}-{chip.opp.mhz:g}.xml": _xml(chip, each) for chip, each in spent(rundir)}
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return [out / name for name in texts]


def _xml(chip: Chip, spent: Spent) -> str:
    return render(chip, spent.cores, spent.l2, spent.seconds * chip.clock_mhz * 1e6)


def spent(rundir: RunDir) -> Iterator[tuple[Chip, Spent]]:
    """Yield the contents of the files of `write` as numbers."""
    run = source.open_run(rundir)
    found: dict[tuple[int, float], tuple[Chip, Spent]] = {}
    for window in windows.read(rundir / STATS_TABLE):
        for number, cluster in enumerate(run.platform.resolved_clusters()):
            opp = source.opp_of(window, number, cluster, run.hz)
            cpus = [gem5_names.cpu(number, cpu) for cpu in range(cluster.cpus)]
            counts = [activity.core_counts(window, cpu, run.gem5) for cpu in cpus]
            _, place = found.setdefault((number, opp.mhz), (Chip(run.platform, cluster, opp), Spent()))
            place.add(window.ticks / run.hz, counts, activity.l2_counts(window, gem5_names.l2(number), run.gem5))
    for key in sorted(found):
        yield found[key]
