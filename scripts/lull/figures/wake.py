# SPDX-License-Identifier: BSD-3-Clause
"""Reads the records of the guest program `wake-latency`: wake-ups out of an idle state, cut into phases.

    armed … fw_enter … hw_enter   zzz   event … hw_exit … fw_exit … irq … task
            |---- entry ----|           |hardware|firmware|kernel|-task-|
                                        |---- exit ------|
                                        |------ interrupt -------|
                                        |------------ total -----------|

All stamps are from one counter, which kernel, firmware and hardware share. Only `interrupt`, `task` and `total` are
known for C1, which never enters the firmware, and on QEMU, which has none. Only wake-ups as ordered count. The others
are counted by the first reason that holds (`reasons`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lull.errors import UserError
from lull.platform.schema import Cluster
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics.bootstrap import Numbers

FILE = "wake.bin"
MAGIC, VERSION = b"LULLWAKE", 1
HEADER = np.dtype([("magic", "S8"), ("version", "<u4"), ("sample_size", "<u4"), ("count", "<u8"), ("frequency", "<u8")])
STAMPS = ("armed", "event", "fw_enter", "hw_enter", "hw_exit", "fw_exit", "irq", "task")
SAMPLE = np.dtype(
    [
        ("delay_ns", "<u8"),
        ("asked_cpu", "<u4"),
        ("asked_state", "<u4"),
        *((stamp, "<u8") for stamp in STAMPS),
        ("cpu", "<u4"),
        ("state", "<u4"),
        ("depth", "<u4"),
        ("flags", "<u4"),
    ]
)
"""`struct header` and `struct sample` of benchmarks/wake-latency/wake-latency.c."""
FIRMWARE, SLEPT = 1, 2

PHASES = {
    "entry": ("fw_enter", "hw_enter"),
    "hardware": ("event", "hw_exit"),
    "firmware": ("hw_exit", "fw_exit"),
    "kernel": ("fw_exit", "irq"),
    "exit": ("event", "fw_exit"),
    "interrupt": ("event", "irq"),
    "task": ("irq", "task"),
    "total": ("event", "task"),
}
CUT_SHORT = 15 / 16
"""A transition shorter than this share of its latency counts as cut short. An entry can be given up only between
eighths of the latency. The margin tolerates a transition that takes slightly less time than was set."""
OF_FIRMWARE = ("entry", "hardware", "firmware", "kernel", "exit")

REASONS = {
    "kept": "what was asked for",
    "other-cpu": "recorded on another CPU than asked",
    "awake": "the CPU was awake when the timer fired",
    "other-state": "the CPU slept in another state",
    "no-stamps": "the firmware's stamps are not of this sleep",
    "aborted": "an interrupt came on the way in, and the core turned back",
    "entering": "the timer fired before the CPU had stopped",
    "woken-before": "something else had woken the CPU when the timer fired",
    "disorder": "the stamps are not in order",
}

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class WakeRecords:
    frequency: int
    rows: Array


def read_records(path: Path) -> WakeRecords:
    """Return the content of the guest's file. Raise a UserError for any other file."""
    data = path.read_bytes()
    if len(data) < HEADER.itemsize:
        raise UserError(f"{path}: {len(data)} bytes are no file of wake-latency; run the point again")
    header = np.frombuffer(data, HEADER, 1)[0]
    known = (header["magic"], header["version"], header["sample_size"]) == (MAGIC, VERSION, SAMPLE.itemsize)
    if not known or header["frequency"] == 0:
        raise UserError(f"{path}: not a file of this wake-latency (version {VERSION}); run the point again")
    if len(data) != HEADER.itemsize + int(header["count"]) * SAMPLE.itemsize:
        raise UserError(f"{path}: cut off, it announces {header['count']} wake-ups; run the point again")
    return WakeRecords(int(header["frequency"]), np.frombuffer(data, SAMPLE, offset=HEADER.itemsize))


