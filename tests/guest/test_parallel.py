# SPDX-License-Identifier: BSD-3-Clause
"""Several CPUs in the kernel at the same time: `--cpu parallel`, where QEMU gives each a thread of the host.

Everywhere else one virtual CPU runs at a time, so that a run repeats. Here no run does. These judge what holds in any
order of steps: no event is lost and no checker complains. No test here looks at a clock.
"""

from pathlib import Path

import pytest

from tests.complaints import complaints
from tests.conftest import Lull
from tests.guest.test_race_flavour import complaints_in
from tests.guest.test_waeas_storm import tasks_go_on
from tests.selftests import LARGER, judge, names, reached_its_end

pytestmark = [pytest.mark.guest, pytest.mark.slow]

PARALLEL = ("boot", "-e", "qemu", "--cpu", "parallel", "--out", "run", "--sim-limit", "2500", "--wall-limit", "2700")
"""The guest's clock is the host's, and a checker makes a guest ten times as slow."""

JUDGED = {"esm": "", "hotplug": "", "soak": " --late-ms 5000"}
"""Selftests without a claim about how long something takes, or with one so weak that it says whether a timer came at
all; and what they are told for that. The others have to end, with whatever result. `bursts` and `quiescence` do not end
if a task is lost."""


def console(tmp_path: Path) -> str:
    return (tmp_path / "run" / "console.log").read_text()


@pytest.mark.parametrize("dispatch", ["direct", "thread"])
def test_no_event_is_lost_or_comes_twice(lull: Lull, tmp_path: Path, dispatch: str) -> None:
    command = f"lull-selftest esm --case stress --dispatch {dispatch} --events 200000 --seed 3"
    judge(lull(*PARALLEL, "--exec", command))
    assert complaints(console(tmp_path)) == []


@pytest.mark.parametrize("flavour", ["debug", "race", "rt"])
def test_calls_at_random(lull: Lull, tmp_path: Path, flavour: str) -> None:
    command = "lull-selftest esm --case calls-at-random --calls 100000 --seed 7"
    complains = complaints_in(flavour)
    judge(lull(*PARALLEL, "--flavour", flavour, "--exec", command), complains)
    assert complains(console(tmp_path)) == []


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("flavour", ["debug", "race", "rt"])
def test_no_checker_complains_of_what_a_selftest_does(lull: Lull, tmp_path: Path, name: str, flavour: str) -> None:
    ran = lull(*PARALLEL, "--flavour", flavour, "--exec", f"lull-selftest {name}{JUDGED.get(name, '')}")
    complains = complaints_in(flavour)
    if name in JUDGED:
        judge(ran, complains)
    else:
        reached_its_end(ran)
    assert complains(console(tmp_path)) == []


@pytest.mark.parametrize("flavour", ["debug", "race", "rt"])
def test_wearables_go_on_while_six_cpus_place_them(lull: Lull, tmp_path: Path, flavour: str) -> None:
    """On the default platform the cases about several little CPUs are skipped."""
    ran = lull(*PARALLEL, "-p", LARGER["waeas"], "--flavour", flavour, "--exec", "lull-selftest waeas")
    tasks_go_on(ran)
    assert complaints_in(flavour)(console(tmp_path)) == []
