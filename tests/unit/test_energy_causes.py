# SPDX-License-Identifier: BSD-3-Clause
"""The causes that answer for traced time. Cutting the time into windows loses none of it."""

import itertools

import numpy as np
import pytest

from lull.energy import causes, transitions
from lull.energy.occupancy import Occupancy, Stay
from lull.errors import UserError
from lull.platform.load import load_platform
from lull.platform.schema import Platform
from tests.energy_runs import MS, US, Span, Wake, columns

TINY = load_platform("tiny")
NIGHT = range(100 * MS)


def _others(time: range = NIGHT, used: tuple[int, ...] = (0,)) -> list[Span]:
    return [Span(cpu, time.start, time.stop, "active", "idle") for cpu in range(3) if cpu not in used]


def _occupancy(spans: list[Span], wakes: list[Wake] = [], deepest: str = "C4", **options: bool) -> Occupancy:  # noqa: B006
    used = tuple({span.cpu for span in spans})
    return causes.occupancy(
        columns([*spans, *_others(used=used)]), wakes, TINY, _on_every_cluster(TINY, deepest), NIGHT, **options
    )


def _on_every_cluster(platform: Platform, deepest: str) -> dict[str, str]:
    return {cluster.name: deepest for cluster in platform.resolved_clusters()}


def _sleep(*cuts: int, state: str = "C3", cpu: int = 0) -> list[Span]:
    """Entry, sleep, exit and a millisecond of work, again and again, each beginning at one of the cuts."""
    found = []
    for start, end in zip(cuts, [*cuts[1:], NIGHT.stop], strict=True):
        found += [
            Span(cpu, start, start + MS, "entry", "firmware"),
            Span(cpu, start + MS, end - 2 * MS, state, "idle"),
            Span(cpu, end - 2 * MS, end - MS, "exit", "firmware"),
            Span(cpu, end - MS, end, "active", "task:cat/7"),
        ]
    return found


def _by_cause(stays: list[Stay]) -> dict[tuple[str, str], float]:
    return {(stay.who.state, stay.who.cause): stay.ticks for stay in stays}


def test_the_ways_out_and_back_in_belong_to_who_woke_the_cpu() -> None:
    wakes = [Wake(0, 48 * MS, "C3", "irq:timer", "task:cron/3"), Wake(0, 98 * MS, "C3", "irq:eth0", None)]
    found = _by_cause(_occupancy(_sleep(0, 50 * MS), wakes).stays(0, 0, NIGHT.stop))
    assert found["exit", "task:cron/3"] == MS
    assert found["entry", "task:cron/3"] == MS
    assert found["exit", "irq:eth0"] == MS
    assert found["entry", "transition"] == MS, "nobody woke the CPU before its first sleep"
    assert found["active", "task:cat/7"] == 2 * MS


def test_a_sleep_that_ended_without_an_interrupt_is_nobodys() -> None:
    found = _by_cause(_occupancy(_sleep(0), [Wake(0, 99 * MS, "C3", "none", None)]).stays(0, 0, NIGHT.stop))
    assert found["exit", "transition"] == MS


def test_a_sleep_that_a_wake_up_cut_short_names_what_both_halves_deserved() -> None:
    half = 2300 * US
    spans = [
        Span(0, 0, half, "C1", "idle"),
        Span(0, half, half + US, "active", "irq:timer"),
        Span(0, half + US, 2 * half, "C3", "idle"),
        Span(0, 2 * half, NIGHT.stop, "active", "task:cat/7"),
    ]
    stays = _occupancy(spans, [Wake(0, half, "C1", "irq:timer", "task:cron/3")]).stays(0, 0, NIGHT.stop)
    (cut,) = [stay for stay in stays if stay.who.blamed]
    assert (cut.who.state, cut.who.chosen, cut.who.deserved, cut.who.blamed) == ("C1", "C3", "C4", "task:cron/3")
    assert cut.ticks == half


@pytest.mark.parametrize(("deepest", "half_us"), [("C3", 2300), ("C4", 100), ("C4", 4000)])
def test_a_wake_up_is_not_blamed_for_what_would_have_been_no_deeper(deepest: str, half_us: int) -> None:
    """Linux may not go deeper, both halves deserve no more than one, or one half deserves as much."""
    half = half_us * US
    spans = [
        Span(0, 0, half, "C1", "idle"),
        Span(0, half, 2 * half, "C1", "idle"),
        Span(0, 2 * half, NIGHT.stop, "active", "x"),
    ]
    stays = _occupancy(spans, [Wake(0, half, "C1", "irq:timer", None)], deepest).stays(0, 0, NIGHT.stop)
    assert not any(stay.who.blamed for stay in stays)