def reasons(rows: Array, expects_firmware: bool, entry: Array | float = 0.0, out: Array | float = 0.0) -> Array:
    """Return why each wake-up is kept or dropped, as indices into `REASONS`.

    An entry of less than `entry` ticks was given up: the firmware stamps before and after the hardware's part, in which
    a core may turn back. An exit of less than `out` ticks had begun before the timer fired.
    """
    flags = rows["flags"]
    ordered = (rows["event"] <= rows["irq"]) & (rows["irq"] <= rows["task"])
    conditions = [
        rows["cpu"] != rows["asked_cpu"],
        flags & SLEPT == 0,
        rows["state"] != rows["asked_state"],
    ]
    if expects_firmware:
        ordered &= (rows["hw_exit"] <= rows["fw_exit"]) & (rows["fw_exit"] <= rows["irq"])
        ordered &= (rows["armed"] <= rows["fw_enter"]) & (rows["fw_enter"] <= rows["hw_enter"])
        conditions += [
            flags & FIRMWARE == 0,
            (rows["hw_exit"] == 0) | (_between(rows, "fw_enter", "hw_enter") < entry),
            rows["event"] < rows["hw_enter"],
            (rows["hw_exit"] < rows["event"]) | (_between(rows, "event", "hw_exit") < out),
        ]
    else:
        conditions += [np.zeros(len(rows), bool)] * 4
    conditions.append(~ordered)
    return np.select(conditions, range(1, len(conditions) + 1), 0)


def _between(rows: Array, first: str, second: str) -> Array:
    """Return an upper bound of a time in ticks: the stamps' difference plus one, because stamps are whole ticks. Return
    infinity if the stamps are reversed."""
    begin, end = rows[first], rows[second]
    return np.where(begin <= end, (end - begin).astype(np.float64) + 1, np.inf)


@dataclass(frozen=True)
class Recorded:
    """The wake-ups of one run, each with its index in `REASONS`."""

    run: Run
    state: str
    stamped: bool
    """True if firmware stamped the wake-ups. There are no stamps on QEMU, or in C1, which Linux enters by itself."""
    samples: WakeRecords
    reasons: Array


def read(runs: Runs) -> list[Recorded]:
    return [recorded(run) for run in runs.runs]


def recorded(run: Run) -> Recorded:
    samples, state = read_records(run.file(FILE)), str(run.values["state"])
    stamped = run.spec.engine == "gem5" and state != "C1"
    entry, out = _least_ticks(run, state, samples) if stamped else (0.0, 0.0)
    return Recorded(run, state, stamped, samples, reasons(samples.rows, stamped, entry, out))


def _least_ticks(run: Run, state: str, samples: WakeRecords) -> tuple[Array, Array]:
    """Return for each wake-up the fewest ticks of an entry and an exit that were not cut short. They are 0 on atomic
    CPUs, which do not wait for latency devices."""
    entry, out = np.zeros(len(samples.rows)), np.zeros(len(samples.rows))
    if run.spec.cpu != "atomic":
        for cpu in np.unique(samples.rows["asked_cpu"]):
            cluster = run.cluster(int(cpu))
            own = samples.rows["asked_cpu"] == cpu
            entry[own], out[own] = (CUT_SHORT * us * samples.frequency / 1e6 for us in _least_us(cluster, state))
    return entry, out


def _least_us(cluster: Cluster, state: str) -> tuple[float, float]:
    """Return the shortest entry and exit of a state. A core that asks for C4 only gets C3 while its cluster is on."""
    kinds = ("C3", "C4") if state == "C4" and cluster.cpus > 1 else (state,)
    actual = [own.actual for own in cluster.cstates if own.name in kinds]
    return min(own.entry_us for own in actual), min(own.exit_us for own in actual)


def df_wakes(runs: Sequence[Recorded]) -> pa.Table:
    """Return one row per wake-up that counts; phases in ns, null where nothing was stamped."""
    return pa.concat_tables([_wakes_schema().empty_table(), *map(_wakes_of, runs)])


