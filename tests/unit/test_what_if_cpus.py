# SPDX-License-Identifier: BSD-3-Clause
"""Chains of two CPUs of one cluster: what one CPU does changes when the other one wakes up, and what that costs."""

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from lull.platform.load import load_platform
from lull.whatif import chain
from lull.whatif.chain import AS_RECORDED, Chains
from lull.whatif.library import NEVER
from lull.whatif.sleeps import ChosenSleep
from lull.whatif.source import TICK_NS
from tests import choices

pytestmark = pytest.mark.usefixtures("governors")

US, MS = 1_000, 1_000_000
PLATFORM = load_platform("rk3399")
C2, C3, C4 = 1, 2, 3
ACTUAL = [state.actual for state in PLATFORM.clusters[0].cstates]
OUT = [round(1000 * (one.exit_us + one.refill_us)) for one in ACTUAL]
SOFTWARE = 20 * US
LATER = 100
"""Microseconds by which C3 is left later."""


def asleep(cpu: int, start: int, woken: int, state: int, sender: int = -1) -> ChosenSleep:
    """A sleep that a timer ends, or another CPU."""
    timer, at = (woken, NEVER) if sender < 0 else (NEVER, woken)
    return ChosenSleep(
        cpu=cpu, now=start, start=start, state=state, tick=NEVER, hrtimer=timer, wheel=NEVER, qos=NEVER, stopped=True,
        stops=True, end=woken + OUT[state] + SOFTWARE, timer=timer, sent_by=sender, sent_at=at,
    )  # fmt: skip


def chains(*own: ChosenSleep) -> Chains:
    by_cpu: dict[int, list[ChosenSleep]] = {}
    for one in own:
        by_cpu.setdefault(one.cpu, []).append(one)
    made = {cpu: choices.made(sleeps) for cpu, sleeps in by_cpu.items()}
    return chain.of_run(made, PLATFORM, TICK_NS, min(one.start for one in own), max(one.end for one in own) + MS)


def of(cpu: int, wakes: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    found: npt.NDArray[np.void] = wakes[wakes["cpu"] == cpu]
    return found


def test_an_ipi_moves_with_the_work_of_its_sender() -> None:
    """CPU 0 wakes CPU 1 after each of its own sleeps. A timer of CPU 1 keeps its time."""
    own = [asleep(0, (10 * number + 1) * MS, (10 * number + 9) * MS, C3) for number in range(3)]
    sent = [asleep(1, one.start, one.end + 50 * US, C2, sender=0) for one in own]
    timed = asleep(1, 31 * MS, 39 * MS, C2)
    run = chains(*own, *sent, timed)
    slower = load_platform("rk3399", [f"cstates.C3.exit_us={ACTUAL[C3].exit_us + LATER}"])
    before, after = chain.run(run, PLATFORM, AS_RECORDED), chain.run(run, slower, AS_RECORDED)
    assert (of(0, after)["end"] - of(0, before)["end"]).tolist() == [LATER * US] * 3
    assert (of(1, after)["woken"] - of(1, before)["woken"]).tolist() == [LATER * US] * 3 + [0]
    assert run.causes(1, of(1, after)) == {"tick": 0, "timer": 1, "ipi": 3, "device": 0}


def test_the_last_to_sleep_pays_for_the_cluster_and_the_first_to_wake_brings_it_back() -> None:
    """CPU 0 sleeps first, and wakes first. CPU 1 leaves C4 when the cluster is on again, as if it had been in C3."""
    wakes = chain.run(chains(asleep(0, 1 * MS, 20 * MS, C4), asleep(1, 2 * MS, 25 * MS, C4)), PLATFORM, AS_RECORDED)
    (first,), (last,) = of(0, wakes), of(1, wakes)
    assert first["entry"] == round(1000 * ACTUAL[C3].entry_us)
    assert last["entry"] == round(1000 * ACTUAL[C4].entry_us)
    assert first["exit"] == round(1000 * ACTUAL[C4].exit_us)
    assert last["exit"] == round(1000 * ACTUAL[C3].exit_us)
    off = 20 * MS - (2 * MS + last["flush"] + last["entry"])
    assert (first["cluster_off"], last["cluster_off"]) == (off, 0)
    assert first["refilled_l2"] >= 0
    assert last["refilled_l2"] == -1


@pytest.mark.parametrize("other", [C2, C3])
def test_a_cluster_stays_on_while_a_cpu_sleeps_lightly(other: int) -> None:
    """C4 is then as C3, also to leave."""
    wakes = chain.run(chains(asleep(0, 2 * MS, 20 * MS, C4), asleep(1, 1 * MS, 25 * MS, other)), PLATFORM, AS_RECORDED)
    (mine,) = of(0, wakes)
    assert (mine["entry"], mine["exit"]) == tuple(round(1000 * us) for us in (ACTUAL[C3].entry_us, ACTUAL[C3].exit_us))
    assert not wakes["cluster_off"].any()
    assert (wakes["refilled_l2"] == -1).all()


def test_a_cpu_that_works_keeps_the_cluster_on() -> None:
    """CPU 1 wakes while CPU 0 is still asleep; it brought the cluster back, and CPU 0 finds it on."""
    wakes = chain.run(chains(asleep(0, 1 * MS, 30 * MS, C4), asleep(1, 2 * MS, 10 * MS, C4)), PLATFORM, AS_RECORDED)
    (late,), (early,) = of(0, wakes), of(1, wakes)
    assert early["cluster_off"] > 7 * MS
    assert (late["cluster_off"], late["exit"]) == (0, round(1000 * ACTUAL[C3].exit_us))


def test_an_interrupt_on_the_way_in_gives_the_sleep_up_and_keeps_the_cluster_on() -> None:
    """CPU 1 is the last to sleep. An IPI of CPU 0, which wakes up meanwhile, comes before it is in C4."""
    slow = load_platform("rk3399", ["cstates.C4.entry_us=500", "cstates.C4.advertised.entry_us=600"])
    own = [asleep(0, 1 * MS, 5 * MS, C2), asleep(0, 6 * MS, 30 * MS, C4)]
    short = dataclasses.replace(asleep(1, 8 * MS, 8 * MS + 100 * US, C4, sender=0), end=8 * MS + 200 * US)
    run = chains(*own, short)
    (given_up,), (_, other) = (of(cpu, chain.run(run, slow, AS_RECORDED)) for cpu in (1, 0))
    assert (given_up["given_up"], given_up["exit"], given_up["hardware"]) == (1, 0, 0)
    assert given_up["end"] == given_up["woken"] + chain._GIVEN_UP_NS
    assert (other["cluster_off"], other["exit"]) == (0, round(1000 * ACTUAL[C3].exit_us))
    quick = load_platform("rk3399", ["cstates.C4.entry_us=1", "cstates.C4.flush_us=0", "cstates.C3.flush_us=0"])
    (entered,) = of(1, chain.run(run, quick, AS_RECORDED))
    assert entered["given_up"] == 0
    assert entered["cluster_off"] == 99 * US
