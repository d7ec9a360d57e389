# SPDX-License-Identifier: BSD-3-Clause
"""The origin of a wake-up, on two CPUs whose events are written by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from lull.platform.load import load_platform
from lull.trace import wakes
from lull.trace.activity import AWAKE
from lull.trace.origins import latest
from lull.trace.recording import Recording
from lull.trace.wakes import KERNEL_TIMER
from tests import recordings
from tests.recordings import DEVICE_LINE, IPI_LINE, REASON, TIMER_LINE, Events, Rows

NAMES = [
    *("idle", "task:sleeper/7", "task:waker/8", "irq:arch_timer", "irq:Rescheduling interrupts", "irq:lull-event"),
    *("softirq:TIMER",),
]
IDLE, SLEEPER, WAKER, TIMER_IRQ, IPI, DEVICE, WHEEL = range(len(NAMES))
US = 1_000_000


def recording(cpus: Sequence[Rows], events: Events) -> Recording:
    return recordings.recording(cpus, NAMES, 0, 10_000, events)


def only(record: Recording) -> tuple[str, str | None, tuple[int, int] | None]:
    (wake,) = wakes.of_recording(record, load_platform("tiny"))
    return wake.source, wake.armed_by, wake.act


AWAKE_ALL_ALONG = [(0, AWAKE, WAKER)]
SLEEPS = [(0, AWAKE, SLEEPER), (100, 1, IDLE), (900, AWAKE, IDLE), (910, AWAKE, TIMER_IRQ), (990, AWAKE, SLEEPER)]
EXPIRES: Events = {
    "irq_handler_entry": [(910, 0, TIMER_LINE)],
    "hrtimer_expire_entry": [(920, 0, 0xA)],
    "hrtimer_expire_exit": [(930, 0)],
}


def test_a_timer_is_of_the_task_that_started_it() -> None:
    record = recording([SLEEPS, AWAKE_ALL_ALONG], {**EXPIRES, "hrtimer_start": [(20, 0, 0xB), (50, 0, 0xA)]})
    assert only(record) == ("timer:sleeper/7", "task:sleeper/7", (0, 50))


def test_a_timer_started_by_another_cpu_is_of_that_cpus_task() -> None:
    record = recording([SLEEPS, AWAKE_ALL_ALONG], {**EXPIRES, "hrtimer_start": [(50, 0, 0xA), (60, 1, 0xA)]})
    assert only(record) == ("timer:waker/8", "task:waker/8", (1, 60))


def test_a_timer_from_before_the_trace_is_nobodys() -> None:
    assert only(recording([SLEEPS, AWAKE_ALL_ALONG], EXPIRES)) == (KERNEL_TIMER, None, None)


@pytest.mark.parametrize(("pid", "owner"), [(8, "ahead:waker/8"), (99, "ahead:pid/99"), (0, "ahead:kernel")])
def test_a_cpu_that_is_woken_ahead_is_so_for_who_asked(pid: int, owner: str) -> None:
    """The idle loop starts that timer itself; the trace point in its handler says for whom."""
    events: Events = {**EXPIRES, "hrtimer_start": [(100, 0, 0xA)], "lull_ahead_wake": [(925, 0, pid)]}
    assert only(recording([SLEEPS, AWAKE_ALL_ALONG], events)) == (owner, owner, None)


def test_a_later_interrupts_window_is_not_this_wake_ups() -> None:
    events: Events = {
        **EXPIRES, "hrtimer_start": [(50, 0, 0xA)], "lull_ahead_wake": [(985, 0, 8)],
        "irq_handler_entry": [(910, 0, TIMER_LINE), (980, 0, TIMER_LINE)],
    }  # fmt: skip
    assert only(recording([SLEEPS, AWAKE_ALL_ALONG], events)) == ("timer:sleeper/7", "task:sleeper/7", (0, 50))


def test_a_timer_that_its_handler_starts_again_stays_its_first_starters() -> None:
    """The second sleep ends by a timer that was started again after its handler, in the first one's interrupt."""
    again = [*SLEEPS[:-1], (990, 1, IDLE), (1900, AWAKE, IDLE), (1910, AWAKE, TIMER_IRQ), (1990, AWAKE, SLEEPER)]
    events: Events = {
        "hrtimer_start": [(50, 0, 0xA), (940, 0, 0xA)],
        "irq_handler_entry": [(910, 0, TIMER_LINE), (1910, 0, TIMER_LINE)],
        "hrtimer_expire_entry": [(920, 0, 0xA), (1920, 0, 0xA)],
        "hrtimer_expire_exit": [(930, 0), (1930, 0)],
    }
    found = wakes.of_recording(recording([again, AWAKE_ALL_ALONG], events), load_platform("tiny"))
    assert [(wake.armed_by, wake.act) for wake in found] == [("task:sleeper/7", (0, 50)), ("task:sleeper/7", (0, 940))]


def test_the_idle_loops_timer_is_the_wheels_first_starters() -> None:
    """Going idle without a tick, the kernel sets its own timer to the moment at which the wheel's next is due."""
    wheel = [*SLEEPS[:-1], (940, AWAKE, WHEEL), (990, AWAKE, SLEEPER)]
    events: Events = {
        **EXPIRES,
        "hrtimer_start": [(100, 0, 0xA)],
        "timer_start": [(30, 1, 0xC)],
        "timer_expire_entry": [(950, 0, 0xC)],
        "timer_expire_exit": [(960, 0)],
    }
    assert only(recording([wheel, AWAKE_ALL_ALONG], events)) == ("timer:waker/8", "task:waker/8", (1, 30))


