# SPDX-License-Identifier: BSD-3-Clause
"""The division of a CPU's sleeps into ways in, states and ways out; on `tiny`, whose little cluster is CPU 0."""

import random
from itertools import pairwise

import pytest

from lull.errors import UserError
from lull.platform.load import load_platform
from lull.platform.schema import Platform
from lull.trace import spans
from lull.trace.activity import AWAKE, UNKNOWN
from lull.trace.recording import Recording
from tests import recordings
from tests.recordings import CLOCK, IPI_LINE, REASON, TIMER_LINE, Events, Rows

US = 10**6
NAMES = ["idle", "task:a/1", "irq:b"]
IDLE, TASK, IRQ = range(3)


def recording(begin: int, end: int, *cpus: Rows, events: Events | None = None, lost: int = 0) -> Recording:
    """Times in µs."""
    scaled = [[(time * US, state, cause) for time, state, cause in rows] for rows in cpus]
    later = {name: [(row[0] * US, *row[1:]) for row in rows] for name, rows in (events or {}).items()}
    return recordings.recording(scaled, NAMES, begin * US, end * US, later, lost)


def shown(record: Recording, platform: Platform, cpu: int = 0) -> list[tuple[float, float, str, str]]:
    found = spans.of_recording(record, platform)
    return [(span.start / US, span.end / US, span.state, span.cause) for span in found if span.cpu == cpu]


@pytest.fixture
def tiny() -> Platform:
    return load_platform("tiny")


@pytest.fixture
def pair() -> Platform:
    """Two CPUs in the little cluster, whose C3 takes 153 and 616 µs."""
    return load_platform("tiny", ["clusters.little.cpus=2"])


def ways(platform: Platform, state: str) -> list[float]:
    """Flush, the wait until it is off, the wait until it is on, refill."""
    actual = next(item.actual for item in platform.clusters[0].cstates if item.name == state)
    return [actual.flush_us, actual.entry_us, actual.exit_us, actual.refill_us]


def test_a_sleep_has_a_way_in_and_a_way_out(tiny: Platform) -> None:
    assert ways(tiny, "C3") == [3, 150, 600, 16]
    record = recording(0, 6000, [(0, AWAKE, TASK), (1000, 2, IDLE), (5000, AWAKE, IRQ), (5010, AWAKE, TASK)])
    assert shown(record, tiny) == [
        (0, 1000, "active", "task:a/1"),
        (1000, 1003, "entry", "firmware"),
        (1003, 1153, "switch", "firmware"),
        (1153, 4384, "C3", "idle"),
        (4384, 4984, "switch", "firmware"),
        (4984, 5000, "exit", "firmware"),
        (5000, 5010, "active", "irq:b"),
        (5010, 6000, "active", "task:a/1"),
    ]


def test_a_sleep_too_short_for_both_ways_was_given_up(tiny: Platform) -> None:
    record = recording(0, 3000, [(0, AWAKE, TASK), (1000, 2, IDLE), (1768, AWAKE, TASK)])
    assert shown(record, tiny)[1:2] == [(1000, 1768, "entry", "firmware")]
    assert shown(record, tiny)[2] == (1768, 3000, "active", "task:a/1")


@pytest.mark.parametrize(("sent", "state"), [(4000, "exit"), (1100, "entry")])
def test_the_way_out_begins_when_the_ipi_is_sent(tiny: Platform, sent: int, state: str) -> None:
    """One that is sent on the way in ends the sleep before it has begun."""
    sleeper = [(0, AWAKE, TASK), (1000, 2, IDLE), (5000, AWAKE, IRQ), (5010, AWAKE, TASK)]
    events: Events = {"irq_handler_entry": [(5000, 0, IPI_LINE)], "ipi_raise": [(sent, 1, 0b1, REASON)]}
    found = shown(recording(0, 6000, sleeper, [(0, AWAKE, TASK)], events=events), tiny)
    assert found[-3][1:3] == (5000, state)
    assert found[-3][0] == (4600 if state == "exit" else 1000)
    assert [span[:2] for span in found if span[2] == "switch"] == ([(1003, 1153), (4000, 4600)] if sent > 1153 else [])


def test_the_way_out_begins_when_the_timer_is_due(tiny: Platform) -> None:
    """Timers are set in nanoseconds of CLOCK_MONOTONIC, which here began with the counter."""
    due_ns = 4_000_000
    rows = [(0, AWAKE, TASK), (1000, 2, IDLE), (5000, AWAKE, IRQ), (5010, AWAKE, TASK)]
    events: Events = {
        "irq_handler_entry": [(5000, 0, TIMER_LINE)],
        "hrtimer_start": [(500, 0, 0xA, due_ns)],
        "hrtimer_expire_entry": [(5001, 0, 0xA)],
        "hrtimer_expire_exit": [(5002, 0)],
    }
    found = shown(recording(0, 6000, rows, events=events), tiny)
    assert [state for _, _, state, _ in found[3:6]] == ["C3", "switch", "exit"]
    assert found[5][1] == 5000
    start, end, *_ = found[4]
    assert end - start == pytest.approx(600)
    assert start == pytest.approx(due_ns * CLOCK.hz / 1e9 * CLOCK.period / US, abs=0.05), "one count"


def test_wfi_has_no_ways(tiny: Platform) -> None:
    record = recording(0, 30, [(0, AWAKE, IDLE), (10, 0, IDLE), (20, AWAKE, IDLE)])
    assert shown(record, tiny) == [(0, 10, "active", "idle"), (10, 20, "C1", "idle"), (20, 30, "active", "idle")]


