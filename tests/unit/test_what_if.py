# SPDX-License-Identifier: BSD-3-Clause
"""`lull what-if`: the kernel's governors on this machine, a recorded run's choices again, and small made-up runs."""

import dataclasses
import math
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lull.energy import rows
from lull.errors import UserError
from lull.files.paths import ROOT
from lull.host.progress import Progress
from lull.platform.load import load_platform
from lull.platform.schema import Platform
from lull.rundir import cpuidle
from lull.rundir.folder import RunDir
from lull.runspec import policy
from lull.whatif import (
    chain,
    charges,
    clues,
    entries,
    grid,
    hindsight,
    prediction,
    recorded,
    settings,
    source,
    watts,
    ways,
)
from lull.whatif.chain import AS_RECORDED, BY_HINDSIGHT, MAX_STATES, Chains
from lull.whatif.library import NEVER, Governor, Knowledge, State
from lull.whatif.settings import Setup
from lull.whatif.sleeps import ChosenSleep, Columns, packed
from lull.whatif.source import TICK_NS, Replay
from tests import choices

pytestmark = pytest.mark.usefixtures("governors")

RUN = Path(__file__).parent / "data" / "trace" / "tiny-gem5"
US, MS = 1_000, 1_000_000
STATES = [State("C1", 1 * US, 1 * US, False), State("C2", 15 * US, 100 * US, False), State("C3", 500 * US, MS, False)]


def view(now: int, timer: int, stopped: bool = False, qos: int = NEVER) -> Knowledge:
    tick = NEVER if stopped else now - now % TICK_NS + TICK_NS
    return Knowledge(now, now, tick, timer, NEVER, qos, stopped)


def test_menu_takes_the_state_that_the_next_timer_allows() -> None:
    chosen = []
    for sleep in (50 * US, 500 * US, 50 * MS):
        governor = Governor("menu", {0: STATES})
        chosen.append(governor.select(0, view(0, sleep)).state)
    assert chosen == [0, 1, 2]


def test_a_latency_request_and_a_disabled_state_bound_the_choice() -> None:
    assert Governor("menu", {0: STATES}).select(0, view(0, 50 * MS, qos=20 * US)).state == 1
    off = [*STATES[:2], STATES[2]._replace(disabled=True)]
    assert Governor("menu", {0: off}).select(0, view(0, 50 * MS)).state == 1


@pytest.mark.parametrize("name", ["menu", "teo"])
def test_a_governor_learns_from_short_sleeps(name: str) -> None:
    governor = Governor(name, {0: STATES, 1: STATES})
    for number in range(24):
        now = number * MS
        choice = governor.select(0, view(now, now + 500 * MS))
        governor.reflect(0, now + 30 * US, choice.state, 30 * US, False)
    taught = governor.select(0, view(100 * MS, 600 * MS))
    fresh = governor.select(1, view(100 * MS, 600 * MS))
    assert taught.state == 0
    assert fresh.state == 2


def test_what_a_governor_knows_can_be_put_back() -> None:
    governor = Governor("teo", {0: STATES})
    before = governor.save()
    for number in range(24):
        choice = governor.select(0, view(number * MS, NEVER))
        governor.reflect(0, number * MS + 30 * US, choice.state, 30 * US, False)
    assert governor.select(0, view(100 * MS, 600 * MS)).state == 0
    governor.restore(before)
    assert governor.select(0, view(100 * MS, 600 * MS)).state == 2


def test_haltpoll_has_the_projects_change() -> None:
    """The deepest state, not the second, where nothing is polled for."""
    governor = Governor("haltpoll", {0: STATES})
    assert governor.select(0, view(0, 50 * MS)).state == 2


def test_an_unknown_governor_is_refused() -> None:
    with pytest.raises(UserError, match="governor ladder: unknown; choose menu, teo, haltpoll"):
        Governor("ladder", {0: STATES})


def told() -> dict[int, list[State]]:
    path = RUN / "cpuidle.jsonl"
    return source._told(cpuidle.read(path), path, RunDir.open(RUN).spec().platform)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1:], "CPU 0 has other idle states than in run.json beside it"),
        (lambda rows: [*rows, *rows], "CPU 0 has other idle states than in run.json"),
        (lambda rows: [{**row, "cpu": row["cpu"] + 9} for row in rows], "CPU 9 has other idle states"),
        (lambda rows: [{**row, "cpu": row["cpu"] - 1} for row in rows], "CPU -1 has other idle states"),
        (lambda rows: [{**row, "disabled": True} for row in rows], "CPU 0 may enter no idle state"),
        (lambda rows: [{**row, "governor": None} for row in rows], "does not name one governor"),
        (lambda rows: [*rows[:-1], {**rows[-1], "governor": "teo"}], "does not name one governor"),
    ],
)  # fmt: skip
def test_counts_of_another_machine_are_refused(
    change: Callable[[list[cpuidle.Row]], list[cpuidle.Row]], message: str
) -> None:
    path = RUN / "cpuidle.jsonl"
    with pytest.raises(UserError, match=r"cpuidle\.jsonl: .*; run the command again") as error:
        source._told(change(cpuidle.read(path)), path, RunDir.open(RUN).spec().platform)
    assert message in str(error.value)


@pytest.fixture(scope="module")
def found() -> entries.Entries:
    return entries.read(
        RUN / "trace.dat", {cpu: [state.residency_ns for state in own] for cpu, own in told().items()}, TICK_NS
    )


