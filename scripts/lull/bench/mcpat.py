# SPDX-License-Identifier: BSD-3-Clause
"""McPAT started for each window and cluster, as converters from gem5 do, beside the same from tables."""

import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lull.energy import activity, mcpat_run, source, tables
from lull.energy.coefficients import DYNAMIC, GATE, SUBTHRESHOLD
from lull.energy.events import L2
from lull.energy.mcpat_run import Part
from lull.energy.mcpat_xml import Chip, render
from lull.energy.source import Run
from lull.energy.windows import Window, read
from lull.rundir import RunDir
from lull.runs import STATS_TABLE


@dataclass(frozen=True)
class Answers:
    """Of McPAT and of the tables for the same windows, in seconds of processor time."""

    windows: int
    starts: int
    mcpat_s: float
    tables_s: float
    worst: float
    """The largest relative difference between both answers, over windows, clusters and kinds."""


def compare(rundir: RunDir, mcpat: mcpat_run.McPat, count: int) -> Answers:
    """The first `count` windows of a run."""
    run = source.open_run(rundir)
    clusters = run.platform.resolved_clusters()
    made = [tables.load(run.platform, cluster) for cluster in clusters]
    starts = windows = 0
    mcpat_s = tables_s = worst = 0.0
    for window in islice(read(rundir / STATS_TABLE), count):
        windows += 1
        for number, chip in _chips(run, window):
            _from_table(window, number, chip, made[number], run.gem5)  # reads the mapping, once a run
            begun = _processor_s()
            ours = _from_table(window, number, chip, made[number], run.gem5)
            between = _processor_s()
            theirs = _from_mcpat(window, number, chip, mcpat, run.gem5)
            tables_s += between - begun
            mcpat_s += _processor_s() - between
            starts += 1
            worst = max(worst, *(abs(a - b) / b for a, b in zip(ours, theirs, strict=True) if b))
    return Answers(windows, starts, mcpat_s, tables_s, worst)


def _processor_s() -> float:
    """Of this process and of what it has started and seen end; a busy machine does not change it much."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def _chips(run: Run, window: Window) -> Iterator[tuple[int, Chip]]:
    for number, cluster in enumerate(run.platform.resolved_clusters()):
        yield number, Chip(run.platform, cluster, source.opp_of(window, number, cluster, run.hz))


def _seconds(window: Window) -> float:
    return window["simSeconds"]


def _from_table(window: Window, number: int, chip: Chip, table: tables.ClusterTable, gem5: str) -> tuple[float, float]:
    """Run-time dynamic and leakage watts of a cluster."""
    opp, path = table.at(chip.opp.mhz), source.cluster_path(number)
    joules = sum(activity.l2_joules(opp, window, f"{path}.l2", gem5).values())
    for cpu in range(chip.cluster.cpus):
        joules += sum(activity.core_joules(opp, window, f"{path}.cpu{cpu}", gem5).values())
    cores = sum(leak.watts for component, leak in opp.leakage.items() if component != L2)
    return joules / _seconds(window), cores * chip.cluster.cpus + opp.leakage[L2].watts


def _from_mcpat(window: Window, number: int, chip: Chip, mcpat: mcpat_run.McPat, gem5: str) -> tuple[float, float]:
    path = source.cluster_path(number)
    cores = [activity.core_counts(window, f"{path}.cpu{cpu}", gem5) for cpu in range(chip.cluster.cpus)]
    l2 = activity.l2_counts(window, f"{path}.l2", gem5)
    answer = mcpat_run.run(mcpat, render(chip, cores, l2, _seconds(window) * chip.clock_mhz * 1e6))
    parts = [*answer.all("Core"), *answer.all("L2")]
    return sum(part[DYNAMIC] for part in parts), sum(map(_leakage_w, parts))


def _leakage_w(part: Part) -> float:
    return part[SUBTHRESHOLD] + part[GATE]
