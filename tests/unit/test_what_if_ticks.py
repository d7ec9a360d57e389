# SPDX-License-Identifier: BSD-3-Clause
"""`lull what-if`: what the tick and the software's ways take of a CPU's work, on small made-up runs."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lull.platform.load import load_platform
from lull.rundir import cpuidle
from lull.whatif import chain, entries, prediction, recorded, source, spent, ticks
from lull.whatif.chain import AS_RECORDED, Chains
from lull.whatif.clues import EXIT, Clue
from lull.whatif.entries import Entries
from lull.whatif.library import NEVER, Governor, Knowledge, State
from lull.whatif.settings import Setup
from lull.whatif.sleeps import ChosenSleep, packed
from lull.whatif.source import TICK_NS, Replay
from lull.whatif.spent import Spending
from lull.whatif.ticks import TickCost
from lull.whatif.watts import Watts
from tests import choices

pytestmark = pytest.mark.usefixtures("governors")

RUN = Path(__file__).parent / "data" / "trace" / "tiny-gem5"
US, MS = 1_000, 1_000_000
STATES = [State("C1", 1 * US, 1 * US, False), State("C2", 15 * US, 100 * US, False), State("C3", 500 * US, MS, False)]
PLATFORM = load_platform("tiny")
COST = TickCost(13 * US, 11 * US, 0, True)
LEAD, WORK = 10 * US, 100 * US
WORKS = [450 * US, 450 * US, 1450 * US] * 10
"""After three sleeps the CPU is at work when the tick comes, so that the tick ends no sleep."""


def one(start: int, end: int, timer: int, **changes: Any) -> ChosenSleep:
    """A sleep with the tick kept, which a timer ended for a task."""
    sleep = ChosenSleep(
        cpu=0, now=start - LEAD, start=start, state=1, tick=start - start % TICK_NS + TICK_NS, hrtimer=timer,
        wheel=NEVER, qos=NEVER, stopped=False, end=end, leaves=True, timer=timer, after_task=True, left_after=8 * US,
    )  # fmt: skip
    return dataclasses.replace(sleep, **changes)


def every_millisecond(stopping: bool) -> list[ChosenSleep]:
    """A timer each millisecond, but for the one when the tick is due."""
    dues = [MS * number for number in range(1, 41) if number % 4]
    more = COST.stop + COST.restart if stopping else 0
    ends = [due + 50 * US for due in dues]
    starts = [dues[0] - 500 * US, *(end + work + more for end, work in zip(ends[:-1], WORKS, strict=False))]
    own = [one(start, end, due) for start, end, due in zip(starts, ends, dues, strict=True)]
    if not stopping:
        return own
    return [
        dataclasses.replace(
            each, stops=True, restarted=True, now=each.now - COST.stop, left_after=each.left_after + COST.restart
        )
        for each in own
    ]


def chains(own: list[ChosenSleep], cost: TickCost = COST) -> Chains:
    return chain.of_run(
        {0: choices.made(own)}, PLATFORM, TICK_NS, own[0].start - MS // 2, own[-1].end, tick_cost={0: cost}
    )


def haltpoll() -> Governor:
    """It stops the tick before each sleep, here always in C2."""
    return Governor("haltpoll", {0: [*STATES[:2], STATES[2]._replace(disabled=True)]}, {"guest_halt_poll_ns": 0})


def works(wakes: npt.NDArray[np.void]) -> list[int]:
    asleep = wakes[wakes["state"] >= 0]
    found: list[int] = (asleep["start"][1:] - asleep["end"][:-1]).tolist()
    return found


@pytest.mark.parametrize("stopping", [False, True])
def test_the_recorded_choices_give_the_recorded_work(stopping: bool) -> None:
    own = every_millisecond(stopping)
    wakes = chain.run(chains(own), PLATFORM, AS_RECORDED)
    assert wakes["start"].tolist() == [each.start for each in own]
    assert wakes["end"].tolist() == [each.end for each in own]


def test_a_governor_that_stops_the_tick_works_longer() -> None:
    wakes = chain.run(chains(every_millisecond(False)), PLATFORM, haltpoll())
    assert works(wakes) == [work + COST.stop + COST.restart for work in WORKS[:-1]]
    assert set(wakes["ticking"].tolist()) == {COST.stop + COST.restart}


def test_a_governor_that_keeps_the_tick_works_shorter() -> None:
    """teo keeps it: each sleep is shorter than the tick's period."""
    teo = Governor("teo", {0: STATES})
    wakes = chain.run(chains(every_millisecond(True)), PLATFORM, teo)
    assert works(wakes) == WORKS[:-1]
    assert set(wakes["ticking"].tolist()) == {0}