def test_each_sleep_of_the_recorded_run_is_there(found: entries.Entries) -> None:
    assert sorted(found.by_cpu) == [0, 1, 2]
    for own in found.by_cpu.values():
        assert ((own["now"] <= own["start"]) & (own["start"] < own["end"])).all()
        assert (own["end"][:-1] <= own["start"][1:]).all()


def test_a_trace_of_other_idle_states_is_refused() -> None:
    few = {cpu: [state.residency_ns for state in own[:1]] for cpu, own in told().items()}
    with pytest.raises(UserError, match=r"trace\.dat: CPU \d enters an idle state that it does not have; run the"):
        entries.read(RUN / "trace.dat", few, TICK_NS)


@pytest.mark.parametrize("started_again", [True, False])
def test_a_tick_that_no_event_stops_goes_on_if_its_handler_starts_it_again(started_again: bool) -> None:
    """Of a CPU whose sleeps are all short the trace has neither `tick_stop` nor `timer_base_idle`."""
    tick, timer = 7, 1
    events = [clues.Clue(1 * MS, 0, "cpu_idle", (clues.EXIT,))]
    for due in (4 * MS, 8 * MS):
        events.append(clues.Clue(due, 0, "hrtimer_expire_entry", (timer, tick, due)))
        again = clues.Clue(due + US, 0, "hrtimer_start", (timer, due + TICK_NS, tick))
        handled = clues.Clue(due + 2 * US, 0, "irq_handler_exit", ())
        events += [again, handled] if started_again else [handled, again]
    watcher = entries._Watcher({0: [0]}, TICK_NS, {}, tick, set())
    watcher.begin_with(events)
    assert watcher.cpus[0].stopped is not started_again


def test_the_recorded_choices_come_out_again(found: entries.Entries) -> None:
    again = recorded.again(found, "menu", told())
    assert sum(own.choice.size for own in again.made.values()) == 110
    assert again.agrees().size > 70
    assert again.share() == 1


def test_another_governor_chooses_otherwise(found: entries.Entries) -> None:
    """Else the share above would say nothing of the governor."""
    assert recorded.again(found, "haltpoll", told(), recorded.PASTS[:1]).share() < 0.9


def entry(start: int, length: int, state: int, timer: int = NEVER) -> ChosenSleep:
    return ChosenSleep(
        cpu=0, now=start, start=start, state=state, tick=NEVER, hrtimer=timer, wheel=NEVER, qos=NEVER, stopped=True,
        stops=True, end=start + length, leaves=False, timer=timer,
    )  # fmt: skip


PLATFORM = load_platform("tiny")
REFILL_NS = round(1000 * PLATFORM.clusters[0].cstates[2].actual.refill_us)
EXIT_NS = round(1000 * PLATFORM.clusters[0].cstates[2].actual.exit_us)
C4 = PLATFORM.clusters[0].cstates[3]


def chains(*own: ChosenSleep) -> Chains:
    made = {0: choices.made(own)}
    return chain.of_run(made, PLATFORM, TICK_NS, own[0].start, own[-1].end + MS)


def periodic(software: int = 20 * US) -> Chains:
    """A timer each 10 ms, of which C3 is left after its exit latency and 20 us of software."""
    dues = [10 * MS * number for number in range(1, 9)]
    return chains(*(entry(due - 9 * MS, 9 * MS + EXIT_NS + REFILL_NS + software, 2, timer=due) for due in dues))


def test_the_same_states_give_the_recorded_run() -> None:
    run = periodic()
    wakes = chain.run(run, PLATFORM, AS_RECORDED)
    assert wakes["end"].tolist() == run.sleeps[0]["end"].tolist()
    assert wakes["state"].tolist() == [2] * 8


def test_what_a_cluster_took_to_come_back_is_no_softwares_way() -> None:
    """One C4 left the cluster on, which the trace does not tell: caches were full at the next one, 200 us later."""
    exit_ns, whole = (round(1000 * us) for us in (C4.actual.exit_us, C4.actual.exit_us + C4.actual.refill_us))
    usual = 20 * US
    own = [entry(due - 5 * MS, 5 * MS + whole + usual, 3, timer=due) for due in (10 * MS, 20 * MS, 30 * MS, 40 * MS)]
    begin = own[-1].end + 30 * US
    own.append(entry(begin, 5 * MS + exit_ns + usual, 3, timer=begin + 5 * MS))
    begin = own[-1].end + 200 * US
    own.append(entry(begin, 5 * MS + whole + usual, 3, timer=begin + 5 * MS))
    assert chains(*own).sleeps[0]["software"].tolist()[-1] == usual


def test_a_cpu_that_sleeps_through_an_end_of_the_command_is_not_at_work_then() -> None:
    run = over_both_ends()
    assert run.open == {0}
    replay = dataclasses.replace(made_up(), chains=run)
    wakes = chain.run(run, PLATFORM, AS_RECORDED)
    found = replay.spending(replay.machine, wakes)
    assert found.times[0]["active"] == pytest.approx(3 * MS)
    assert found.slept[0] == pytest.approx({"C1": 0, "C2": 8 * MS, "C3": 19 * MS, "C4": 0})
    assert found.entries[0] == {"C1": 0, "C2": 1, "C3": 1, "C4": 0}
    assert run.ended(wakes).size == 2
    truth = prediction.of_trace(replay)
    assert truth["residency", 0, "C2"] == pytest.approx(100 * 8 / 30)
    assert [truth["entries", 0, state] for state in ("C2", "C3")] == [1, 1]


