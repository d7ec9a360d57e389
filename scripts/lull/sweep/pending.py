# SPDX-License-Identifier: BSD-3-Clause
"""Finds the finished points of a sweep. It looks at the runs themselves, because a list of them could be wrong."""

from collections.abc import Mapping, Sequence

from lull.scenario.folder import HUNG, KEPT, Done, finished, hung, is_of
from lull.sweep.expand import Planned
from lull.sweep.folder import SweepFolder


def known(folder: SweepFolder, points: Sequence[Planned], again: bool) -> dict[str, Done]:
    """Return, by key, the points that have finished; also those that hung, unless `again` asks to run them again."""
    found: dict[str, Done] = {}
    for planned in points:
        key = planned.entry.key
        run = folder.run_of(key)
        if (manifest := finished(run)) and is_of(run, planned.entry.hash):
            found[key] = Done(key, KEPT, simulated_s=manifest["simulated_s"])
        elif not again and (manifest := hung(run)):
            found[key] = Done(key, HUNG, manifest["error"])
    return found


def missing(points: Sequence[Planned], known: Mapping[str, Done]) -> list[Planned]:
    """Return each missing run once: points of different names may be the same run."""
    return list({planned.entry.key: planned for planned in points if planned.entry.key not in known}.values())
