# SPDX-License-Identifier: BSD-3-Clause
"""Choices that come out again because of what was mended, and the reason of each that does not."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lull.files.paths import ROOT
from lull.trace.clock import Clock
from lull.trace.events import Numbers
from lull.whatif import begins, clues, differ, pending, prediction, recorded, several, source
from lull.whatif.differ import OtherChoice, Reason
from lull.whatif.entries import Entries
from lull.whatif.library import NEVER, Governor, Knowledge, State
from lull.whatif.recorded import Again, Made, Past
from lull.whatif.several import Question
from lull.whatif.sleeps import ChosenSleep, chosen_at, packed
from tests import choices

pytestmark = pytest.mark.usefixtures("governors")

US, MS = 1000, 1_000_000
TICK_NS = 4 * MS
STATES = [
    State("C1", 1 * US, 1 * US, False), State("C2", 15 * US, 100 * US, False), State("C3", 500 * US, 1 * MS, False),
    State("C4", 800 * US, 20 * MS, False),
]  # fmt: skip
LEAD = 8 * US
BASE = 100 * MS
"""No run is at time 0, where no timer at all is exactly KTIME_MAX away."""


def sleep(begin: int, length: int, state: int, **told: int | bool) -> ChosenSleep:
    """One that is chosen `LEAD` before its entry; the tick is due a period after, and nothing else is."""
    begin += BASE
    told = {key: value + BASE if key in ("hrtimer", "wheel") else value for key, value in told.items()}
    given = {"tick": begin + TICK_NS, "hrtimer": NEVER, "wheel": NEVER, "qos": NEVER, "stopped": False, **told}
    start = begin + LEAD
    return ChosenSleep(cpu=0, now=begin, start=start, state=state, end=start + length, **given)  # type: ignore[arg-type]


def chosen(own: Sequence[ChosenSleep], governor: str = "menu") -> Made:
    """With each wheel as the trace tells."""
    sleeps = packed(own)
    found = Governor(governor, {0: STATES}).live(0, recorded.lived_of(sleeps, sleeps["wheel"], Past(0, 0)))
    return Made(sleeps, found["state"], sleeps["wheel"], found["stop_tick"] == 1)


def differing(made: Made, begin: int, governor: str = "menu") -> list[OtherChoice]:
    found = Again({0: made}, {0: Past(0, 0)}, begin)
    return differ.of_run(Entries({0: made.sleeps}, begin, NEVER, TICK_NS, 0), found, governor, {0: STATES})


def reason(*own: ChosenSleep, governor: str = "menu") -> tuple[Reason, str]:
    """Of the last one."""
    made = chosen(own, governor)
    assert not made.agrees[-1]
    (only,) = differing(made, own[-1].start, governor)
    assert (only.cpu, only.state, only.again) == (0, own[-1].state, made.choice[-1])
    assert str(only.reason) in str(only)
    return only.reason, only.evidence


def test_the_idle_loop_may_have_begun_later_than_the_switch() -> None:
    """C2 is worth 100 us: 100.5 us before a timer it is chosen, and 92.5 us before it is not."""
    assert reason(sleep(0, 90 * US, 0, hrtimer=100_500)) == (Reason.BEGIN, "it does if that is 8.0 us off")


def test_the_kernel_may_have_kept_the_tick() -> None:
    """Without a timer the governor would take C4."""
    assert reason(sleep(0, 4 * MS, 2)) == (Reason.WHEEL, "it does if the kernel keeps it")


def test_another_cpu_may_have_served_a_timer_of_the_wheel() -> None:
    assert reason(sleep(0, 4 * MS, 3, wheel=3 * MS)) == (Reason.WHEEL, "it does if the wheel is empty")


def test_a_choice_may_not_have_been_entered() -> None:
    """Six of eight sleeps were as short, which is enough for menu to expect it again. Five are not."""
    lengths = [50 * US, 5 * MS, 9 * MS, *[50 * US] * 5]
    own = [sleep(20 * MS * at, length, 0) for at, length in enumerate(lengths)]
    assert reason(*own, sleep(400 * MS, 30 * MS, 3, stops=True))[0] is Reason.LEFT


def test_the_tick_may_have_been_kept_at_a_choice_before() -> None:
    """Eight ticks ended sleeps that might have been long. If the kernel kept one of them, that sleep was 3.5 ms."""
    own = [sleep(TICK_NS * at, TICK_NS - LEAD, 2, got_tick=True) for at in range(8)]
    assert reason(*own, sleep(40 * MS, 4 * MS, 2, stops=True))[0] is Reason.EARLIER


def test_sleeps_may_have_been_shorter_than_the_time_between_their_events() -> None:
    """Of eight sleeps of no microsecond menu learns nothing."""
    own = [sleep(MS * at, 3 * US, 0) for at in range(8)]
    found = reason(*own, sleep(20 * MS, 30 * MS, 3, stops=True))
    assert found == (Reason.LENGTH, "it does if the events took 3.0 us")


def test_events_do_not_take_as_long_as_a_true_sleep() -> None:
    """If the events took 2 ms, menu would have learned nothing of these seven sleeps either."""
    own = [sleep(3 * MS * at, 2 * MS, 0, stops=True) for at in range(7)]
    assert reason(*own, sleep(100 * MS, 30 * MS, 3, stops=True))[0] is Reason.OTHER


def test_sleeps_before_the_trace_may_have_been_short() -> None:
    found = reason(sleep(0, 50 * US, 0, stops=True))
    assert found[0] is Reason.PAST
    assert "short sleeps" in found[1]


def test_a_choice_that_no_single_input_explains_is_said_to_be_one() -> None:
    """Whoever may take no time to wake up is not in C4."""
    assert reason(sleep(0, 50 * US, 3, qos=0, stops=True))[0] is Reason.OTHER


def test_no_timer_is_as_far_away_as_the_kernel_says() -> None:
    """menu's product of that time and a factor wraps: with an even factor it came to 0, and menu chose C1."""
    engine = Governor("menu", {0: STATES})
    for number in range(3):
        now = 100 * MS * (number + 1)
        choice = engine.select(0, Knowledge(now, now, now + TICK_NS, NEVER, NEVER, NEVER, False))
        assert (choice.state, choice.stop_tick) == (3, 1), f"after {number} short sleeps"
        assert choice.length == NEVER - now
        engine.reflect(0, now + 200 * US, choice.state, 200 * US, False)