def over_both_ends() -> Chains:
    """From 10 to 40 ms: a sleep from before, one inside, one to after, and 3 ms of work between them."""
    every = [entry(0, 15 * MS, 2), entry(16 * MS, 14 * MS, 2, timer=29 * MS), entry(32 * MS, 20 * MS, 1)]
    made = {0: choices.made(every[:2])}
    return chain.of_run(made, PLATFORM, TICK_NS, 10 * MS, 40 * MS, {0: every[2]})


def test_a_longer_exit_takes_no_work_away() -> None:
    """Of the three sleeps the first ends later, the second begins and ends later, and the third begins later."""
    run = over_both_ends()
    replay = dataclasses.replace(made_up(), chains=run)
    slower = replay.machine.changed([f"cstates.C3.exit_us={EXIT_NS / 1000 + 1000}"])
    before, after = (
        replay.spending(machine, chain.run(run, machine.platform, AS_RECORDED)) for machine in (replay.machine, slower)
    )
    assert after.times[0]["active"] == pytest.approx(before.times[0]["active"])
    assert after.slept[0]["C3"] - before.slept[0]["C3"] == pytest.approx(1 * MS)
    assert before.slept[0]["C2"] - after.slept[0]["C2"] == pytest.approx(1 * MS)


def _given_before(time: int, how: int, _cpu: int, own: Columns) -> npt.ArrayLike:
    return np.where(own["start"] < time, how, 0)


def test_a_sleep_from_before_is_not_chosen_again() -> None:
    """It stays in its state, and moves with the deepest state if it is in that one."""
    own = [entry(0, 10 * MS, 2, timer=9 * MS), entry(11 * MS, 10 * MS, 1, timer=20 * MS)]
    made = {0: choices.made(own)}
    states = {}
    for given, deepest in ((1, 3), (1, 1), (2, 3), (2, 1)):
        run = chain.of_run(made, PLATFORM, TICK_NS, 5 * MS, 30 * MS, None, partial(_given_before, 5 * MS, given))
        governor = Governor("menu", {0: STATES})
        states[given, deepest] = chain.run(run, PLATFORM, governor, deepest={0: deepest})["state"].tolist()[0]
    assert states == {(1, 3): 2, (1, 1): 1, (2, 3): 3, (2, 1): 1}


def test_an_interrupt_that_the_run_tells_of_is_known() -> None:
    """Of two sleeps that no timer ended the run tells of one; in the other the way out is the hardware's alone."""
    own = [entry(0, 10 * MS, 2), entry(11 * MS, 10 * MS, 2), entry(22 * MS, 10 * MS, 2, timer=31 * MS)]
    made = choices.made(own)
    entries.tell_interrupts(made.sleeps, [9 * MS, 31 * MS])
    assert made.sleeps["sent_at"].tolist() == [9 * MS, NEVER, NEVER]
    run = chain.of_run({0: made}, PLATFORM, TICK_NS, own[0].start, own[-1].end + MS)
    assert run.told[0].tolist() == [True, False, True]
    wakes = chain.run(run, PLATFORM, AS_RECORDED)
    assert wakes["woken"].tolist()[0] == 9 * MS
    replay = dataclasses.replace(made_up(), chains=run)
    out = replay.spending(replay.machine, wakes).times[0]["exit"]
    software = run.sleeps[0]["software"].tolist()
    refills = (wakes["hardware"] - wakes["exit"]).sum()
    assert software[1] > 0
    assert out == pytest.approx(refills + software[0] + software[2])


def test_a_sleep_that_loses_caches_is_charged_for_them_by_the_work_before_it() -> None:
    one = charges.Charge(1e-6, 2e-6, 10e-6, 20e-6, 1e-9, 2e-9, l1_fill_ns=100, l2_fill_ns=1000, trip=3e-9)
    wakes = np.zeros(5, chain.WAKE)
    wakes["refilled"], wakes["refilled_l2"], wakes["given_up"] = [-1, -1, 50, 500, 500], [-1] * 4 + [500], [1, *[0] * 4]
    parts = charges.back(wakes, np.full(5, 100.0), np.full(5, 1000.0))
    back = [charges.Back(*(float(part[at]) for part in parts)) for at in range(5)]
    assert [one.going(own) for own in back] == pytest.approx([0, 0, 0.5e-6, 1e-6, 1e-6 + 5e-6])
    rail, out = 1e-9 + 3e-9, 2e-6 + 1e-9 + 3e-9
    assert [one.coming(own) for own in back] == pytest.approx([0, 3e-9, 1e-6 + rail, out, out + 10e-6 + 2e-9])
    assert one.of_core(50) == pytest.approx(1.5e-6 + 1e-9 + 3e-9)
    assert one.of_cluster(500) == pytest.approx(15e-6 + 2e-9)
    assert one.most == pytest.approx(3e-6 + 1e-9 + 3e-9 + 30e-6 + 2e-9)


def test_a_replay_counts_the_work_between_losses_of_a_cache() -> None:
    """Work of 1 ms between sleeps in C3: what is lost before the first one is not known, and taken to be full."""
    wakes = chain.run(periodic(), PLATFORM, AS_RECORDED)
    assert (wakes["refilled"][1:] == wakes["start"][1:] - wakes["end"][:-1]).all()
    assert wakes["refilled"][0] > 10**15
    assert (wakes["refilled_l2"] == -1).all()


