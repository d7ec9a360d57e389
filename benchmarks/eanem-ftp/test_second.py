# SPDX-License-Identifier: BSD-3-Clause
"""The second level in C: its search beside one in Python that looks at every state; its patience on a made machine."""

import itertools
import math
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from lull_experiments.eanem_ftp.modelled import (
    OPTIONS,
    ModelledMachine,
    Net,
    State,
    fits,
    linear,
    program_in,
    speed,
    unlike,
    watts,
)


def within(now: State, reach: int) -> Iterator[State]:
    for state in itertools.product(range(5), range(5), range(3), range(4)):
        if sum(abs(a - b) for a, b in zip(now, state, strict=True)) <= reach:
            yield state


@pytest.fixture(scope="module")
def program(native: Path) -> Path:
    return program_in(native)


def said(program: Path, lines: Sequence[str]) -> list[str]:
    ran = subprocess.run(
        [program, program.with_suffix(".model")],
        input="\n".join(lines) + "\n",
        text=True,
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


def best(program: Path, now: State, apps: Sequence[tuple[float, float]], net: Net | None, **more: object) -> list[str]:
    lines = [OPTIONS.format(reach=more.get("reach", 20)), net.line() if net else "net -1", f"threads {more['threads']}"]
    lines += [f"now {' '.join(map(str, now))}", *(f"app {rate!r} {aim!r}" for rate, aim in apps)]
    lines += [f"slow {' '.join(map(str, slow))}" for slow in more.get("slow", ())]  # type: ignore[attr-defined]
    return said(program, [*lines, "best"])[0].split()


NETS = (None, Net(0, 1, 72e3), Net(1, 0, 50e3), Net(0, 0, 12e3), Net(0, 2, 250e3, 2), Net(1, 3, 100.0))
STARTS: tuple[State, ...] = ((2, 2, 1, 1), (1, 0, 1, 0), (0, 2, 1, 3))


@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("threads", [1, 3, 8])
@pytest.mark.parametrize("reach", [2, 5, 20])
def test_it_is_the_state_with_the_least_power_that_is_enough(
    program: Path, net: Net | None, threads: int, reach: int
) -> None:
    for now, aims in itertools.product(STARTS, ((40.0,), (100.0, 250.0), (5000.0,))):
        apps = [(100.0 + 20 * i, aim) for i, aim in enumerate(aims)]
        answer = best(program, now, apps, net, threads=threads, reach=reach)
        reached = {
            state: min(rate * speed(state, threads) / speed(now, threads) / aim for rate, aim in apps)
            for state in within(now, reach)
            if fits(state, net)
        }
        enough = [state for state in reached if reached[state] >= 1]
        state: State = tuple(map(int, answer[1:5]))  # type: ignore[assignment]
        assert answer[0] == ("1" if enough else "0"), (now, aims)
        if enough:
            least = min(watts(state, threads, net) for state in enough)
            assert state in enough
            assert math.isclose(float(answer[5]), least, rel_tol=1e-6)
        elif reached and max(reached.values()) > reached.get(now, 0):
            assert math.isclose(float(answer[6]), max(reached.values()), rel_tol=1e-6)
        if fits(state, net):
            assert int(answer[7]) == (net.cores(state) if net else 0)


def test_what_is_not_faster_than_too_slow_is_not_tried(program: Path) -> None:
    before = best(program, (2, 2, 1, 1), [(100.0, 40.0)], None, threads=8)
    first: State = tuple(map(int, before[1:5]))  # type: ignore[assignment]
    after = tuple(map(int, best(program, (2, 2, 1, 1), [(100.0, 40.0)], None, threads=8, slow=[first])[1:5]))
    assert after != first
    assert any(after[i] > first[i] or (after[i] and after[2 + i] > first[2 + i]) for i in range(2))


@pytest.mark.parametrize("law", [linear, unlike])
@pytest.mark.parametrize("part", [0.3, 0.5, 0.75])
@pytest.mark.parametrize("net", NETS)
def test_it_comes_to_rest_where_the_goal_is_met(
    program: Path, law: Callable[[State], float], part: float, net: Net | None
) -> None:
    goal = part * law((3, 3, 2, 3))
    with ModelledMachine(program, law, [(goal, 1.1 * goal)], net) as machine:
        machine.run(300)
        decided = len(machine.decisions)
        assert machine.decisions[0][1] == "application came"
        assert machine.law(machine.state) >= goal
        assert fits(machine.state, net)
        machine.run(300)
        assert len(machine.decisions) == decided, machine.decisions


@pytest.mark.parametrize("lag", [1, 2, 20])
@pytest.mark.parametrize("part", [0.3, 0.5, 0.75])
@pytest.mark.parametrize("net", NETS)
def test_a_rate_is_of_the_clocks_that_were_asked_for(program: Path, lag: int, part: float, net: Net | None) -> None:
    goal = part * linear((3, 3, 2, 3))
    with ModelledMachine(program, linear, [(0.95 * goal, 1.05 * goal)], net, lag=lag) as machine:
        machine.run(300)
        first, *others = [why for _, why, _ in machine.decisions]
        assert first == "application came"
        assert len(others) <= 3, machine.decisions
        assert all(linear(state) < 0.95 * goal for state in machine.slow), machine.slow
        assert linear(machine.state) >= 0.95 * goal


def test_clocks_that_are_never_in_force_are_not_waited_for(program: Path) -> None:
    """The clocks remain the fastest, so that less is always enough."""
    goal = 0.3 * linear((4, 4, 2, 3))
    with ModelledMachine(program, linear, [(goal, 1.1 * goal)], lag=1_000_000) as machine:
        machine.run(600)
        assert "less power" in [why for _, why, _ in machine.decisions]


def test_a_beat_that_is_almost_there_makes_nobody_too_slow(program: Path) -> None:
    """An interval has 16 or 17 beats. 16 are 5.6 % fewer than the rate has, which is in the middle of the goal."""
    rate = 169.5
    with ModelledMachine(program, lambda _: rate, [(0.95 * rate, 1.05 * rate)]) as machine:
        machine.run(200)
        assert [why for _, why, _ in machine.decisions] == ["application came"]


def test_a_goal_that_cannot_be_met_has_all_that_there_is(program: Path) -> None:
    with ModelledMachine(program, linear, [(1e6, 2e6)]) as machine:
        machine.run(200)
        assert machine.state == (4, 4, 2, 3)
        assert machine.decisions[-1][1] == "nothing suffices"


def test_goals_packets_and_applications_change(program: Path) -> None:
    goal = 0.3 * linear((4, 4, 2, 3))
    with ModelledMachine(program, linear, [(goal, 1.1 * goal)]) as machine:
        machine.run(100)
        slow = machine.state
        machine.goals[0] = (2 * goal, 2.2 * goal)
        machine.run(100)
        assert linear(machine.state) >= 2 * goal > linear(slow)
        machine.net = Net(1, 2, 174e3)
        machine.run(100)
        assert machine.state[1] == 4 - machine.net.cores(machine.state), "packets take fewer cores if these are faster"
        assert machine.net.cores(machine.state) < 4
        assert "network" in [why for _, why, _ in machine.decisions]
        machine.goals.clear()
        machine.run(1)
        assert machine.decisions[-1][1] == "application went"
        machine.run(10)
        assert machine.decisions[-1][1] == "application went"


def test_one_that_changes_all_the_time_stops_no_other(program: Path) -> None:
    """The first has a goal. The second changes its goal, or its threads, in each interval."""
    goal = 0.75 * linear((4, 4, 2, 3))
    with ModelledMachine(program, linear, [(goal, 1.1 * goal), (1.0, 2.0)]) as machine:
        for number in range(100):
            machine.goals[1] = (1.0 + number % 2, 3.0)
            machine.run(1)
        assert linear(machine.state) >= goal
    with ModelledMachine(
        program, linear, [(goal, 1.1 * goal), (1.0, 2.0)], threads=lambda number, ms: 4 + number * (ms // 100 % 2)
    ) as machine:
        machine.run(100)
        assert linear(machine.state) >= goal


def test_goals_that_change_let_power_be_saved(program: Path) -> None:
    goal = 0.3 * linear((4, 4, 2, 3))
    with ModelledMachine(program, linear, [(goal, 1.1 * goal), (1.0, 2.0)]) as machine:
        machine.run(100)
        machine.goals[0] = (goal / 2, 0.55 * goal)
        for number in range(100):
            machine.goals[1] = (1.0 + number % 2, 3.0)
            machine.run(1)
        assert machine.decisions[-1][1] == "less power"


def test_those_that_come_and_go_stop_no_other(program: Path) -> None:
    goal = 0.75 * linear((4, 4, 2, 3))
    with ModelledMachine(program, linear, [(goal, 1.1 * goal)], guests=True) as machine:
        machine.run(200)
        assert "too slow" in [why for _, why, _ in machine.decisions]
        assert linear(machine.state) >= goal


def test_what_was_too_slow_for_one_stays_so_when_another_changes(program: Path) -> None:
    """The model takes big cores for much faster than they are, so that the search learns."""
    goal = 0.5 * unlike((3, 3, 2, 3))
    with ModelledMachine(program, unlike, [(goal, 1.1 * goal), (1.0, 1e6)]) as machine:
        machine.run(300)
        decided = len(machine.decisions)
        for number in range(300):
            machine.goals[1] = (1.0 + number % 2, 1e6)
            machine.run(1)
        assert len(machine.decisions) == decided


def test_applications_without_a_goal_or_a_beat_change_nothing(program: Path) -> None:
    with ModelledMachine(program, lambda _: 0.0, [(0.0, 0.0), (100.0, 200.0)]) as machine:
        machine.run(200)
        assert [why for _, why, _ in machine.decisions] == ["application came"]


def test_applications_go_on_with_the_cores_that_are_online(program: Path) -> None:
    goal = 0.3 * linear((4, 4, 2, 3))
    with ModelledMachine(program, linear, [(goal, 1.1 * goal)]) as machine:
        machine.run(100)
        assert machine.state[1] > 0
        machine.online(0x0F)
        machine.run(1)
        assert machine.decisions[-1][1] == "fewer cores"
        assert machine.state[:2] == (4, 0)
        decided = len(machine.decisions)
        machine.net = Net(0, 2, 250e3)
        machine.run(50)
        assert machine.state[:2] == (0, 0), "packets take all"
        assert len(machine.decisions) == decided + 1, "which is told once"
        machine.online(0xFF)
        machine.run(100)
        assert linear(machine.state) >= goal