def test_a_sleep_as_long_as_a_states_residency_deserves_the_state() -> None:
    found = causes._deserved(np.array([9, 10, 11, 39, 40]), np.array([0, 10, 20, 40]))
    assert found.tolist() == [0, 1, 1, 2, 3]


def test_caches_are_charged_as_full_as_they_were() -> None:
    """The little core's L1 fills in 66 us; the L2 of its cluster, alone in C4, in 1049 us."""
    long, short = 10 * MS, 33 * US
    spans = [
        Span(0, 0, long, "C4", "idle"),
        Span(0, long, long + short, "active", "x"),
        Span(0, long + short, 2 * long, "C4", "idle"),
        Span(0, 2 * long, NIGHT.stop, "active", "x"),
    ]
    stays = _occupancy(spans).stays(0, 0, NIGHT.stop)
    (asleep,) = [stay.caches for stay in stays if stay.who.state == "C4"]
    assert (asleep.core_wakes, asleep.cluster_wakes) == (2, 2)
    assert asleep.l1_flushes == asleep.l1_refills == pytest.approx(1.5)
    assert asleep.l2_flushes == asleep.l2_refills == pytest.approx(1 + 33 / 1049)


def test_a_cluster_is_off_while_all_of_its_cpus_are() -> None:
    platform = load_platform("tiny", ["clusters.little.cpus=2"])
    spans = [
        Span(0, 0, 10 * MS, "C4", "idle"), Span(0, 10 * MS, NIGHT.stop, "active", "x"),
        Span(1, 0, 4 * MS, "active", "x"), Span(1, 4 * MS, 20 * MS, "C4", "idle"),
        Span(1, 20 * MS, NIGHT.stop, "active", "x"),
        *(Span(cpu, 0, NIGHT.stop, "active", "x") for cpu in (2, 3)),
    ]  # fmt: skip
    found = causes.occupancy(columns(spans), [], platform, _on_every_cluster(platform, "C4"), NIGHT)
    assert found.off_ticks(0, 0, NIGHT.stop) == 6 * MS
    assert found.off_ticks(0, 5 * MS, 7 * MS) == 2 * MS
    assert found.off_ticks(1, 0, NIGHT.stop) == 0
    first, second = (found.stays(cpu, 0, NIGHT.stop) for cpu in (0, 1))
    assert sum(stay.caches.l2_flushes for stay in first) == 0, "the last to sleep turns the cluster off"
    assert sum(stay.caches.l2_flushes for stay in second) == 1
    assert sum(stay.caches.cluster_wakes for stay in first) == 1, "the first to wake turns it on"
    assert sum(stay.caches.cluster_wakes for stay in second) == 0


def test_an_l2_is_as_full_as_all_of_its_cpus_filled_it_whoever_turns_it_off_and_on() -> None:
    """CPU 0 comes first and works 100 us, CPU 1 goes last and works 50 us: 150 of the 1049 us in which the L2 fills."""
    platform = load_platform("tiny", ["clusters.little.cpus=2"])
    spans: list[Span] = []
    wakes = [*range(10 * MS, NIGHT.stop, 10 * MS)]
    for before, on in itertools.pairwise([0, *wakes, NIGHT.stop]):
        slept, later = (100 * US, 200 * US) if before else (0, 0)
        spans += [
            Span(0, before + slept, on, "C4", "idle"),
            Span(1, before + later, min(on + 50 * US, NIGHT.stop), "C4", "idle"),
        ]
    for on in wakes:
        spans += [
            Span(0, on, on + 100 * US, "active", "x"),
            Span(1, on + 50 * US, on + 100 * US, "active", "x"),
            Span(1, on + 100 * US, on + 200 * US, "C1", "idle"),
        ]
    spans += [Span(cpu, 0, NIGHT.stop, "active", "x") for cpu in (2, 3)]
    found = causes.occupancy(columns(spans), [], platform, _on_every_cluster(platform, "C4"), NIGHT)
    both = [stay.caches for cpu in (0, 1) for stay in found.stays(cpu, 0, NIGHT.stop)]
    times_off = len(wakes) + 1  # The trace ends in the last.
    assert sum(caches.cluster_wakes for caches in both) == times_off
    full = 1 + len(wakes) * 150 / 1049
    assert sum(caches.l2_flushes for caches in both) == pytest.approx(full)
    assert sum(caches.l2_refills for caches in both) == pytest.approx(full)


