# SPDX-License-Identifier: BSD-3-Clause
"""A window of gem5's statistics between two moments at which the guest had gem5 dump them."""

import pyarrow.compute as pc

from lull.engines import gem5_names, latency_devices
from lull.errors import UserError
from lull.rundir import stats
from lull.rundir.folder import STATS_TABLE
from lull.rundir.run import Run


class Gem5Window:
    """A window found by its number out of `windows`, and recognised by the length that the guest says it has."""

    def __init__(self, run: Run, number: int, windows: int, length_s: float, tolerance: float) -> None:
        if run.manifest["stats_windows"] != windows:
            raise UserError(
                f"{run.path / STATS_TABLE}: {run.manifest['stats_windows']} windows instead of {windows}, so something "
                "else dumped statistics, such as a change of frequency; run it with cpufreq=performance"
            )
        table = stats.TABLE.read(run.path / STATS_TABLE)
        table = table.filter(pc.equal(table["window"], number))
        self.run = run
        self.number = number
        self.values: dict[str, float] = dict(
            zip(table["statistic"].to_pylist(), table["value"].to_pylist(), strict=True)
        )
        self.hz = self._value("simFreq")
        self.seconds = self._value("simTicks") / self.hz
        if abs(self.seconds - length_s) > tolerance * length_s:
            raise UserError(
                f"{run.path / STATS_TABLE}: window {number} is {self.seconds:.6f} s, the guest counted {length_s:.6f} "
                "s; the guest's counter does not run at the frequency that it is told"
            )

    def gated_s(self, cpu: int) -> float:
        """Return the seconds that a CPU stood in WFI or was off.

        gem5 leaves out a state with 0 ticks, but each CPU was in some state.
        """
        index, _, number = self.run.place_of(cpu)
        states = f"{gem5_names.cpu(index, number)}.power_state.pwrStateResidencyTicks::"
        if not any(name.startswith(states) for name in self.values):
            raise UserError(
                f"{self.run.path / STATS_TABLE}: no statistic {states}* in window {self.number}; gem5 24 and 25 have it"
            )
        return sum(self.values.get(f"{states}{state}", 0.0) for state in ("CLK_GATED", "OFF")) / self.hz

    def waited_s(self, cluster: int) -> float:
        """Return the seconds that the CPUs of a cluster waited on its latency devices."""
        if self.run.spec.cpu == "atomic":
            return 0.0
        platform = self.run.spec.platform
        return sum(latency_devices.waits_s(self.values, cluster, platform.resolved_clusters()[cluster]).values())

    def _value(self, name: str) -> float:
        if name not in self.values:
            raise UserError(
                f"{self.run.path / STATS_TABLE}: no statistic {name} in window {self.number}; gem5 24 has it"
            )
        return self.values[name]