def test_the_idle_loop_begins_as_long_before_the_entry_as_after_an_interrupt() -> None:
    after = [sleep(MS * at, 50 * US, 0) for at in range(begins.FEWEST)]
    switched = sleep(20 * MS, 50 * US, 0, after_task=True)
    switched.now -= 10 * US
    stops = sleep(30 * MS, 50 * US, 0, after_task=True, stops=True)
    own = packed([*after, switched, stops])
    begins.tell(own)
    *others, second, third = chosen_at(own).tolist()
    assert second == BASE + 20 * MS
    assert third == stops.now, "no other one stopped the tick"
    assert others == [one.now for one in after]


def test_the_events_of_short_sleeps_may_be_most_of_them() -> None:
    """The kernel measures 1.2 of each 3 us. After eight sleeps of 0 us, of such and a half, menu looks for a timer."""
    engine, past, rows = Governor("menu", {0: STATES}), Past(0, 0, events=1800), []
    for at in range(40):
        asked = sleep(MS * at, 3 * US, 0, hrtimer=900 * MS)
        (choice,) = engine.live(0, recorded.lived_of(packed([asked]), np.array([NEVER]), past)).tolist()
        rows.append(dataclasses.replace(asked, state=choice[0], stops=bool(choice[1])))
    own = packed(rows)
    found = recorded.again(Entries({0: own}, BASE, NEVER, TICK_NS, 0), "menu", {0: STATES}, [Past(0, 0)])
    assert found.share() == 1
    assert found.pasts[0] == past
    without = recorded._after(Governor("menu", {0: STATES}), 0, own, Past(0, 0), Entries({0: own}, BASE, 0, TICK_NS, 0))
    assert not without.agrees.all()