BY_IPI = [(0, AWAKE, SLEEPER), (100, 1, IDLE), (900, AWAKE, IDLE), (910, AWAKE, IPI), (990, AWAKE, SLEEPER)]


def test_an_ipi_is_of_the_task_that_sent_it() -> None:
    """The first one sent while it slept, and not the one to another CPU."""
    events: Events = {
        "irq_handler_entry": [(910, 0, IPI_LINE)],
        "ipi_raise": [(50, 1, 0b1, REASON), (790, 1, 0b10, REASON), (800, 1, 0b1, REASON), (850, 1, 0b1, REASON)],
    }
    assert only(recording([BY_IPI, AWAKE_ALL_ALONG], events)) == ("ipi:1", "task:waker/8", (1, 800))


@pytest.mark.parametrize(
    ("due_us", "source"),
    [(90, "ipi:1"), (110, "ipi:1"), (400, "timer:sleeper/7"), (790, "timer:sleeper/7"), (810, "ipi:1"), (905, "ipi:1")],
)
def test_a_timer_that_was_due_before_an_ipi_was_sent_woke_the_cpu(due_us: int, source: str) -> None:
    """Linux handles the IPI first, because both are there when hardware has turned the CPU on. That takes 600 µs here;
    a timer that was due longer ago did not wake the CPU."""
    platform = load_platform("tiny", ["clusters.little.cstates.C2.actual.exit_us=400"])
    events: Events = {
        "hrtimer_start": [(50 * US, 0, 0xA, 1000 * due_us)],
        "irq_handler_entry": [(910 * US, 0, IPI_LINE), (940 * US, 0, TIMER_LINE)],
        "ipi_raise": [(800 * US, 1, 0b1, REASON)],
        "hrtimer_expire_entry": [(950 * US, 0, 0xA)],
        "hrtimer_expire_exit": [(960 * US, 0)],
    }
    sleeps = [(US * time, *what) for time, *what in BY_IPI]
    record = recordings.recording([sleeps, AWAKE_ALL_ALONG], NAMES, 0, 10_000 * US, events)
    (wake,) = wakes.of_recording(record, platform)
    assert wake.source == source


@pytest.mark.parametrize(
    ("at_work", "line", "started", "root"),
    [
        (DEVICE, DEVICE_LINE, [], "device:lull-event"),
        (TIMER_IRQ, TIMER_LINE, [(40, 1, 0xD)], "task:waker/8"),
        (TIMER_IRQ, TIMER_LINE, [], None),
    ],
)
def test_an_ipi_out_of_a_handler_is_of_who_is_behind_that(
    at_work: int, line: int, started: Rows, root: str | None
) -> None:
    sender = [(0, AWAKE, WAKER), (780, AWAKE, at_work), (890, AWAKE, WAKER)]
    events: Events = {
        "irq_handler_entry": [(780, 1, line), (910, 0, IPI_LINE)],
        "ipi_raise": [(800, 1, 0b1, REASON)],
        "hrtimer_start": started,
        "hrtimer_expire_entry": [(790, 1, 0xD)] if line == TIMER_LINE else [],
        "hrtimer_expire_exit": [(880, 1)] if line == TIMER_LINE else [],
    }
    assert only(recording([BY_IPI, sender], events)) == ("ipi:1", root, (1, 800))


def test_an_ipi_sent_on_is_of_the_first_sender() -> None:
    """CPU 2 wakes CPU 1, whose handler wakes CPU 0."""
    middle = [(0, AWAKE, IDLE), (780, AWAKE, IPI), (890, AWAKE, IDLE)]
    events: Events = {
        "irq_handler_entry": [(780, 1, IPI_LINE), (910, 0, IPI_LINE)],
        "ipi_raise": [(700, 2, 0b10, REASON), (800, 1, 0b1, REASON)],
    }
    assert only(recording([BY_IPI, middle, AWAKE_ALL_ALONG], events)) == ("ipi:1", "task:waker/8", (1, 800))


def test_a_device_is_its_own_root() -> None:
    rows = [*SLEEPS[:3], (910, AWAKE, DEVICE), (990, AWAKE, SLEEPER)]
    record = recording([rows, AWAKE_ALL_ALONG], {"irq_handler_entry": [(910, 0, DEVICE_LINE)]})
    assert only(record) == ("irq:lull-event", "device:lull-event", None)


def test_a_sleep_given_up_without_an_interrupt_has_no_source() -> None:
    assert only(recording([SLEEPS, AWAKE_ALL_ALONG], {})) == ("none", None, None)


def test_the_latest_of_a_key() -> None:
    chance = np.random.default_rng(4)
    keys, asked = chance.integers(0, 5, 300), chance.integers(0, 6, 200)
    times, moments = np.sort(chance.integers(0, 100, 300)), chance.integers(0, 100, 200)
    for before in (False, True):
        expected = [
            max((at for at in range(300) if keys[at] == key and (times[at] < time if before else times[at] <= time)),
                default=-1)
            for key, time in zip(asked.tolist(), moments.tolist(), strict=True)
        ]  # fmt: skip
        assert latest(keys, times, asked, moments, before=before).tolist() == expected
    nothing = np.empty(0, np.int64)
    assert latest(nothing, nothing, asked, moments).tolist() == [-1] * 200


@pytest.mark.parametrize(("begin", "counted"), [(899, 1), (900, 0)])
def test_a_sleep_that_ended_before_the_traced_time_has_no_wake_up(begin: int, counted: int) -> None:
    """Linux was back at 900. A trace that begins then has not what woke the CPU."""
    record = recordings.recording([SLEEPS, AWAKE_ALL_ALONG], NAMES, begin, 10_000, EXPIRES)
    assert len(wakes.of_recording(record, load_platform("tiny"))) == counted