def test_a_cpu_that_sleeps_all_the_time_is_there() -> None:
    made = {0: choices.made([entry(0, 90 * MS, 2)])}
    replay = dataclasses.replace(made_up(), chains=chain.of_run(made, PLATFORM, TICK_NS, 10 * MS, 40 * MS))
    found = prediction.measures(replay, replay.machine, replay.as_recorded)
    assert found["residency", 0, "C3"] == 100
    assert found["energy", 0, "active"] == 0


def test_what_is_not_a_part_of_the_command_is_refused() -> None:
    asked = {cpu: [state.residency_ns for state in own] for cpu, own in told().items()}
    part = entries.read(RUN / "trace.dat", asked, TICK_NS, (10, 30))
    assert part.end - part.begin == 20 * MS
    with pytest.raises(UserError, match=r"trace\.dat: its command ran for \d+\.?\d* ms, and 10 to 100000 ms are asked"):
        entries.read(RUN / "trace.dat", asked, TICK_NS, (10, 100_000))


def test_watts_are_those_of_the_commands_windows(tmp_path: Path) -> None:
    """Two windows: before the command a working CPU burns 4 W, in it 1 W. C3 is in the first alone."""
    path = tmp_path / "energy.parquet"
    one = {"cpu": 0, "cluster": "little", "component": "core", "kind": "dynamic", "cause": "task", "backend": "mcpat",
           "band": rows.CALIBRATED, "seconds": 1.0}  # fmt: skip
    told = [
        {**one, "window": 0, "start": 0, "end": 10, "state": "active", "joules": 4.0},
        {**one, "window": 0, "start": 0, "end": 10, "state": "C3", "joules": 0.5},
        {**one, "window": 1, "start": 10, "end": 20, "state": "active", "joules": 1.0},
    ]
    table = pa.Table.from_pylist([{**dict.fromkeys(rows.SCHEMA.names), **row} for row in told])
    pq.write_table(table.cast(rows.SCHEMA), path)
    inside, _ = watts._by_state(path, watts._wholly((8, 25)))
    mostly, _ = watts._by_state(path, watts._mostly((4, 25)))
    whole, _ = watts._by_state(path, watts._any)
    assert mostly == whole
    assert inside == {0: {"active": {"dynamic": 1.0}}}
    assert whole == {0: {"active": {"dynamic": 2.5}, "C3": {"dynamic": 0.5}}}


def test_a_longer_exit_delays_each_wake_up_and_the_work_after_it() -> None:
    run = periodic()
    slower = load_platform("tiny", [f"cstates.C3.exit_us={EXIT_NS / 1000 + 100}"])
    before, after = chain.run(run, PLATFORM, AS_RECORDED), chain.run(run, slower, AS_RECORDED)
    assert (after["end"] - before["end"]).tolist() == [100 * US] * 8
    assert (after["start"] - before["start"]).tolist() == [0] + [100 * US] * 7
    assert (after["woken"] == before["woken"]).all()


def looks(event: int | None = None) -> Chains:
    """A program that looks, and then sets its timer for 9 ms from then: its timer is due each 10 ms. `event`: of a
    device between the fourth look and the fifth, in ms."""
    own: list[ChosenSleep] = []
    for due in [10 * MS * number for number in range(1, 9)]:
        before = own[-1].start if own else NEVER
        begin = due - 9 * MS
        if event is not None and begin < event * MS < due:
            end = event * MS + EXIT_NS + REFILL_NS + 20 * US
            device = dataclasses.replace(entry(begin, end - begin, 2), fixed_hrtimer=NEVER, sent_at=event * MS)
            own.append(dataclasses.replace(device, hrtimer=due))
            begin = end + 100 * US
        look = entry(begin, due - begin + EXIT_NS + REFILL_NS + 20 * US, 2, timer=due)
        own.append(dataclasses.replace(look, fixed_hrtimer=NEVER, set_by=7, set_at=before))
    return chains(*own)


def test_a_timer_that_is_set_for_a_time_from_now_drifts() -> None:
    run = looks()
    slower = load_platform("tiny", [f"cstates.C3.exit_us={EXIT_NS / 1000 + 100}"])
    before, after = chain.run(run, PLATFORM, AS_RECORDED), chain.run(run, slower, AS_RECORDED)
    assert (after["woken"] - before["woken"]).tolist() == [100 * US * number for number in range(8)]
    assert (after["end"] - before["end"]).tolist() == [100 * US * (number + 1) for number in range(8)]


def test_an_event_that_keeps_its_time_may_come_before_a_timer_that_drifts() -> None:
    run = looks(event=42)
    slower = load_platform("tiny", [f"cstates.C3.exit_us={EXIT_NS / 1000 + 1000}"])
    before, after = chain.run(run, PLATFORM, AS_RECORDED), chain.run(run, slower, AS_RECORDED)
    assert before["sleep"].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert after["sleep"].tolist() == [0, 1, 2, 4, 3, 5, 6, 7, 8]
    assert after["woken"][3] == 42 * MS


def test_an_interrupt_that_comes_while_the_cpu_works_is_no_sleep() -> None:
    run = periodic()
    slowest = load_platform("tiny", ["cstates.C3.exit_us=9900"])
    wakes = chain.run(run, slowest, AS_RECORDED)
    assert (wakes["state"] == -1).any()
    assert (np.diff(wakes["end"]) >= 0).all()
    replay = dataclasses.replace(made_up(), chains=run)
    found = prediction.measures(replay, replay.machine, wakes)
    slept = int((run.ended(wakes)["state"] >= 0).sum())
    assert sum(many for (what, _, _), many in found.items() if what == "wake-ups") == slept < run.ended(wakes).size


