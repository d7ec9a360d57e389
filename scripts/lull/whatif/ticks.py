# SPDX-License-Identifier: BSD-3-Clause
"""Estimates the tick's part of a CPU's work: to stop it before a sleep, to start it again for a task, and to handle it.

The replay needs these apart from other work, because another governor changes their number. A governor that stops the
tick before each sleep also starts it each time. A governor that keeps it handles it every 4 ms, often in a wake-up for
another timer. On a little core, stopping and starting take 25 us and a tick 15 us, of wake-ups of 140 to 170 us. All
three are part of the recorded work between two sleeps.

Stopping and starting: each is a difference of medians. The entry, from the last event before the choice to the event of
the entry, is longer if the tick is stopped in it. The exit, from the end of the interrupt to the task, is longer if the
tick is started in it. A CPU with too few entries or exits of either kind uses the difference over all CPUs of its type.
If the run has only one kind, the time is that of the tick's own handler, which does about the same: it finds the next
timer and programs the CPU's timer. Then the error bar is wider.

Handling: events tell for each tick how long its handler and the work after it took.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lull.platform.schema import Platform
from lull.whatif.entries import Entries
from lull.whatif.library import NEVER
from lull.whatif.sleeps import SLEEP, Columns, Sleeps

FEWEST = 4
"""The smallest number of entries or exits, both with the tick kept and changed, for a difference of medians."""


class TickCost(NamedTuple):
    """The times of the tick in nanoseconds."""

    stop: int
    restart: int
    handled: int
    measured: bool
    """True if, in the run, CPUs of this type have entries and exits both with the tick changed and with it kept."""


NOTHING = TickCost(0, 0, 0, True)

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
_Ways = tuple[Flags, Flags, Times]
"""Entries or exits of sleeps: which ones can be compared, in which the tick was changed, and their lengths."""


def of_cpus(entries: Entries, platform: Platform) -> dict[int, TickCost]:
    found = {}
    for cpus, _ in platform.cpu_ranges():
        own = {cpu: _inside(entries, cpu) for cpu in cpus}
        alike = list(own.values())
        usual = _median([one["handler"][one["handler"] > 0] for one in alike])
        handled = _median([(one["handler"] + one["softirqs"])[one["handler"] > 0] for one in alike])
        for cpu in cpus:
            stop, restart = (_difference(([own[cpu]], alike), kind) for kind in (_way_in, _way_out))
            found[cpu] = TickCost(
                usual if stop is None else stop,
                usual if restart is None else restart,
                handled,
                stop is not None and restart is not None,
            )
    return found


def _inside(entries: Entries, cpu: int) -> Sleeps:
    """Return the sleeps that begin in the command."""
    own = entries.by_cpu.get(cpu, np.zeros(0, SLEEP))
    return own[np.searchsorted(own["start"], entries.begin) :]


def _median(values: Sequence[Times]) -> int:
    found = np.concatenate(values)
    return round(float(np.median(found))) if found.size else 0


def _way_in(own: Sleeps) -> _Ways:
    changes = ~own["stopped"]  # else the tick is neither stopped nor kept
    took = own["start"] - own["now"]
    return own["after_task"][changes], own["stops"][changes], took[changes]


def _way_out(own: Sleeps) -> _Ways:
    told = own["left_after"] != NEVER
    return np.ones(int(told.sum()), np.bool_), own["restarted"][told], own["left_after"][told]


def _difference(groups: Iterable[Sequence[Sleeps]], kind: Callable[[Sleeps], _Ways]) -> int | None:
    """Return the difference of medians in the first group with enough sleeps."""
    for group in groups:
        which, changed, took = (np.concatenate(column) for column in zip(*map(kind, group), strict=True))
        ways = [(took[(which == one) & ~changed], took[(which == one) & changed]) for one in (False, True)]
        enough = [pair for pair in ways if min(map(len, pair)) >= FEWEST]
        if enough:
            longer = [float(np.median(changed) - np.median(kept)) for kept, changed in enough]
            return max(0, round(float(np.average(longer, weights=[min(map(len, pair)) for pair in enough]))))
    return None


def apart(own: Columns | Sleeps, cost: TickCost) -> Mapping[str, Times]:
    """Return the tick's times for each of a CPU's sleeps: `stop` in its entry, `restart` and `handled` in the work
    after it. They are at most as long as the entry and the work. A tick that was the reason of its wake-up is not
    counted: it belongs to the wake-up's work."""
    stops = own["stops"] & ~own["stopped"]
    into = np.where(stops, np.clip(own["start"] - own["now"], 0, cost.stop), 0)
    work = np.append(np.maximum(0, own["start"][1:] - own["end"][:-1] - into[1:]), 0)
    alone = own["got_tick"] & (own["beside"] == NEVER)
    handled = np.where(alone, 0, np.minimum(own["handler"] + own["softirqs"], work))
    out = np.where(own["restarted"], np.minimum(cost.restart, work - handled), 0)
    return {"stop": into, "restart": out, "handled": handled}
