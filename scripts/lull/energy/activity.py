# SPDX-License-Identifier: BSD-3-Clause
"""The dynamic energy of a core or an L2 in one window of statistics: events times joules per event."""

from collections.abc import Mapping

from lull.energy import mapping
from lull.energy.events import L2
from lull.energy.mapping import Stats
from lull.energy.tables import OppTable
from lull.errors import UserError

CORE_MODELS = ("minor", "o3")
TESTED = "24.0"
"""The release of gem5 that is assumed if the statistics' release is not known."""


def core_counts(stats: Stats, cpu: str, gem5: str = TESTED) -> dict[str, float]:
    """Return McPAT's events of one core. `cpu` is its path in gem5, such as `system.cluster0.cpu1`."""
    own = mapping.compiled(_core_model(stats, cpu, gem5), cpu).counts(stats, gem5)
    return {**own, **mapping.compiled("caches", cpu).counts(stats, gem5)}


def l2_counts(stats: Stats, l2: str, gem5: str = TESTED) -> dict[str, float]:
    """Return McPAT's events of a cluster's cache, such as `system.cluster0.l2`."""
    return mapping.compiled("l2", l2).counts(stats, gem5)


def core_joules(opp: OppTable, stats: Stats, cpu: str, gem5: str = TESTED) -> dict[str, float]:
    """Return joules by component, without leakage: a core that is not clocked has 0 everywhere."""
    return joules(opp, core_counts(stats, cpu, gem5))


def l2_joules(opp: OppTable, stats: Stats, l2: str, gem5: str = TESTED) -> dict[str, float]:
    counts = l2_counts(stats, l2, gem5)
    return {L2: sum(each * counts[event] for event, each in opp.joules_per_event[L2].items())}


def joules(opp: OppTable, counts: Mapping[str, float]) -> dict[str, float]:
    """Return the joules of one core, by component."""
    return {
        component: sum(each * counts[event] for event, each in events.items())
        for component, events in opp.joules_per_event.items()
        if component != L2
    }


def _core_model(stats: Stats, cpu: str, gem5: str) -> str:
    marks = {f"{cpu}.{mapping.load(name).recognised_by}": name for name in CORE_MODELS}
    for mark, name in marks.items():
        if mark in stats:
            return name
    raise UserError(
        f"{' and '.join(marks)}: not among the statistics of gem5 {gem5}; energy needs a run with --cpu detailed "
        f"of a gem5 that the tables in power-models/mapping know ({TESTED})"
    )