def test_hindsight_takes_the_deepest_state_that_is_worth_it() -> None:
    ideal = np.full(MAX_STATES, NEVER, np.int64)
    ideal[1], ideal[2] = 1 * MS, 20 * MS
    wakes = chain.run(periodic(), PLATFORM, BY_HINDSIGHT, ideal)
    assert set(wakes["state"].tolist()) == {1}


WATTS = {"C1": 0.1, "C2": 0.05, "C3": 0.01, "C4": 0.005, "active": 0.5, "exit": 0.3, "switch": 0.2}


def made_up() -> Replay:
    run = periodic()
    own = [State(state.name, 1000 * state.advertised.latency_us, 1000 * state.advertised.residency_us, False)
           for state in PLATFORM.clusters[0].cstates]  # fmt: skip
    listed = choices.made([entry(1, 1, 2)])
    return Replay(
        path=Path("made-up"),
        machine=Setup(PLATFORM, "menu", {0: own[-1].name}),
        told={0: own},
        entries=entries.Entries({0: packed([])}, run.first, run.last, TICK_NS, 0),
        again=recorded.Again({0: listed}, {0: recorded.PASTS[0]}, 0),
        chains=run,
        watts=watts.Watts(
            {0: {state: {"static": value} for state, value in WATTS.items()}}, {}, {},
            {name: {"on": 0.01, "off": 0.004} for name in ("little", "big", "shadow")}, set(),
        ),
        kept=(),
    )  # fmt: skip


def test_a_shorter_exit_shortens_the_latency_by_as_much_and_says_how_sure_that_is() -> None:
    run = made_up()
    asked = run.machine.changed([f"cstates.C3.exit_us={EXIT_NS / 1000 - 10}", "idle.deepest=C3"])
    base = run.machine.changed(["idle.deepest=C3"])
    late = {key: prediction.measures(run, machine, run.wakes(machine))["latency", 0, "p50"]
            for key, machine in (("asked", asked), ("base", base))}  # fmt: skip
    assert late["base"] - late["asked"] == pytest.approx(10)
    row = next(row for row in prediction.rows(run, asked) if (row.what, row.of) == ("latency", "p50"))
    assert row.error > 0


def test_hindsight_costs_no_more_than_the_governor() -> None:
    run = made_up()
    energy = next(
        row
        for row in prediction.rows(run, run.machine)
        if (row.what, row.cpu, row.of) == ("energy", prediction.ALL, "all")
    )
    assert energy.ideal is not None
    assert energy.ideal <= energy.predicted + energy.error


def test_hindsight_never_takes_a_state_that_saves_next_to_nothing() -> None:
    run = made_up()
    power = {**WATTS, "C2": WATTS["C1"] - 1e-17, "C3": WATTS["C1"] - 2e-17, "C4": WATTS["C1"] - 3e-17}
    kinds = {0: {state: {"static": value} for state, value in power.items()}}
    close = dataclasses.replace(run, watts=dataclasses.replace(run.watts, kinds=kinds))
    assert set(hindsight.least(close, close.machine)["state"].tolist()) == {0}


def asleep(lengths: Sequence[int], works: Sequence[int]) -> Chains:
    """Sleeps in C1 that timers end, and work after each. The last sleep goes on after the end, so that no choice can
    put work off until then."""
    own, begin = [], 10 * MS
    for length, work in zip(lengths, works, strict=True):
        own.append(entry(begin, length + 20 * US, 0, timer=begin + length))
        begin = own[-1].end + work
    made = {0: choices.made(own)}
    return chain.of_run(made, PLATFORM, TICK_NS, own[0].start, begin + 20 * MS, {0: entry(begin, NEVER - begin, 0)})


def under_ticks(needed: int, works: Sequence[int]) -> Chains:
    """Sleeps in C1 that ticks end, and work after each. The kernel needs the first ticks."""
    own, begin = [], 10 * MS
    for work in works:
        due = begin - begin % TICK_NS + TICK_NS
        one = entry(begin, due - begin + 20 * US, 0, timer=due)
        own.append(dataclasses.replace(one, stopped=False, stops=False, got_tick=True, tick=due))
        begin = own[-1].end + work
    wheels = [one.now if at < needed else NEVER for at, one in enumerate(own)]
    made = {0: choices.made(own, False, wheels)}
    last = dataclasses.replace(entry(begin, NEVER - begin, 0), stopped=False)
    return chain.of_run(made, PLATFORM, TICK_NS, own[0].start, begin + 20 * MS, {0: last})


def joules(run: Replay, machine: Setup, wakes: npt.NDArray[np.void]) -> float:
    return prediction.measures(run, machine, wakes)["energy", prediction.ALL, "all"]