def test_the_traced_time_cuts_sleeps_without_moving_their_ways(tiny: Platform) -> None:
    rows = [(0, 2, IDLE), (2000, AWAKE, TASK), (2100, 2, IDLE)]
    assert shown(recording(100, 2300, rows), tiny) == [
        (100, 153, "switch", "firmware"),
        (153, 1384, "C3", "idle"),
        (1384, 1984, "switch", "firmware"),
        (1984, 2000, "exit", "firmware"),
        (2000, 2100, "active", "task:a/1"),
        (2100, 2103, "entry", "firmware"),
        (2103, 2253, "switch", "firmware"),
        (2253, 2300, "C3", "idle"),
    ]


def test_a_cluster_pays_with_the_last_to_sleep_and_the_first_to_wake(pair: Platform) -> None:
    first = [(0, AWAKE, TASK), (1000, 3, IDLE), (9000, AWAKE, TASK)]
    second = [(0, AWAKE, TASK), (3000, 3, IDLE), (7000, AWAKE, TASK)]
    record = recording(0, 10000, first, second)
    core, cluster = ways(pair, "C3"), ways(pair, "C4")
    assert sum(core[:2]) < sum(cluster[:2])
    assert sum(core[2:]) < sum(cluster[2:])
    moves = ("entry", "switch", "exit")
    assert [end - start for start, end, state, _ in shown(record, pair, 0) if state in moves] == core
    assert [end - start for start, end, state, _ in shown(record, pair, 1) if state in moves] == cluster
    assert {state for _, _, state, _ in shown(record, pair, 0)} == {"active", *moves, "C4"}


def _second_sleep(platform: Platform, state: str) -> list[float]:
    """Of a sleep after 10 µs of work, the eighths of flush and refill. Before the first one caches are full."""
    number = next(at for at, item in enumerate(platform.clusters[0].cstates) if item.name == state)
    rows: Rows = [
        (0, AWAKE, TASK), (1000, number, IDLE), (9000, AWAKE, TASK), (9010, number, IDLE), (19000, AWAKE, TASK)
    ]  # fmt: skip
    flush, _, _, refill = ways(platform, state)
    found = shown(recording(0, 20000, rows), platform)
    entries, exits = ([end - start for start, end, kind, _ in found if kind == way] for way in ("entry", "exit"))
    assert (entries[0], exits[0]) == (flush, refill)
    return [8 * entries[1] / flush, 8 * exits[1] / refill]


def test_caches_that_were_lost_a_while_ago_are_partly_full(tiny: Platform) -> None:
    """C3 loses caches that fill in 66 µs. The firmware counts each eighth that is begun."""
    assert tiny.clusters[0].cstates[2].actual.fill_us == 66
    assert _second_sleep(tiny, "C3") == pytest.approx([2, 2])


@pytest.mark.parametrize(("refill_us", "eighths"), [(1147, 8), (240, 2)])
def test_an_l2_also_fills_while_it_fetches_what_it_lost(refill_us: float, eighths: int) -> None:
    """It fills in 1049 µs: after a refill of 1147 it is full again, and after one of 240 and 10 of work 1.9 eighths."""
    platform = load_platform("tiny", [f"clusters.little.cstates.C4.actual.refill_us={refill_us}"])
    assert platform.clusters[0].cstates[3].actual.fill_us == 1049
    assert _second_sleep(platform, "C4") == pytest.approx([eighths, eighths])


def test_the_first_to_be_back_fetches_what_the_last_to_sleep_had_lost() -> None:
    platform = load_platform("tiny", ["clusters.little.cpus=2", "clusters.little.cstates.C4.actual.refill_us=240"])
    first = [(0, AWAKE, TASK), (1000, 3, IDLE), (9000, AWAKE, TASK), (9010, 3, IDLE), (30000, AWAKE, TASK)]
    second = [(0, AWAKE, TASK), (500, 3, IDLE), (20000, AWAKE, TASK)]
    found = shown(recording(0, 40000, first, second), platform, 1)
    (refill,) = [end - start for start, end, state, _ in found if state == "exit"]
    assert refill == pytest.approx(60), "two eighths"


def test_any_trace_is_covered_without_gap_or_overlap(pair: Platform) -> None:
    chance = random.Random(4)
    for _ in range(200):
        cpus = []
        for _ in range(2):
            time, rows = 0, []
            for number in range(chance.randrange(1, 30)):
                asleep = chance.random() < 0.5
                state = chance.randrange(4) if asleep else AWAKE
                rows.append((time, UNKNOWN if number == 0 else state, IDLE if asleep else chance.choice([TASK, IRQ])))
                time += chance.choice([1, 10, 100, 1000, 5000])
            cpus.append(rows)
        begin, end = 0, max(rows[-1][0] for rows in cpus) + 1
        found = spans.of_recording(recording(begin, end, *cpus), pair)
        assert [span.cpu for span in found] == sorted(span.cpu for span in found)
        for cpu in range(2):
            mine = [span for span in found if span.cpu == cpu]
            assert (mine[0].start, mine[-1].end) == (begin * US, end * US)
            assert all(span.start < span.end for span in mine)
            assert all(one.end == other.start for one, other in pairwise(mine))
            assert all(one[3:] != other[3:] for one, other in pairwise(mine))


def test_lost_events_are_refused_unless_allowed(tiny: Platform) -> None:
    record = recording(0, 10, [(0, AWAKE, TASK)], lost=3)
    with pytest.raises(UserError, match=r"^trace.dat: lost 3 events"):
        spans.of_recording(record, tiny)
    assert len(spans.of_recording(record, tiny, allow_lost=True)) == 1


def test_a_state_that_the_platform_lacks_is_named(tiny: Platform) -> None:
    record = recording(0, 10, [(0, AWAKE, TASK), (5, 4, IDLE)])
    with pytest.raises(UserError, match="CPU 0 enters idle state 4, which little lacks"):
        spans.of_recording(record, tiny)