def test_a_single_kept_tick_is_tried_where_a_choice_differs() -> None:
    """Of a row of twelve the last choice comes out again only if the kernel kept the tick at the eighth."""
    own = packed(sleep(TICK_NS * at, MS, 2) for at in range(12))

    asked = []

    def tried(wheels: Numbers) -> recorded.Tried:
        asked.append(wheels)
        choice = np.full(12, 2, np.int8)
        choice[11] = 2 if wheels[7] == own["now"][7] else 3
        made = Made(own, choice, wheels, np.zeros(12, np.bool_))
        return recorded.Tried((recorded._fit(made, 0), 0), wheels, made)

    best = tried(own["wheel"])
    better = recorded._better(best, tried)
    assert better is not None
    assert np.flatnonzero(better.wheels != best.wheels).tolist() == [7]
    assert recorded._better(better, tried) is None, "all agree"
    near = {at for wheels in asked for at in np.flatnonzero(wheels != best.wheels).tolist()}
    assert near == set(range(11 - recorded.SETTLING, 12))


def test_the_table_of_a_what_if_has_each_choice_that_differs() -> None:
    listed = differing(chosen([sleep(0, 4 * MS, 2)]), BASE)
    (row,) = prediction.table([], Path("run"), listed).to_pylist()
    assert (row["what"], row["cpu"], row["recorded"], row["predicted"]) == ("choice", 0, 2, 3)
    assert row["of"] == f"0.008 ms: unknown is {Reason.WHEEL}, it does if the kernel keeps it"


def test_reasons_are_counted_and_looked_for_only_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three choices that differ the last one is not made again."""
    monkeypatch.setattr(differ, "MOST", 2)
    made = chosen([sleep(20 * MS * at, 4 * MS, 2) for at in range(3)])
    assert not made.agrees.any()
    listed = differing(made, BASE)
    assert [one.reason for one in listed] == [Reason.WHEEL, Reason.WHEEL, Reason.MORE]
    first, rest = differ.notes(listed)
    assert first == (
        f"2 choices do not come out again, unknown is {Reason.WHEEL}; the first: CPU 0 chose C3, a replay chooses C4, "
        "at 0.008 ms, it does if the kernel keeps it"
    )
    assert rest.startswith("1 choice does not come out again, unknown is the reason; CPU 0 chose C3")


def test_a_history_is_no_reason_of_a_late_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "LATEST", 0)
    assert reason(sleep(0, 50 * US, 0, stops=True))[0] is Reason.OTHER


def test_reasons_are_looked_for_only_where_they_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = source.load(ROOT / "results" / "recordings" / "drags")
    asked: list[object] = []

    def of_run(*words: object) -> list[OtherChoice]:
        asked.append(words)
        return []

    monkeypatch.setattr(differ, "of_run", of_run)
    assert several.notes(replay, Question((), ["governor=menu,teo"])) == tuple(replay.notes)
    Question(["governor=teo"]).asked_of(replay)
    assert not asked
    several.notes(replay, Question(["governor=teo"]))
    assert len(asked) == 1


CLOCK = Clock(1_000_000_000, 1, 0, 0, 0, 0, 0)


def column(values: list[list[int]]) -> tuple[int, Numbers, tuple[Numbers, ...]]:
    stamps, *rest = (np.array(own, np.int64) for own in values)
    return 0, stamps, tuple(rest)


def test_a_timer_from_before_the_trace_is_pending_until_its_first_event() -> None:
    """Timer 1 is cancelled, and then started 950 ms ahead; timer 2 expires; 3 was started in the trace; 4 is a tick."""
    ahead, tick = 950 * MS, 9
    columns = {
        "hrtimer_start": [
            column([[8 * MS, 20 * MS, 30 * MS], [3, 1, 4], [8 * MS + 7, 20 * MS + ahead, 32 * MS], [7, 7, tick]])
        ],
        "hrtimer_cancel": [column([[10 * MS, 11 * MS], [1, 3]])],
        "hrtimer_expire_entry": [column([[15 * MS, 16 * MS], [2, 4], [8, tick], [14 * MS, 16 * MS]])],
    }
    found = pending.of_trace(columns, CLOCK, Path("trace.dat"), tick, 5 * MS)
    assert found == {1: (0, 5 * MS + ahead), 2: (0, 14 * MS)}


def test_of_a_trace_with_ticks_alone_no_timer_drifts() -> None:
    columns = {"hrtimer_start": [column([[8 * MS], [4], [12 * MS], [9]])]}
    assert clues.drifting(columns, CLOCK, Path("trace.dat"), 9, {}) == set()


def test_made_choices_that_agree_have_no_reason() -> None:
    assert differing(choices.made([sleep(0, MS, 3, stops=True)]), 0) == []
