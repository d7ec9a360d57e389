# SPDX-License-Identifier: BSD-3-Clause
"""Each CPU's frequency over time: on gem5, that of its clock in each window; elsewhere, the one that Linux set."""

from collections.abc import Iterator

from lull.engines import gem5_names
from lull.platform.schema import Platform
from lull.rundir import stats
from lull.rundir.folder import STATS_TABLE, RunDir
from lull.trace.clock import TICK_HZ
from lull.trace.recording import Recording

Sample = tuple[int, int, float]
"""CPU, tick, MHz."""


def samples(rundir: RunDir, platform: Platform, record: Recording) -> Iterator[Sample]:
    """Yield the changes of frequencies. The first is at the begin of the traced time or later."""
    found = _of_gem5(rundir, platform) if (rundir / STATS_TABLE).is_file() else _of_linux(record)
    now: dict[int, Sample] = {}
    for cpu, time, mhz in found:
        if time > record.end:
            continue
        if cpu not in now or now[cpu][2] != mhz or now[cpu][1] < record.begin <= time:
            now[cpu] = (cpu, max(time, record.begin), mhz)
            yield now[cpu]


def _of_linux(record: Recording) -> Iterator[Sample]:
    changes = record.tables["cpu_frequency"]
    for cpu, time, khz in zip(
        changes["cpu_id"].tolist(), changes.time.tolist(), changes["state"].tolist(), strict=True
    ):
        yield cpu, time, khz / 1000


def _of_gem5(rundir: RunDir, platform: Platform) -> Iterator[Sample]:
    """Yield the frequencies of gem5's windows. Each window has only one, because a change begins a new window."""
    clocks = {gem5_names.clock(number): cpus for number, (cpus, _) in enumerate(platform.cpu_ranges())}
    names = ["finalTick", "simTicks", *clocks]
    table = stats.TABLE.read(rundir / STATS_TABLE, filters=[("statistic", "in", names)])
    windows: dict[int, dict[str, float]] = {}
    for row in table.to_pylist():
        windows.setdefault(row["window"], {})[row["statistic"]] = row["value"]
    for window in sorted(windows):
        values = windows[window]
        start = int(values["finalTick"] - values["simTicks"])
        for name, cpus in clocks.items():
            for cpu in cpus:
                yield cpu, start, TICK_HZ / values[name] / 1e6