@pytest.mark.parametrize("states", [("C3", "C4"), ("C4",)])
def test_l1s_fill_at_the_same_rate_where_there_is_no_core_off(states: tuple[str, ...]) -> None:
    little = TINY.resolved_clusters()[0]
    kept = [state for state in little.cstates if state.name in ("C1", *states)]
    l1_us, l2_us = transitions.fill_us(little.model_copy(update={"cstates": kept}))
    assert l1_us == pytest.approx(66, rel=0.01)
    assert l2_us == 1049


def test_what_the_trace_does_not_cover_is_nobodys() -> None:
    spans = [Span(0, 10 * MS, 90 * MS, "active", "x")]
    found = _by_cause(_occupancy(spans).stays(0, 0, NIGHT.stop))
    assert found == {("active", "x"): 80 * MS, ("untraced", ""): 20 * MS}


@pytest.mark.parametrize(("start", "said"), [(11, "the trace has a gap"), (9, "two spans of the trace overlap")])
def test_a_gap_or_an_overlap_is_refused_and_located(start: int, said: str) -> None:
    spans = [Span(0, 0, 10 * MS, "C1", "idle"), Span(0, start * MS, NIGHT.stop, "active", "x")]
    with pytest.raises(UserError, match=f"CPU 0, tick.*{said}"):
        _occupancy(spans)


def test_a_gap_of_lost_events_is_nobodys_when_that_is_allowed() -> None:
    spans = [Span(0, 0, 10 * MS, "C1", "idle"), Span(0, 11 * MS, NIGHT.stop, "active", "x")]
    assert _by_cause(_occupancy(spans, allow_gaps=True).stays(0, 0, NIGHT.stop))["untraced", ""] == MS


@pytest.mark.parametrize("seed", range(5))
def test_cutting_time_into_windows_changes_no_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = [0, *sorted(rng.choice(np.arange(10, 90), 5, replace=False).tolist())]
    spans = _sleep(*(start * MS for start in starts if start % 5 == 0), state="C4")
    wakes = [Wake(0, span.end, "C4", "irq:a", None) for span in spans if span.state == "C4"]
    found = _occupancy(spans, wakes)
    whole = {stay.who: stay for stay in found.stays(0, 0, NIGHT.stop)}
    edges = [0, *sorted(rng.integers(1, NIGHT.stop - 1, 20).tolist()), NIGHT.stop]
    ticks: dict[object, float] = {}
    flushes: dict[object, float] = {}
    for start, end in itertools.pairwise(edges):
        for stay in found.stays(0, start, end) if start < end else []:
            ticks[stay.who] = ticks.get(stay.who, 0.0) + stay.ticks
            flushes[stay.who] = flushes.get(stay.who, 0.0) + stay.caches.l2_flushes
    assert ticks == {who: stay.ticks for who, stay in whole.items()}
    assert flushes == pytest.approx({who: stay.caches.l2_flushes for who, stay in whole.items()})
    assert sum(found.off_ticks(0, start, end) for start, end in itertools.pairwise(edges)) == (
        found.off_ticks(0, 0, NIGHT.stop)
    )


def test_a_wake_up_at_the_moment_of_the_next_sleep_ended_the_one_before() -> None:
    """Linux may go back to sleep in the tick in which it is back."""
    asleep = causes.CODE["C3"]
    start, state = np.array([0, 10, 20]), np.array([asleep, asleep, causes.CODE["active"]])
    spans = causes.Spans(start, np.array([10, 20, 30]), state, np.zeros(3, np.int64))
    words = causes.Words()
    wakes = [Wake(0, 10, "C3", "irq:timer", "task:first/1"), Wake(0, 20, "C3", "irq:timer", "task:second/2")]
    roots = causes._roots(spans, wakes, words)
    assert [words.texts[root] for root in roots] == ["task:first/1", "task:second/2"]
