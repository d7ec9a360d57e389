# SPDX-License-Identifier: BSD-3-Clause
"""The measures of a run for comparisons: energy, residency, latency, and numbers that the guest reported.

Names have colons, the general word first, such as `residency:big:C3`. Missing measures are left out, not estimated.
"""

from collections.abc import Mapping

from lull.energy import rows
from lull.errors import UserError
from lull.figures import traced_wakes
from lull.figures.sample import Sample
from lull.rundir import cpuidle
from lull.rundir.folder import TRACE
from lull.sweep import table, wakes
from lull.trace.clock import TICK_HZ

_NOT_RESULTS = ("point", "name", "platform", "engine", "cpu", "seed", "wall_s")
_JOULES = "joules:"


def of_point(point: Sample) -> dict[str, float]:
    reported = _reported(point)
    found = {**reported, **_power(point, reported), **_residency(point), **_way_out(point)}
    return {name: float(value) for name, value in found.items()}


def unit_of(name: str) -> str:
    """Return the unit of a measure, from its name."""
    if name.startswith(_JOULES):
        return "J"
    if name.startswith("watts:"):
        return "W"
    if name.startswith("residency:"):
        return "share"
    words = name.replace(":", "_").split("_")
    return next((unit for unit in ("us", "ns", "ms", "s", "w", "mw", "mhz") if unit in words), "").replace("us", "µs")


def _reported(point: Sample) -> dict[str, float]:
    """Return the numbers of the point's row in a sweep's table, without settings."""
    (row,) = table.flat([point])
    return {
        name: value
        for name, value in row.items()
        if name not in _NOT_RESULTS and name not in point.settings and isinstance(value, int | float)
        and not isinstance(value, bool)
    }  # fmt: skip


def _power(point: Sample, reported: Mapping[str, float]) -> dict[str, float]:
    """Return the mean watts over the time that the ledger covers."""
    if point.ledger is None:
        return {}
    windows = rows.grouped(point.ledger, ["start", "end"], []).to_pylist()
    seconds = (max(row["end"] for row in windows) - min(row["start"] for row in windows)) / TICK_HZ
    joules = {name.removeprefix(_JOULES): value for name, value in reported.items() if name.startswith(_JOULES)}
    return {f"watts:{name}": value / seconds for name, value in joules.items()}


def _residency(point: Sample) -> dict[str, float]:
    """Return the residency by cluster, as Linux counted it."""
    counted = cpuidle.of_command(point.run.path, point.run.spec, point.run.manifest)
    if not counted:
        return {}
    found: dict[str, float] = {}
    for cluster in cpuidle.by_cluster(counted, point.run.spec.platform):
        for state, use in cluster.states.items():
            found[f"residency:{cluster.name}:{state}"] = use.share
            found[f"entries:{cluster.name}:{state}"] = use.entries
    return found


def _way_out(point: Sample) -> dict[str, float]:
    """Return a traced run's wake-up times, from the interrupt to Linux. A trace that lost events has none."""
    if not (point.run.path / TRACE).is_file():
        return {}
    try:
        table = traced_wakes.df_wake_ups(point)
    except UserError:
        return {}
    if not table.num_rows:
        return {}
    return wakes.spread("wake:out_us", table["out_us"].to_numpy())
