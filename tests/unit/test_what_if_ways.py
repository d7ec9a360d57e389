# SPDX-License-Identifier: BSD-3-Clause
"""How long software usually takes out of an idle state, and how it is guessed of a state that a run never left."""

import numpy as np
import pytest

from lull.files.paths import ROOT
from lull.whatif import source
from lull.whatif.chain import _SLEEP
from lull.whatif.ways import NEVER_LEFT, TYPICAL_NS, Usual, divide, usual, usually_ns

KINDS = tuple(TYPICAL_NS)
DRAGS = ROOT / "results" / "recordings" / "drags"


def left(ns: int, many: int = 1) -> Usual:
    return Usual(ns, None, many)


def test_a_cpu_that_left_a_state_has_its_own_time() -> None:
    found = usually_ns(KINDS, {0: [left(1), left(2), left(3), left(4)], 1: [left(5), left(6), left(7), left(8)]})
    assert found == {0: [1, 2, 3, 4], 1: [5, 6, 7, 8]}


def test_other_cpus_of_the_cluster_tell_of_a_state_that_one_never_left() -> None:
    """The one with more sleeps counts for more."""
    others = {
        1: [NEVER_LEFT, NEVER_LEFT, left(20_000, 9), NEVER_LEFT],
        2: [NEVER_LEFT, NEVER_LEFT, left(90_000), NEVER_LEFT],
    }
    assert usually_ns(KINDS, {0: [NEVER_LEFT] * 4, **others})[0][2] == 20_000


@pytest.mark.parametrize(("known", "nearest"), [({3: 102_000}, 3), ({1: 9_000}, 1), ({1: 9_000, 3: 25_500}, 3)])
def test_a_state_that_no_cpu_left_is_in_proportion_to_the_one_nearest_in_depth(
    known: dict[int, int], nearest: int
) -> None:
    own = [left(known[state]) if state in known else NEVER_LEFT for state in range(4)]
    factor = known[nearest] / TYPICAL_NS[KINDS[nearest]]
    assert usually_ns(KINDS, {0: own})[0][2] == round(factor * TYPICAL_NS["core-off"])


@pytest.mark.parametrize(("ns", "factor"), [(60_000, 3), (6, 1 / 3)])
def test_a_single_odd_sleep_in_c1_does_not_make_a_way_out_of_c3_absurd(ns: int, factor: float) -> None:
    assert usually_ns(KINDS, {0: [left(ns), *[NEVER_LEFT] * 3]})[0][2] == round(factor * TYPICAL_NS["core-off"])


def test_without_any_sleep_the_times_are_typical() -> None:
    assert usually_ns(KINDS, {0: [NEVER_LEFT] * 4})[0] == list(TYPICAL_NS.values())


def sleeps(*ways_out: int) -> np.ndarray:
    """Sleeps in C4 of a millisecond each. The interrupt came so many nanoseconds before the end, as far as is known."""
    found = np.zeros(len(ways_out), _SLEEP)
    found["end"], found["length"], found["state"] = 10_000_000, 1_000_000, 3
    found["woken"] = found["end"] - np.array(ways_out)
    return found


def test_a_sleep_that_is_shorter_than_the_hardwares_way_out_tells_nothing() -> None:
    told, hardware = np.ones(3, bool), np.full(3, 500_000)
    assert usual(sleeps(540_000, 550_000, 400_000), told, hardware, 4)[3] == Usual(45_000, None, 2)
    assert usual(sleeps(400_000), told[:1], hardware[:1], 4) == [NEVER_LEFT] * 4


def test_where_no_event_tells_of_the_interrupt_the_way_out_is_hardware_and_usual_software() -> None:
    """A network card interrupts a CPU in C4: no event of the trace has the time."""
    own, told = sleeps(60_000, 540_000), np.array([False, True])
    hardware, wholes = np.full(2, 500_000), np.array([0, 0, 0, 900_000])
    given = (own, told, np.ones(2, bool), hardware, wholes, np.array([0, 0, 0, 50_000]))
    assert divide(*given)
    assert (own["end"] - own["woken"]).tolist() == [550_000, 540_000]
    assert own["software"].tolist() == [50_000, 40_000]
    assert not divide(*given)  # the second time nothing moves


def test_a_part_of_a_command_is_replayed_from_the_commands_begin() -> None:
    """So a CPU that sleeps when the part begins is in the state that the new governor chose."""
    whole = source.load(DRAGS)
    end = (whole.chains.last - whole.chains.first) / 1e6
    part = source.load(DRAGS, (end / 2, end))
    machine = part.machine.changed(["idle.deepest=C2"])
    assert part.chains.begin == whole.chains.begin
    asleep = part.spending(machine, part.wakes(machine)).slept[0]
    assert asleep["C3"] == 0
    assert asleep["C2"] > 0
    assert sum(part.spent.slept[0].values()) < sum(whole.spent.slept[0].values())