def of_all_choices(run: Replay, machine: Setup, states: int) -> float:
    """The least joules of all choices of a state for each sleep but the last, which is in the deepest one. Each tick is
    stopped that the kernel does not need."""
    sleeps = run.chains.sleeps[0]
    kinds = [state.kind for state in PLATFORM.clusters[0].cstates]
    usual = np.array(ways.usually_ns(kinds, {0: run.chains.usual[0]})[0])
    found = []
    for choice in product(range(states), repeat=sleeps.size - 1):
        own = sleeps.copy()
        own["state"], own["given"], own["stops"] = (*choice, states - 1), 1, 1 - own["kept"]
        own["software"] = np.where(own["state"] == sleeps["state"], sleeps["software"], usual[own["state"]])
        given = dataclasses.replace(run.chains, sleeps={0: own})
        found.append(joules(run, machine, chain.run(given, PLATFORM, BY_HINDSIGHT, None, run.deepest(machine))))
    return min(found)


@pytest.mark.parametrize(("deepest", "count"), [("C2", 8), ("C3", 5), ("C4", 4)])
@pytest.mark.parametrize("seed", range(4))
def test_no_choice_of_states_spends_much_less_than_hindsight(deepest: str, count: int, seed: int) -> None:
    """All choices are tried on a small trace of one CPU: sleeps from 30 us to 20 ms, work from 10 us to 1 ms. The best
    choice of all has C3 for some of the shortest sleeps, whose entry is given up."""
    draw = np.random.default_rng(seed)
    lengths, works = (
        np.exp(draw.uniform(math.log(least), math.log(most), count)).astype(int).tolist()
        for least, most in ((30e3, 20e6), (10e3, 1e6))
    )
    run = dataclasses.replace(made_up(), chains=asleep(lengths, works))
    machine = run.machine.changed([f"idle.deepest={deepest}"])
    ideal = joules(run, machine, hindsight.least(run, machine))
    best = of_all_choices(run, machine, int(deepest[1]))
    assert best * (1 - 1e-6) < ideal < best * 1.005


@pytest.mark.parametrize("needed", [2, 4])
@pytest.mark.parametrize("seed", range(2))
def test_hindsight_does_not_stop_a_tick_that_the_kernel_needs(needed: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    works = np.exp(draw.uniform(math.log(10e3), math.log(1e6), 4)).astype(int).tolist()
    run = dataclasses.replace(made_up(), chains=under_ticks(needed, works))
    machine = run.machine.changed(["idle.deepest=C3"])
    wakes = hindsight.least(run, machine)
    assert run.chains.causes(0, run.chains.woken(wakes))["tick"] == needed
    best = of_all_choices(run, machine, 3)
    assert best * (1 - 1e-6) < joules(run, machine, wakes) < best * 1.005


def test_a_grid_has_each_combination_and_marks_the_best() -> None:
    rows = grid.table(made_up(), ["idle.deepest=C3"], ["governor=menu,teo", "cstates.C3.exit_us=5,50"]).to_pylist()
    assert [row["settings"].split()[1:] for row in rows] == [
        ["governor=menu", "cstates.C3.exit_us=5"],
        ["governor=menu", "cstates.C3.exit_us=50"],
        ["governor=teo", "cstates.C3.exit_us=5"],
        ["governor=teo", "cstates.C3.exit_us=50"],
    ]
    assert any(row["pareto"] for row in rows)
    for row in rows:
        beaten = any(
            other["energy_j"] < row["energy_j"] and other["latency_p99_us"] < row["latency_p99_us"] for other in rows
        )
        assert not (row["pareto"] and beaten)


def test_many_points_are_shared_among_processes_and_told_of_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    run = made_up()
    run = dataclasses.replace(run, machine=run.machine.changed(["idle.deepest=C3"]))
    asked = [(f"cstates.C3.exit_us={number}",) for number in range(80)]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    progress = Progress("points", len(asked))
    together = grid.numbers(run, asked, progress)
    assert progress.done == len(asked)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert together == grid.numbers(run, asked)
    assert len({row["latency_p99_us"] for row in together}) == len(asked)


def test_the_joules_of_a_point_are_those_of_its_table() -> None:
    run = made_up()
    asked = run.machine.changed(["idle.deepest=C3"])
    table = prediction.measures(run, asked, run.wakes(asked))
    point = prediction.totals(run, asked)
    assert point["energy_j"] == pytest.approx(table["energy", prediction.ALL, "all"])
    assert point["latency_p99_us"] == table["latency", prediction.ALL, "p99"]
    every = sum(value for (what, cpu, _), value in table.items() if what == "energy" and cpu != prediction.ALL)
    assert table["energy", prediction.ALL, prediction.CORES] == pytest.approx(every)
    asleep = sum(value for (what, cpu, _), value in table.items() if what == "residency" and cpu == 0)
    assert 0 < asleep <= 100


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("cpufreq=powersave", "--set cpufreq: a what-if cannot change this"),
        ("governor=ladder", "--set governor=ladder: unknown; choose menu, teo, haltpoll"),
        ("cstates.C3.exit_us", "--set cstates.C3.exit_us: no `=` with a value"),
        ("idle.without=C1", "--set idle.without=C1: unknown; choose C2, C3, C4"),
        ("haltpoll.grow=1", "--set haltpoll=grow: unknown; choose guest_halt_poll_ns"),
        ("haltpoll.guest_halt_poll_ns=-1", "not a whole number from 0"),
        ("power-models.core.C5.leakage=0.1", "not a number of power-models/states.yaml that this machine has"),
        ("power-models.l2.retained_when_off.a72=0.1", "not a number of power-models/states.yaml that this machine"),
        ("power-models.core.C3.leakage=2", "write a number from 0 to 1"),
        ("power-models.transition.rail_nf_per_mm2=nan", "write a number from 0 to 100"),
        ("power-models.transition.regulator_uf=1", "not a number of power-models/states.yaml that this machine has"),
        ("cstates.C3.advertised.residency_us=1", "raise it"),
    ],
)
def test_a_wrong_setting_is_one_sentence(asked: str, message: str) -> None:
    with pytest.raises(UserError, match=r"^--set") as error:
        Setup(PLATFORM, "menu", {0: "C3"}).changed([asked])
    assert message in str(error.value)


