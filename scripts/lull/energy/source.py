# SPDX-License-Identifier: BSD-3-Clause
"""Opens a run for its ledger. A run whose folder has not enough data for joules is a UserError."""

from dataclasses import dataclass

from lull.energy.windows import Window
from lull.engines import gem5_names
from lull.errors import UserError
from lull.platform.schema import Cluster, Opp, Platform
from lull.rundir import cpuidle
from lull.rundir.cpuidle import Row
from lull.rundir.folder import CPUIDLE, MANIFEST, STATS_TABLE, RunDir
from lull.runspec.spec import RunSpec

CLOCK_TOLERANCE_TICKS = 1.0
"""The largest difference of two equal clock periods: gem5 rounds a period to a tick."""


@dataclass(frozen=True)
class Evidence:
    rundir: RunDir
    spec: RunSpec
    time: range
    """The run's time, in gem5's ticks."""
    hz: float
    """Ticks per second."""
    window_count: int
    idle: list[Row]
    gem5: str
    """The version of gem5 that made the statistics."""

    @property
    def platform(self) -> Platform:
        return self.spec.platform

    @property
    def deepest(self) -> dict[str, str]:
        """Return the deepest idle state that Linux might use on each cluster, as set by the run or by its command."""
        return {
            cluster.name: max([self.spec.policy.deepest(self.platform, cluster), *self._allowed(cpus)])
            for cpus, cluster in self.platform.cpu_ranges()
        }

    def _allowed(self, cpus: range) -> list[str]:
        return [row["name"] for row in self.idle if row["cpu"] in cpus and (row["disabled"] is False or row["usage"])]

    def refuse_if_short(self, seen: range, windows: int) -> None:
        """Raise a UserError if the windows do not cover the whole run. They should, because gem5 dumps at the end."""
        path = self.rundir / STATS_TABLE
        if windows != self.window_count:
            raise UserError(
                f"{path}: truncated, {windows} windows of the {self.window_count} that {MANIFEST} tells of; "
                "run it again"
            )
        if seen != self.time:
            raise UserError(
                f"{path}: covers ticks {seen.start} to {seen.stop}, but the run went from {self.time.start} to "
                f"{self.time.stop}; statistics were reset without a dump or are truncated, so run it again"
            )


def open_run(rundir: RunDir) -> Evidence:
    spec = rundir.spec()
    manifest = rundir.manifest()
    if spec.engine != "gem5":
        raise UserError(
            f"{rundir.path}: a run on {spec.engine} is functional only and has no energy; run it with `-e gem5`"
        )
    if spec.cpu == "atomic":
        raise UserError(
            f"{rundir.path}: atomic CPUs have neither caches nor waits, and so no energy; run it with `--cpu detailed`"
        )
    if manifest["state"] != "finished":
        raise UserError(f"{rundir / MANIFEST}: the run has not finished ({manifest['state']}); run it again")
    if not (rundir / STATS_TABLE).is_file():
        raise UserError(f"{rundir / STATS_TABLE}: missing; run it again")
    windows, details = manifest["stats_windows"], manifest["details"]
    start, ticks, hz = (details.get(key) for key in ("start_tick", "ticks", "tick_hz"))
    if not (windows and isinstance(start, int) and isinstance(ticks, int) and isinstance(hz, int) and hz > 0):
        raise UserError(
            f"{rundir / MANIFEST}: `stats_windows`, or `start_tick`, `ticks` or `tick_hz` of `details`, is no number; "
            "run the command again"
        )
    idle = cpuidle.read(rundir / CPUIDLE)
    return Evidence(rundir, spec, range(start, start + ticks), float(hz), windows, idle, manifest["engine"]["version"])


def period(window: Window, number: int) -> float:
    """Return the ticks per cycle of a cluster's clock."""
    name = gem5_names.clock(number)
    if name not in window:
        raise UserError(f"window {window.number}: no statistic {name}; gem5 24 and 25 have it")
    return window[name]


def opp_of(window: Window, number: int, cluster: Cluster, hz: float) -> Opp:
    """Return the operating point of a cluster in a window, by its clock."""
    ticks = period(window, number)
    for opp in cluster.opps.table:
        if abs(hz / opp.hz - ticks) <= CLOCK_TOLERANCE_TICKS:
            return opp
    raise UserError(
        f"window {window.number}: {gem5_names.clock(number)} is {ticks:g} ticks, which is no operating "
        f"point of {cluster.name}; the run is of another platform than its run.json says"
    )
