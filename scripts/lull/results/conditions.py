# SPDX-License-Identifier: BSD-3-Clause
"""The clocks, voltages and temperature of a result's points, a section in every summary of timed runs."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from lull.energy import clocks, technology, windows
from lull.files import columns
from lull.plotting.markdown import markdown_table
from lull.rundir.folder import STATS_TABLE
from lull.rundir.run import Run

NAME = "conditions"
"""The table's name."""

_TOLD = {
    "temperature_k": "of the chip, which decides its leakage",
    "mhz": "mean clock of the cluster over the run's time",
    "mv": "mean voltage of the cluster over the run's time",
}

Row = dict[str, Any]


def df_conditions(runs: Sequence[Run]) -> pa.Table:
    """Return a table with a row per point and cluster. It is empty for runs without timing."""
    return columns.complete(pa.Table.from_pylist([row for run in runs for row in _of(run)]), _TOLD)


def _of(run: Run) -> list[Row]:
    path = run.rundir() / STATS_TABLE
    if run.spec.engine != "gem5" or not path.is_file():
        return []
    platform = run.spec.platform
    clusters = dict(enumerate(platform.resolved_clusters()))
    found = clocks.means(windows.read(path), clusters, (0, sys.maxsize))
    return [
        {
            "point": run.name,
            "platform": platform.name,
            "temperature_k": technology.running_k(platform),
            "cluster": clusters[number].name,
            **clock._asdict(),
        }
        for number, (clock,) in found.items()
    ]


def text(table: pa.Table, points: Iterable[str] = ()) -> str:
    """Return the section of a summary: a row per platform and cluster, with the range over points. `points` are all
    points of the result; older ones may not be in the table."""
    own: dict[tuple[str, float, str], list[Row]] = {}
    for row in table.to_pylist():
        own.setdefault((row["platform"], row["temperature_k"], row["cluster"]), []).append(row)
    rows = [
        (platform, f"{kelvin - 273.15:.0f}", cluster, _range(found, "mhz", 1.0), _range(found, "mv", 1e-3))
        for (platform, kelvin, cluster), found in own.items()
    ]
    recorded = set(table["point"].to_pylist())
    older = len(set(points) - recorded)
    without = f"The table has only the {len(recorded)} points that recorded them; {older} did not. " if older else ""
    return (
        f"## Temperature, clocks and voltages\n\n{without}"
        "Power, where there is any above, is that of a chip at this temperature. Clocks and voltages are means over a "
        "run's time; where points differ, the lowest and the highest of these means.\n\n"
        + markdown_table(("platform", "°C", "cluster", "MHz", "V"), rows)
    )


def _range(rows: Sequence[Row], name: str, scale: float) -> str:
    low, high = (f"{of(row[name] for row in rows) * scale:.4g}" for of in (min, max))
    return low if low == high else f"{low} to {high}"