def test_the_shadow_cores_own_limit_goes_before_that_of_all_as_in_a_run() -> None:
    ranges = PLATFORM.cpu_ranges()
    for own, words in (
        ("C2", ["idle.deepest=C4"]), (None, ["idle.deepest=C4"]), (None, ["idle.deepest=C4", "idle.shadow=C2"]),
        (None, ["idle.shadow=C2", "idle.deepest=C4"]),
    ):  # fmt: skip
        asked = policy.parse([*words, *([f"idle.shadow={own}"] if own else [])], PLATFORM)
        was = {cpus[0]: own if own and PLATFORM.role(cluster) == "shadow" else "C3" for cpus, cluster in ranges}
        found = Setup(PLATFORM, "menu", was, shadow=own).changed(words).deepest
        assert found == {cpus[0]: asked.deepest(PLATFORM, cluster) for cpus, cluster in ranges}


def test_a_state_that_the_platform_lacks_is_refused() -> None:
    data = PLATFORM.model_dump(mode="json")
    for cluster in (*data["clusters"], data["shadow"]["cluster"]):
        cluster["cstates"] = cluster["cstates"][:3]
    machine = Setup(Platform.model_validate(data), "menu", {0: "C3"})
    for word in ("idle.deepest=C4", "idle.without=C4", "idle.shadow=C4"):
        with pytest.raises(UserError, match=rf"^--set {word}: no cluster of tiny has it; use `C1`, `C2`, `C3`$"):
            machine.changed([word])
    with pytest.raises(UserError, match=r"not a number of power-models/states.yaml that this machine has"):
        machine.changed(["power-models.core.C4.leakage=0"])
    data["shadow"]["enabled"] = False
    with pytest.raises(
        UserError, match=r"^--set idle.shadow=C2: tiny has no shadow core in this run; use idle.deepest"
    ):
        Setup(Platform.model_validate(data), "menu", {0: "C3"}).changed(["idle.shadow=C2"])


def test_a_setting_that_changes_nothing_is_told_of() -> None:
    machine = Setup(PLATFORM, "menu", {0: "C3", 1: "C2"})
    for words, said in (
        (["haltpoll.guest_halt_poll_ns=0,9"],
         ["haltpoll.guest_halt_poll_ns changes nothing without governor=haltpoll"]),
        (["haltpoll.guest_halt_poll_ns=0", "governor=menu,haltpoll"], []),
        (["power-models.core.C4.leakage=0"],
         ["power-models.core.C4.leakage changes nothing while the deepest state is C3; add idle.deepest=C4"]),
        (["cstates.C4.exit_us=5", "idle.deepest=C2,C4"], []),
        (["cstates.C3.exit_us=5"], []),
    ):  # fmt: skip
        assert settings.idle_words(machine, words) == said


def test_a_state_that_is_taken_away_is_never_entered() -> None:
    run = made_up()
    asked = run.machine.changed(["idle.deepest=C3", "idle.without=C3"])
    found = prediction.measures(run, asked, run.wakes(asked))
    assert [found["entries", 0, state] for state in ("C2", "C3")] == [8, 0]


def test_a_state_that_was_disabled_in_the_run_stays_so() -> None:
    run = made_up()
    machine = dataclasses.replace(run.machine, deepest={0: "C3"})
    for off, first in (([False, True, False, True], 0), ([True, True, False, True], 2)):
        own = [state._replace(disabled=one) for state, one in zip(run.told[0], off, strict=True)]
        one = dataclasses.replace(run, told={0: own}, machine=machine)
        words = ["cstates.C2.advertised.residency_us=300", "idle.deepest=C4"]
        assert [state.disabled for state in one.states(machine)[0]] == off
        assert [state.disabled for state in one.states(machine.changed(words))[0]] == [*off[:3], False]
        taken = hindsight.least(one, machine)["state"]
        assert set(taken[taken >= 0].tolist()) <= {first, 2}


def test_numbers_of_the_power_models_scale_the_power_of_a_state() -> None:
    run = made_up()
    base = run.machine.changed(["idle.deepest=C3"])
    asked = base.changed(["power-models.core.C3.leakage=0.06"])
    assert run.power(asked).of(0)["C3"] == pytest.approx(2 * WATTS["C3"]), "0.06 in place of 0.03"
    same = base.changed(["power-models.core.C3.leakage=0.03"])
    assert run.power(same).of(0) == pytest.approx(run.watts.of(0))
    clocked = base.changed(["power-models.core.C3.clock=0.015"])
    assert run.power(clocked).of(0)["C3"] == pytest.approx(WATTS["C3"]), "the made-up C1 has leakage alone"
    joules = [prediction.totals(run, machine)["energy_j"] for machine in (base, asked)]
    assert joules[0] != joules[1]
    smaller = base.changed([f"power-models.l2.retained_when_off.{PLATFORM.resolved_clusters()[0].core}=0"])
    assert run.power(smaller).clusters[PLATFORM.resolved_clusters()[0].name]["off"] == 0
    assert run.power(base) is run.watts


