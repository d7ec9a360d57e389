# SPDX-License-Identifier: BSD-3-Clause
"""How long each CPU slept, by three that do not know of each other.

- gem5's power states: time in `CLK_GATED` or `OFF`, which is a core that stands in WFI or is off.
- the firmware's PSCI_STAT: time between its last stamp before WFI and the first one after.
- Linux's cpuidle: time from before the call that sleeps until after it.

They nest: Linux's time holds the firmware's path and the hardware's latencies, once a sleep. The sleeps of
`platform-check` are long, so that this is small, and what it comes to per sleep is given as well. C1 is Linux's own
WFI, which the firmware never sees. The firmware counts the sleep of a core under the state that turns off the core,
also when its cluster goes off with it, and that of a cluster once; so a CPU's total leaves clusters out.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lull.errors import UserError
from lull.figures.source import Run, Runs
from lull.runs import STATS_TABLE

GROUP = "residency"
FILE = "residency.jsonl"
WINDOWS = 3
"""Before, between and after the two moments at which the guest has gem5 dump."""
CLOCK_TOLERANCE = 1e-3
CLUSTER_OFF = "cluster-off"


def df_residency(runs: Runs) -> pa.Table:
    """A row per point and CPU: seconds asleep by each source (null where it does not know), and how often."""
    return pa.Table.from_pylist([row for run in runs.group(GROUP) for row in _rows_of(run)], _SCHEMA)


def df_cpuidle(runs: Runs) -> pa.Table:
    """Linux's counters of each state in the window: time, usage, too deep (`above`), too light (`below`), refused."""
    rows = [
        {
            "point": run.name,
            "cluster": run.cluster_of(cpu),
            "cpu": cpu,
            "state": state,
            **{name: counts.get(name) for name in ("time", "usage", "above", "below", "rejected")},
        }
        for run in runs.group(GROUP)
        for (source, cpu, state), counts in _differences(run).items()
        if source == "linux"
    ]
    return pa.Table.from_pylist(rows)


_SCHEMA = pa.schema(
    [
        ("point", pa.string()),
        ("asked", pa.string()),
        ("cluster", pa.string()),
        ("cpu", pa.int32()),
        ("window_s", pa.float64()),
        ("linux_s", pa.float64()),
        ("firmware_s", pa.float64()),
        ("gem5_s", pa.float64()),
        ("sleeps", pa.int64()),
    ]
)


def _rows_of(run: Run) -> Iterator[dict[str, object]]:
    differences = _differences(run)
    asked, window_s = _window(run)
    stats = _Statistics(run, window_s) if run.spec.engine == "gem5" else None
    for cpu in sorted({cpu for source, cpu, _ in differences if source == "linux"}):
        ours = {key[2]: counts for key, counts in differences.items() if key[:2] == ("linux", cpu)}
        theirs = {key[2]: counts for key, counts in differences.items() if key[:2] == ("firmware", cpu)}
        yield {
            "point": run.name,
            "asked": asked,
            "cluster": run.cluster_of(cpu),
            "cpu": cpu,
            "window_s": window_s,
            "linux_s": sum(counts["time"] for counts in ours.values()) / 1e6,
            "firmware_s": _firmware_s(run, cpu, theirs) if theirs and asked != "C1" else None,
            "gem5_s": stats.asleep_s(cpu) if stats else None,
            "sleeps": sum(counts["usage"] for counts in ours.values()),
        }


def _firmware_s(run: Run, cpu: int, counts: dict[str, dict[str, int]]) -> float:
    cluster = run.spec.platform.resolved_clusters()[run.place_of(cpu)[0]]
    of_cores = {state.name for state in cluster.cstates if state.kind != CLUSTER_OFF}
    return sum(numbers["time"] for state, numbers in counts.items() if state in of_cores) / 1e6


def _differences(run: Run) -> dict[tuple[str, int, str], dict[str, int]]:
    """What every counter gained between the two moments."""
    found: dict[str, dict[tuple[str, int, str], dict[str, int]]] = {"begin": {}, "end": {}}
    for line in run.lines(FILE):
        if line["source"] != "counter":
            key = (str(line["source"]), int(line["cpu"]), str(line["state"]))
            names = {"time", "usage", "above", "below", "rejected"} & line.keys()
            found[line["edge"]][key] = {name: int(line[name]) for name in names}
    if found["begin"].keys() != found["end"].keys() or not found["begin"]:
        raise UserError(f"{run.path / 'files' / FILE}: its two moments do not hold the same counters; run it again")
    return {
        key: {name: value - found["begin"][key][name] for name, value in counters.items()}
        for key, counters in found["end"].items()
    }


def _window(run: Run) -> tuple[str, float]:
    edges = {line["edge"]: line for line in run.lines(FILE) if line["source"] == "counter"}
    begin, end = edges["begin"], edges["end"]
    return str(begin["asked"]), (end["ticks"] - begin["ticks"]) / begin["frequency"]


class _Statistics:
    """gem5's window between the two moments, found by its number and recognised by its length."""

    def __init__(self, run: Run, window_s: float) -> None:
        if run.manifest["stats_windows"] != WINDOWS:
            raise UserError(
                f"{run.path / STATS_TABLE}: {run.manifest['stats_windows']} windows instead of {WINDOWS}, so something "
                "else dumped statistics, such as a change of frequency; run it with cpufreq=performance"
            )
        table = pq.read_table(run.path / STATS_TABLE)
        table = table.filter(pc.equal(table["window"], 1))
        self.run = run
        self.values: dict[str, float] = dict(
            zip(table["statistic"].to_pylist(), table["value"].to_pylist(), strict=True)
        )
        self.hz = self._value("simFreq")
        length = self._value("simTicks") / self.hz
        if abs(length - window_s) > CLOCK_TOLERANCE * window_s:
            raise UserError(
                f"{run.path / STATS_TABLE}: window 1 is {length:.6f} s, the guest counted {window_s:.6f} s; "
                "the guest's counter does not run at the frequency that it is told"
            )

    def asleep_s(self, cpu: int) -> float:
        """gem5 does not write down what is 0, but some state every CPU was in."""
        index, _, number = self.run.place_of(cpu)
        states = f"system.cluster{index}.cpu{number}.power_state.pwrStateResidencyTicks::"
        if not any(name.startswith(states) for name in self.values):
            raise UserError(
                f"{self.run.path / STATS_TABLE}: no statistic {states}* in window 1; gem5 24 and 25 have it"
            )
        return sum(self.values.get(f"{states}{state}", 0.0) for state in ("CLK_GATED", "OFF")) / self.hz

    def _value(self, name: str) -> float:
        if name not in self.values:
            raise UserError(f"{self.run.path / STATS_TABLE}: no statistic {name} in window 1; gem5 24 has it")
        return self.values[name]