def test_a_run_that_tells_nothing_of_the_tick_keeps_its_work() -> None:
    run = chains(every_millisecond(False), ticks.NOTHING)
    assert works(chain.run(run, PLATFORM, haltpoll())) == WORKS[:-1]


def both(stopped: bool = False) -> list[ChosenSleep]:
    """Of three sleeps the second one's timer is due with the tick's end in one interrupt, on a long way out."""
    tick, timer = 2 * TICK_NS, 2 * TICK_NS + 200 * US
    return [
        one(tick - 3 * MS, tick - 2 * MS, tick - 2 * MS - 50 * US),
        one(
            tick - 2 * MS + WORK, timer + 100 * US, tick, hrtimer=timer, got_tick=True, beside=timer,
            handler=4 * US, softirqs=2 * US,
        ),
        one(timer + 200 * US, timer + 2 * MS, timer + 2 * MS - 50 * US),
    ]  # fmt: skip


def test_a_tick_that_is_stopped_is_not_handled_beside_a_timer() -> None:
    run = chains(both(), TickCost(0, 0, 5 * US, True))
    kept = chain.run(run, PLATFORM, AS_RECORDED)
    stopped = chain.run(run, PLATFORM, haltpoll())
    assert works(kept)[1] == 100 * US
    assert works(stopped)[1] == 94 * US
    assert kept["woken"][1] == 2 * TICK_NS
    assert stopped["woken"][1] == 2 * TICK_NS + 200 * US, "its wake-up is the timer's"
    replay = _replay(run)
    causes = [replay.chains.causes(0, wakes) for wakes in (kept, stopped)]
    assert [(one["tick"], one["timer"]) for one in causes] == [(1, 2), (0, 3)]


def test_a_tick_that_is_kept_is_handled_if_the_cpu_is_still_at_work() -> None:
    """The run stopped it. Its second sleep ends just before a tick is due."""
    own = [
        one(9 * MS, 10 * MS, 10 * MS - 50 * US, stops=True, restarted=True),
        one(10 * MS + WORK, 12 * MS - 20 * US, 12 * MS - 60 * US, stops=True, restarted=True),
        one(12 * MS + 80 * US, 13 * MS, 13 * MS - 50 * US, stops=True, restarted=True),
        one(13 * MS + WORK, 14 * MS, 14 * MS - 50 * US, stops=True, restarted=True),
    ]
    teo = Governor("teo", {0: STATES})
    wakes = chain.run(chains(own, TickCost(0, 0, 5 * US, True)), PLATFORM, teo)
    assert works(wakes) == [100 * US, 105 * US, 100 * US]


def found(own: dict[int, list[ChosenSleep]]) -> dict[int, TickCost]:
    return ticks.of_cpus(entries_of(own), PLATFORM)


def entries_of(own: dict[int, list[ChosenSleep]]) -> Entries:
    return Entries({cpu: packed(sleeps) for cpu, sleeps in own.items()}, 0, NEVER, TICK_NS, 0)


def test_what_the_tick_takes_is_the_difference_that_it_makes() -> None:
    own = [*every_millisecond(False), *every_millisecond(True)]
    assert found({0: own})[0][:2] == (COST.stop, COST.restart)
    assert found({0: own})[0].measured


