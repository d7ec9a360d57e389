# SPDX-License-Identifier: BSD-3-Clause
"""What the tick takes of a CPU's work: to stop it before a sleep, to start it again for a task, and to handle it.

All three are in the recorded work between two sleeps. A governor that stops the tick before each sleep stops and starts
it each time; one that keeps it handles it every 4 ms, often in a wake-up that another timer is the reason of. On a
little core stopping and starting take 25 us, and a tick 15, of wake-ups of 140 to 170. So the replay needs them apart
from the rest of the work.

To stop and to start the tick: each is a difference of medians. The way in, from the last event before the choice to the
event of the entry, is longer if the tick is stopped there. The way out, from the end of the interrupt to the task, is
longer if the tick is started there. A CPU that has too few of either kind takes the difference of all CPUs of its type.
Where the run has one kind only, the time is that of the tick's own handler, which does about the same: it looks for the
next timer and programs the CPU's. Then the error bar is wider.

To handle it: events tell of each tick how long its handler and what followed it took.
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
"""Of ways with the tick kept, and of ways with the tick changed, that make a difference of medians."""


class TickCost(NamedTuple):
    """Nanoseconds, where the record has none."""

    stop: int
    restart: int
    handled: int
    measured: bool
    """The run has CPUs of this type that stopped and started the tick, and that did without."""


NOTHING = TickCost(0, 0, 0, True)

Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
_Ways = tuple[Flags, Flags, Times]
"""Of sleeps: which ways compare with each other, on which the tick was changed, and how long they took."""


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
    """The sleeps that begin in the command."""
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
    """Of the first group that has enough sleeps."""
    for group in groups:
        which, changed, took = (np.concatenate(column) for column in zip(*map(kind, group), strict=True))
        ways = [(took[(which == one) & ~changed], took[(which == one) & changed]) for one in (False, True)]
        enough = [pair for pair in ways if min(map(len, pair)) >= FEWEST]
        if enough:
            longer = [float(np.median(changed) - np.median(kept)) for kept, changed in enough]
            return max(0, round(float(np.average(longer, weights=[min(map(len, pair)) for pair in enough]))))
    return None


def apart(own: Columns | Sleeps, cost: TickCost) -> Mapping[str, Times]:
    """Of each of a CPU's sleeps, what the tick took: `stop` on its way in, and of the work after it `restart` and
    `handled`. Together they are no longer than what they are a part of. A tick that was the reason of its wake-up is
    part of that one's work."""
    stops = own["stops"] & ~own["stopped"]
    into = np.where(stops, np.clip(own["start"] - own["now"], 0, cost.stop), 0)
    work = np.append(np.maximum(0, own["start"][1:] - own["end"][:-1] - into[1:]), 0)
    alone = own["got_tick"] & (own["beside"] == NEVER)
    handled = np.where(alone, 0, np.minimum(own["handler"] + own["softirqs"], work))
    out = np.where(own["restarted"], np.minimum(cost.restart, work - handled), 0)
    return {"stop": into, "restart": out, "handled": handled}
