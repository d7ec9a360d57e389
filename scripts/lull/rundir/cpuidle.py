# SPDX-License-Identifier: BSD-3-Clause
"""Reads Linux's counters of idle states (cpuidle) over a whole run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, with_config

# pydantic takes TypedDict from here before Python 3.12.
from typing_extensions import TypedDict

from lull.files import json_file
from lull.platform.schema import Platform, cpu_list
from lull.rundir.folder import CPUIDLE
from lull.rundir.manifest import Manifest
from lull.runspec.spec import RunSpec


@with_config(json_file.OPEN)
class Row(TypedDict):
    """One line of the file: one idle state of one CPU. `above` and `below` are Linux's names."""

    cpu: int
    name: str
    window_us: int
    usage: int
    time_us: int
    above: int
    below: int
    rejected: int
    disabled: bool | None
    governor: str | None
    cpufreq_governor: str | None


_ROW = TypeAdapter(Row)
_WRONG: tuple[Literal["above"], Literal["below"], Literal["rejected"]] = ("above", "below", "rejected")
_GOVERNORS: tuple[Literal["governor"], Literal["cpufreq_governor"]] = ("governor", "cpufreq_governor")


@dataclass(frozen=True)
class Use:
    """One idle state over some CPUs: the number of entries, and the share of the CPUs' time in it."""

    entries: int
    share: float
    enabled: bool


@dataclass(frozen=True)
class ClusterUse:
    name: str
    cpus: str
    states: dict[str, Use]
    above: int
    """Entries that were too short for the state."""
    below: int
    """Entries that were long enough for a deeper state."""
    rejected: int


def read(path: Path) -> list[Row]:
    """Return a row for each CPU and state; none if the guest ended before it wrote the file."""
    return json_file.read_lines_as(_ROW, path, "run the command again") if path.is_file() else []


def of_command(path: Path, spec: RunSpec, manifest: Manifest) -> list[Row]:
    """Return the rows of a run's folder, for the time of the command alone.

    The guest counts from the end of its boot. A run that continues from a trace's start has idle seconds before its
    command, in which no CPU may sleep deeper than in C1. They are subtracted from the window and from C1. The number of
    entries into C1 in these seconds is not known, so they stay in `usage`.
    """
    rows = read(path / CPUIDLE)
    if not spec.starts_with_trace or "simulated_s" not in manifest:
        return rows
    simulated_us = round(manifest["simulated_s"] * 1e6)
    found: list[Row] = []
    for row in rows:
        before_us = max(0, row["window_us"] - simulated_us)
        asleep_us = max(0, row["time_us"] - before_us) if row["name"] == "C1" else row["time_us"]
        found.append({**row, "window_us": row["window_us"] - before_us, "time_us": asleep_us})
    return found


def by_cluster(rows: Sequence[Row], platform: Platform) -> list[ClusterUse]:
    """Return the sums over the CPUs of each cluster."""
    found = []
    for cpus, cluster in platform.cpu_ranges():
        own = [row for row in rows if row["cpu"] in cpus]
        names: list[str] = [state.name for state in cluster.cstates]
        states = {name: _use([row for row in own if row["name"] == name]) for name in names}
        above, below, rejected = (sum(row[key] for row in own) for key in _WRONG)
        found.append(ClusterUse(cluster.name, cpu_list(cpus), states, above, below, rejected))
    return found


def governors(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the governors of idle states and of frequency at the run's end. A machine may have none or several of
    frequency."""
    return {key: sorted({name for row in rows if (name := row[key]) is not None}) for key in _GOVERNORS}


def _use(rows: Sequence[Row]) -> Use:
    window = sum(row["window_us"] for row in rows)
    return Use(
        entries=sum(row["usage"] for row in rows),
        share=sum(row["time_us"] for row in rows) / window if window else 0.0,
        enabled=any(row["disabled"] is False for row in rows),
    )