def test_ways_after_a_task_and_after_an_interrupt_are_not_compared() -> None:
    """A way in after an interrupt is 6 us shorter, and most ways that stop the tick are such."""
    shorter = [dataclasses.replace(each, now=each.now + 6 * US, after_task=False) for each in every_millisecond(True)]
    own = [*every_millisecond(False), *every_millisecond(True)[:5], *shorter]
    assert found({0: own})[0].stop == COST.stop


def test_a_cpu_that_does_one_thing_only_takes_its_types_difference() -> None:
    two = load_platform("rk3399")
    own = {0: every_millisecond(False), 1: every_millisecond(True)}
    told = ticks.of_cpus(entries_of(own), two)
    assert {told[cpu][:2] for cpu in (0, 1, 2)} == {(COST.stop, COST.restart)}
    assert not told[4].measured, "of the other type nothing is known"


def test_a_run_that_never_stops_the_tick_says_how_long_its_handler_takes() -> None:
    own = [dataclasses.replace(each, handler=7 * US, softirqs=US) for each in every_millisecond(False)]
    assert found({0: own})[0] == TickCost(7 * US, 7 * US, 8 * US, False)


def test_what_the_tick_took_is_no_longer_than_what_it_is_a_part_of() -> None:
    own = [one(0, 2 * MS, MS, stops=True, restarted=True, handler=MS), one(2 * MS + 5 * US, 3 * MS, 3 * MS - US)]
    parts = ticks.apart(packed(own), TickCost(40 * US, 40 * US, 0, True))
    assert {name: ns.tolist() for name, ns in parts.items()} == {
        "stop": [LEAD, 0], "restart": [0, 0], "handled": [5 * US, 0],
    }  # fmt: skip


def test_the_trace_tells_of_ticks_stopped_started_and_handled() -> None:
    told = source._told(cpuidle.read(RUN / "cpuidle.jsonl"), RUN, PLATFORM)
    asked = {cpu: [state.residency_ns for state in own] for cpu, own in told.items()}
    by_cpu = entries.read(RUN / "trace.dat", asked, TICK_NS).by_cpu
    every = np.concatenate(list(by_cpu.values()))
    assert every["restarted"].any()
    for own in by_cpu.values():
        each, after = own[:-1], own[1:]
        work = after["start"] - each["end"]
        assert (~each["restarted"] | each["stops"]).all(), "nobody starts a tick that is not stopped"
        assert not (each["restarted"] & after["stopped"]).any()
        assert (each["handler"] + each["softirqs"] <= work).all()
        left = each["left_after"]
        assert ((left == NEVER) | ((left > 0) & (left < work))).all()
    assert every["handler"][every["got_tick"] & (every["timer"] == every["end"])].all()
    assert every["handler"].any()


@pytest.mark.parametrize("runs", [False, True])
def test_a_tick_in_a_later_interrupt_is_told_to_the_governor_if_no_task_runs_before(runs: bool) -> None:
    tick, timer, switch = 7, 1, Clue(13 * US, 0, "sched_switch", (0, 5))
    events = [
        Clue(0, 0, "cpu_idle", (0,)), Clue(9 * US, 0, "cpu_idle", (EXIT,)), Clue(10 * US, 0, "irq_handler_entry", ()),
        Clue(11 * US, 0, "irq_handler_exit", ()), *([switch] if runs else []),
        Clue(15 * US, 0, "irq_handler_entry", ()), Clue(16 * US, 0, "hrtimer_expire_entry", (timer, tick, 16 * US)),
    ]  # fmt: skip
    watcher = entries._Watcher({0: [0]}, TICK_NS, {}, tick, set())
    for event in events:
        watcher.take(event)
    (one,) = watcher.done()[0]
    assert not one["got_tick"]
    assert one["late_tick"] == (not runs)
    assert recorded.lived_of(one.reshape(1), one["wheel"].reshape(1), recorded.PASTS[0])["got_tick"].tolist() == [
        not runs
    ]


