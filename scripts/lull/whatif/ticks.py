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
from lull.whatif.sleeps import ChosenSleep

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

_Kind = Callable[[ChosenSleep], tuple[bool, bool, int] | None]
"""Of a sleep: which ways compare with this one, whether the tick was changed on it, and how long it took."""


def of_cpus(entries: Entries, platform: Platform) -> dict[int, TickCost]:
    found = {}
    for cpus, _ in platform.cpu_ranges():
        own = {cpu: [one for one in entries.by_cpu.get(cpu, ()) if one.start >= entries.begin] for cpu in cpus}
        alike = [one for sleeps in own.values() for one in sleeps]
        ticked = [one for one in alike if one.handler]
        usual = _median(one.handler for one in ticked)
        handled = _median(one.handler + one.softirqs for one in ticked)
        for cpu in cpus:
            stop, restart = (_difference((own[cpu], alike), kind) for kind in (_way_in, _way_out))
            found[cpu] = TickCost(
                usual if stop is None else stop,
                usual if restart is None else restart,
                handled,
                stop is not None and restart is not None,
            )
    return found


def stops(one: ChosenSleep) -> bool:
    """Whether the tick is stopped on the way into a sleep."""
    return one.stops and not one.stopped


def alone(one: ChosenSleep) -> bool:
    """Whether the tick ended a sleep, and no other timer did with it."""
    return one.got_tick and one.beside == NEVER


def _median(values: Iterable[int]) -> int:
    found = list(values)
    return round(float(np.median(found))) if found else 0


def _way_in(one: ChosenSleep) -> tuple[bool, bool, int] | None:
    if one.stopped:
        return None  # neither stopped nor kept
    return one.after_task, one.stops, one.start - one.now


def _way_out(one: ChosenSleep) -> tuple[bool, bool, int] | None:
    return None if one.left_after == NEVER else (True, one.restarted, one.left_after)


def _difference(groups: Iterable[Sequence[ChosenSleep]], kind: _Kind) -> int | None:
    """Of the first group that has enough sleeps."""
    for group in groups:
        ways: dict[bool, tuple[list[int], list[int]]] = {}
        for one in group:
            told = kind(one)
            if told is not None:
                which, changed, took = told
                ways.setdefault(which, ([], []))[changed].append(took)
        enough = [pair for pair in ways.values() if min(map(len, pair)) >= FEWEST]
        if enough:
            longer = [float(np.median(changed) - np.median(kept)) for kept, changed in enough]
            return max(0, round(float(np.average(longer, weights=[min(map(len, pair)) for pair in enough]))))
    return None


def apart(own: Sequence[ChosenSleep], cost: TickCost) -> Mapping[str, npt.NDArray[np.int64]]:
    """Of each of a CPU's sleeps, what the tick took: `stop` on its way in, and of the work after it `restart` and
    `handled`. Together they are no longer than what they are a part of. A tick that was the reason of its wake-up is
    part of that one's work."""
    into = [min(cost.stop, max(0, one.start - one.now)) if stops(one) else 0 for one in own]
    out, handled = [], []
    for number, one in enumerate(own):
        last = number + 1 == len(own)
        work = 0 if last else max(0, own[number + 1].start - one.end - into[number + 1])
        handled.append(0 if alone(one) else min(one.handler + one.softirqs, work))
        out.append(min(cost.restart, work - handled[-1]) if one.restarted else 0)
    return {name: np.array(ns, np.int64) for name, ns in (("stop", into), ("restart", out), ("handled", handled))}
