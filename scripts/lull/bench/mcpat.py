# SPDX-License-Identifier: BSD-3-Clause
"""Compares the time of tables with that of McPAT, started for each window and cluster, as converters from gem5 do."""

import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lull.energy import activity, mcpat_run, source, tables
from lull.energy.coefficients import DYNAMIC, GATE, SUBTHRESHOLD
from lull.energy.events import L2
from lull.energy.mcpat_run import Heading
from lull.energy.mcpat_xml import Chip, render
from lull.energy.source import Evidence
from lull.energy.tables import OppTable
from lull.energy.windows import Window, read
from lull.engines import gem5_names
from lull.rundir.folder import STATS_TABLE, RunDir


@dataclass(frozen=True)
class Answers:
    """Seconds of processor time of McPAT and of the tables, for the same windows."""

    windows: int
    starts: int
    mcpat_s: float
    tables_s: float
    worst: float
    """The largest relative difference between both answers, over windows, clusters and kinds."""


@dataclass(frozen=True)
class _Question:
    """The events of one cluster in one window."""

    run: Evidence
    window: Window
    number: int
    chip: Chip

    @property
    def cpus(self) -> list[str]:
        return [gem5_names.cpu(self.number, cpu) for cpu in range(self.chip.cluster.cpus)]

    @property
    def l2(self) -> str:
        return gem5_names.l2(self.number)

    @property
    def seconds(self) -> float:
        return self.window.ticks / self.run.hz


def compare(rundir: RunDir, mcpat: mcpat_run.McPatBinary, count: int) -> Answers:
    """Compare both over the first `count` windows of a run."""
    run = source.open_run(rundir)
    made = [tables.load(run.platform, cluster) for cluster in run.platform.resolved_clusters()]
    starts = windows = 0
    mcpat_s = tables_s = worst = 0.0
    for window in islice(read(rundir / STATS_TABLE), count):
        windows += 1
        for asked in _questions(run, window):
            table = made[asked.number].at(asked.chip.opp.mhz)
            _from_table(asked, table)  # not timed: the first call of a run reads the mapping
            begun = _processor_s()
            ours = _from_table(asked, table)
            between = _processor_s()
            theirs = _from_mcpat(asked, mcpat)
            tables_s += between - begun
            mcpat_s += _processor_s() - between
            starts += 1
            worst = max(worst, *(abs(a - b) / b for a, b in zip(ours, theirs, strict=True) if b))
    return Answers(windows, starts, mcpat_s, tables_s, worst)


def _processor_s() -> float:
    """Return processor seconds of this process and of its ended children. A busy machine changes them little."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def _questions(run: Evidence, window: Window) -> Iterator[_Question]:
    for number, cluster in enumerate(run.platform.resolved_clusters()):
        opp = source.opp_of(window, number, cluster, run.hz)
        yield _Question(run, window, number, Chip(run.platform, cluster, opp))


def _from_table(asked: _Question, opp: OppTable) -> tuple[float, float]:
    """Return dynamic and leakage watts of a cluster."""
    joules = sum(activity.l2_joules(opp, asked.window, asked.l2, asked.run.gem5).values())
    for cpu in asked.cpus:
        joules += sum(activity.core_joules(opp, asked.window, cpu, asked.run.gem5).values())
    core_w = sum(leak.watts for component, leak in opp.leakage.items() if component != L2)
    return joules / asked.seconds, core_w * len(asked.cpus) + opp.leakage[L2].watts


def _from_mcpat(asked: _Question, mcpat: mcpat_run.McPatBinary) -> tuple[float, float]:
    cores = [activity.core_counts(asked.window, cpu, asked.run.gem5) for cpu in asked.cpus]
    l2 = activity.l2_counts(asked.window, asked.l2, asked.run.gem5)
    answer = mcpat_run.run(mcpat, render(asked.chip, cores, l2, asked.seconds * asked.chip.clock_mhz * 1e6))
    parts = [*answer.all("Core"), *answer.all("L2")]
    return sum(part[DYNAMIC] for part in parts), sum(map(_leakage_w, parts))


def _leakage_w(part: Heading) -> float:
    return part[SUBTHRESHOLD] + part[GATE]
