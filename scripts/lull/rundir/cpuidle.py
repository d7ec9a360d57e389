# SPDX-License-Identifier: BSD-3-Clause
"""What the CPUs' idle states counted during a run, as the guest's Linux tells it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.errors import UserError
from lull.platform.schema import Platform, cpu_list

Row = dict[str, object]


@dataclass(frozen=True)
class Use:
    """One idle state over some CPUs: how often it was entered, and the share of their time spent in it."""

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
    """Entries that were long enough for a deeper one."""
    rejected: int


def read(path: Path) -> list[Row]:
    """A row for each CPU and state; none from a guest that ended before it could count."""
    if not path.is_file():
        return []
    try:
        rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()]
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not JSON lines ({error}); run the command again") from error
    return rows


def by_cluster(rows: Sequence[Row], platform: Platform) -> list[ClusterUse]:
    """Sums over the CPUs of each cluster."""
    found = []
    for cpus, cluster in platform.cpu_ranges():
        own = [row for row in rows if number(row, "cpu") in cpus]
        names: list[str] = [state.name for state in cluster.cstates]
        states = {name: _use([row for row in own if row["name"] == name]) for name in names}
        above, below, rejected = (sum(number(row, key) for row in own) for key in ("above", "below", "rejected"))
        found.append(ClusterUse(cluster.name, cpu_list(cpus), states, above, below, rejected))
    return found


def governors(rows: Sequence[Row]) -> dict[str, list[str]]:
    """At the run's end, of idle states and of frequency; of the latter a machine may have several or none."""
    return {
        key: sorted({str(row[key]) for row in rows if row.get(key) is not None})
        for key in ("governor", "cpufreq_governor")
    }


def _use(rows: Sequence[Row]) -> Use:
    window = sum(number(row, "window_us") for row in rows)
    return Use(
        entries=sum(number(row, "usage") for row in rows),
        share=sum(number(row, "time_us") for row in rows) / window if window else 0.0,
        enabled=any(row.get("disabled") is False for row in rows),
    )


def number(row: Row, key: str) -> int:
    value = row[key]
    assert isinstance(value, int)
    return value