def test_the_kernel_is_said_to_keep_a_tick_no_longer_than_it_must() -> None:
    """teo keeps the tick for 100 short sleeps. Then nothing is due, and the tick is kept three times more."""
    engine, own = Governor("teo", {0: STATES}), []
    for number in range(103):
        now = number * MS + TICK_NS * (number > 99) * (number - 99)
        due = now + MS if number < 100 else NEVER
        tick = now - now % TICK_NS + TICK_NS
        wheel = NEVER if number < 100 else now
        choice = engine.select(0, Knowledge(now, now, tick, due, wheel, NEVER, False))
        sleep = ChosenSleep(0, now, now, choice.state, tick, due, NEVER, NEVER, False, end=min(due, tick))
        sleep.got_tick = sleep.end == tick
        own.append(sleep)
        engine.reflect(0, sleep.end, sleep.state, sleep.end - sleep.start, sleep.got_tick)
    again = recorded.again(entries_of({0: own}), "teo", {0: STATES}, recorded.PASTS[:1])
    kept = np.flatnonzero(again.made[0].wheel == again.made[0].sleeps["now"]).tolist()
    assert again.share() == 1
    assert set(kept) >= {100, 101, 102}
    assert len(kept) < 3 + recorded.SETTLING


def spending(active: float, ways: float) -> Spending:
    return Spending({0: {"active": active}}, {}, {}, {0: {}}, {}, {0: {}}, {0: ways}, 10**9)


def test_the_power_of_work_is_without_that_of_software_on_its_ways() -> None:
    """0.4 s of work took 0.5 J with 0.1 s worth of work on the ways, whose clock alone takes 0.2 W."""
    kinds = {0: {"active": {"dynamic": 1.0, "static": 0.25}, "exit": {"dynamic": 0.2, "static": 0.25}}}
    power = Watts(kinds, {}, {}, {}, set())
    before = spending(4e8, 1e8)
    said = {ways: spending(4e8, ways).cores(power, before)[0]["active"] for ways in (1e8, 0.0, 2e8)}
    assert said[1e8] == pytest.approx(0.5), "as recorded"
    busy = (0.5 + 0.2 * 0.1) / 0.5
    assert said[0.0] == pytest.approx(0.4 * busy)
    assert said[2e8] == pytest.approx(0.4 * busy + 0.2 * (busy - 0.2))


def test_ways_are_work_for_a_part_of_their_time() -> None:
    run = chains(every_millisecond(False))
    wakes = chain.run(run, PLATFORM, AS_RECORDED)
    replay = _replay(run)
    software = sum((wakes["end"] - wakes["woken"] - wakes["hardware"]).tolist())
    assert replay.spending(replay.machine, wakes).ways[0] == pytest.approx(
        spent.AS_BUSY * (1 + spent.WAY_IN) * software
    )


def _replay(run: Chains) -> Replay:
    kinds = {0: {"active": {"dynamic": 0.1}, **{f"C{depth}": {"static": 0.01} for depth in range(1, 5)}}}
    power = Watts(kinds, {}, {}, {name: {"on": 0.0, "off": 0.0} for name in ("little", "big", "shadow")}, set())
    return Replay(
        Path("made-up"), Setup(PLATFORM, "menu", {0: "C3"}), {0: [*STATES, STATES[2]._replace(name="C4")]},
        Entries({0: packed([])}, run.first, run.last, TICK_NS, 0),
        recorded.Again({0: choices.made([])}, {0: recorded.PASTS[0]}, 0), run, power, (),
    )  # fmt: skip


@pytest.mark.parametrize("measured", [True, False])
def test_a_guess_of_what_the_tick_takes_widens_the_error_bar(measured: bool) -> None:
    replay = _replay(chains(every_millisecond(False), COST._replace(measured=measured)))
    wakes = chain.run(replay.chains, PLATFORM, haltpoll())
    added = replay.chains.ticking(wakes)[0]
    joules = 0.0 if measured else 0.1 * added / 1e9
    assert added >= 20 * (COST.stop + COST.restart)
    guesses = prediction.guessed(replay, replay.machine, wakes)
    assert guesses.get(("energy", 0, "active"), 0.0) == pytest.approx(joules)
    assert guesses["energy", prediction.ALL, prediction.CORES] == pytest.approx(joules)