def df_dropped(runs: Sequence[Recorded]) -> pa.Table:
    """Return the number of wake-ups of each point and cluster that count, and of the others by reason."""
    rows: list[dict[str, object]] = []
    for item in runs:
        asked_cpus = item.samples.rows["asked_cpu"]
        for cpu in np.unique(asked_cpus):
            here = item.reasons[asked_cpus == cpu]
            rows += [
                {
                    "point": item.run.name,
                    "cluster": item.run.cluster_of(int(cpu)),
                    "cpu": int(cpu),
                    "state": item.state,
                    "reason": reason,
                    "count": int((here == index).sum()),
                }
                for index, reason in enumerate(REASONS)
                if index == 0 or (here == index).any()
            ]
    return pa.Table.from_pylist(rows)


def cells(wakes: pa.Table) -> list[tuple[str, str]]:
    """Return each cluster and state of the table: clusters in the order of CPUs, states by depth."""
    first: dict[str, int] = {}
    found: set[tuple[str, str]] = set()
    columns = zip(*(wakes[name].to_pylist() for name in ("cluster", "state", "cpu")), strict=True)
    for cluster, state, cpu in set(columns):
        first[cluster] = min(cpu, first.get(cluster, cpu))
        found.add((cluster, state))
    return sorted(found, key=lambda pair: (first[pair[0]], pair[1]))


def cell(wakes: pa.Table, cluster: str, state: str) -> pa.Table:
    return wakes.filter(pc.and_(pc.equal(wakes["cluster"], cluster), pc.equal(wakes["state"], state)))


def microseconds(wakes: pa.Table, phase: str) -> Numbers:
    """Return the known values of a phase, in µs."""
    known = wakes[f"{phase}_ns"].drop_null().to_numpy()
    return np.asarray(known, dtype=np.float64) / 1000


def _wakes_schema() -> pa.Schema:
    words = [(name, pa.string()) for name in ("point", "group", "cluster", "state")]
    phases = [(f"{phase}_ns", pa.int64()) for phase in PHASES]
    actual = [(f"{name}_us", pa.float64()) for name in ("actual_entry", "actual_exit")]
    return pa.schema([*words, ("cpu", pa.int32()), ("delay_ns", pa.int64()), *actual, *phases])


def _wakes_of(here: Recorded) -> pa.Table:
    run, state = here.run, here.state
    kept = here.samples.rows[here.reasons == 0]
    clusters = {int(cpu): run.cluster_of(int(cpu)) for cpu in np.unique(kept["asked_cpu"])}
    actual = {cluster: _actual(run, cluster, state) for cluster in clusters.values()}
    names = [clusters[int(cpu)] for cpu in kept["asked_cpu"]]
    columns: dict[str, object] = {
        "point": [run.name] * len(kept),
        "group": [run.group] * len(kept),
        "cluster": names,
        "state": [state] * len(kept),
        "cpu": kept["cpu"].astype(np.int32),
        "delay_ns": kept["delay_ns"].astype(np.int64),
        "actual_entry_us": [actual[name][0] for name in names],
        "actual_exit_us": [actual[name][1] for name in names],
    }
    for phase, (begin, end) in PHASES.items():
        known = here.stamped or phase not in OF_FIRMWARE
        ticks = kept[end] - kept[begin]
        columns[f"{phase}_ns"] = _ns(ticks, here.samples.frequency) if known else [None] * len(kept)
    return pa.table(columns, schema=_wakes_schema())


def _actual(run: Run, cluster_name: str, state_name: str) -> tuple[float, float]:
    for cluster in run.spec.platform.resolved_clusters():
        for state in cluster.cstates:
            if (cluster.name, state.name) == (cluster_name, state_name):
                return state.actual.entry_us, state.actual.exit_us
    raise UserError(f"{run.path}: the guest measured {state_name} on {cluster_name}, which has no such state")


def _ns(ticks: Array, frequency: int) -> Array:
    return np.rint(ticks.astype(np.float64) * 1e9 / frequency).astype(np.int64)