def test_the_order_of_numbers_of_the_power_models_does_not_count() -> None:
    """The power of C3's clock, which C3 does not have, follows from that of C1 as recorded."""
    run = made_up()
    kinds = {0: {**run.watts.kinds[0], "C1": {"dynamic": 0.06, "static": 0.04}}}
    run = dataclasses.replace(run, watts=dataclasses.replace(run.watts, kinds=kinds))
    words = ["power-models.core.C1.clock=0.06", "power-models.core.C3.clock=0.03"]
    one, other = (run.power(run.machine.changed(order)).kinds for order in (words, words[::-1]))
    assert one == other
    assert one[0]["C3"]["dynamic"] == run.power(run.machine.changed(words[1:])).kinds[0]["C3"]["dynamic"] > 0


def test_numbers_of_transitions_scale_what_a_way_in_and_out_takes() -> None:
    run = made_up()
    base = run.machine.changed(["idle.deepest=C3"])
    switch = run.power(base).waiting(0, "C3")
    assert switch == pytest.approx(WATTS["switch"])
    asked = base.changed([f"power-models.transition.{key}" for key in ("rail_nf_per_mm2=3", "dirty_share=0.25")])
    *_, charge, whole = run.charges(base)[0]
    *_, others, other = run.charges(asked)[0]
    assert (other.core_rail, other.cluster_rail) == pytest.approx((2 * whole.core_rail, 2 * whole.cluster_rail))
    assert (other.l1_flush, other.l2_flush) == pytest.approx((whole.l1_flush / 2, whole.l2_flush / 2))
    assert (other.l1_refill, other.l2_refill) == (whole.l1_refill, whole.l2_refill)
    assert (others.core_rail, others.cluster_rail, others.l2_refill) == (other.core_rail, 0, 0)
    twice = run.power(base.changed(["power-models.transition.switch_leakage=1"]))
    assert [twice.waiting(0, state) for state in ("C2", "C3")] == pytest.approx([2 * switch] * 2)
    joules = [prediction.measures(run, machine, run.wakes(machine))["energy", 0, "exit"] for machine in (base, asked)]
    assert joules[1] - joules[0] == pytest.approx(8 * charge.core_rail), "each of the eight sleeps is in C3"


def test_haltpoll_polls_as_long_as_its_parameter_says() -> None:
    """After a short poll that met its event, haltpoll waits in the first state as long as it may."""
    chosen = {}
    for tunables in ({}, {"guest_halt_poll_ns": 0}):
        governor = Governor("haltpoll", {0: STATES}, tunables)
        for number in range(4):
            choice = governor.select(0, view(number * MS, NEVER))
            governor.reflect(0, number * MS + 60 * US, choice.state, 60 * US, False)
        chosen[len(tunables)] = governor.select(0, view(9 * MS, NEVER)).state
    assert chosen == {0: 0, 1: 2}


def test_joules_by_cause_sum_to_those_of_the_cpus() -> None:
    run = made_up()
    asked = run.machine.changed(["idle.deepest=C3"])
    found = prediction.measures(run, asked, run.wakes(asked))
    of_cpus = sum(value for (what, cpu, _), value in found.items() if what == "energy" and cpu != prediction.ALL)
    assert sum(value for (what, _, _), value in found.items() if what == "cause") == pytest.approx(of_cpus)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["governor="], "--grid governor=: write key=value,value"),
        (["=teo"], "--grid =teo: write key=value,value"),
        (["governor=menu", "governor=teo"], "--grid governor: is there twice; give all its values at once"),
        (["governor=menu,menu"], "--grid governor=menu,menu: has a value twice; drop one"),
        (["idle.deepest=C2,C3"], "--grid idle.deepest: is in --set, too; drop one"),
        (["governor=menu,ladder"], "--grid: idle.deepest=C3 governor=ladder is no machine: governor=ladder: unknown"),
        (
            [f"cstates.C{depth}.exit_us={','.join(map(str, range(100)))}" for depth in (2, 3, 4)],
            "--grid: makes 1000000 points; give fewer values, for 100000 points at most",
        ),
    ],
)
def test_a_grid_that_makes_no_points_is_one_sentence(words: list[str], message: str) -> None:
    with pytest.raises(UserError) as error:
        grid.table(made_up(), ["idle.deepest=C3"], words)
    assert str(error.value).startswith(message)


def test_a_run_without_a_trace_and_one_of_qemu_are_refused(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(RUN, bare)
    (bare / "trace.dat").unlink()
    with pytest.raises(UserError, match=r"trace\.dat: missing"):
        source.load(bare)
    text = (bare / "run.json").read_text(encoding="utf-8")
    (bare / "run.json").write_text(text.replace('"engine": "gem5"', '"engine": "qemu"'), encoding="utf-8")
    assert RunDir.open(bare).spec().engine == "qemu"
    with pytest.raises(UserError, match="of qemu, which has no timing"):
        source.load(bare)


def test_a_part_in_which_no_cpu_wakes_up_is_refused() -> None:
    """Its wake-ups have no p99."""
    recording = ROOT / "results" / "recordings" / "drags"
    assert source.load(recording, (5190, 5300)).chains.woken_from(0).size
    with pytest.raises(
        UserError, match=r"trace\.dat: no CPU wakes up in the part that is asked about; record a longer"
    ):
        source.load(recording, (5210, 5300))
