# SPDX-License-Identifier: BSD-3-Clause
"""The second level in C: its search beside one in Python that looks at every state; its patience on a made machine."""

import itertools
import math
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOM = 0.8
OPPS = {
    "little": ((400, 900), (800, 1100), (1400, 1275)),
    "big": ((400, 900), (1000, 1000), (1500, 1100), (2000, 1312)),
}
SPEED = {"little": 0.5, "big": 1.0}
WATTS = {"little": 0.09, "big": 0.31}
ALPHA, BETA = 60e3, 300
TAU_US = {"little": 2, "big": 5}
NAMES = ("little", "big")
MODEL = (
    "".join(
        f"cluster {name} {first} 4 {ALPHA} {BETA} {TAU_US[name]} {WATTS[name]} 0.1\n"
        for name, first in (("little", 0), ("big", 4))
    )
    + "".join(f"opp {name} {mhz} {mv}\n" for name in NAMES for mhz, mv in OPPS[name])
    + "".join(f"speed {name} {SPEED[name]}\n" for name in NAMES)
)
OPTIONS = "options 16 50 3 0.1 16 {reach}"

State = tuple[int, int, int, int]
"""Little cores, big cores, and the operating point of each."""


@dataclass(frozen=True)
class Net:
    cluster: int
    opp: int
    packets_s: float
    most: int = 4
    """Cores of the first level, whether they suffice or not."""

    def load(self, state: State) -> float:
        name = NAMES[self.cluster]
        ghz = OPPS[name][state[2 + self.cluster]][0] / 1e3
        busy = max(self.packets_s - BETA, 0) / ALPHA / ghz + TAU_US[name] / 1e6 * self.packets_s
        return min(busy, ROOM * self.most)

    def cores(self, state: State) -> int:
        return max(1, math.ceil(self.load(state) / ROOM - 1e-9))

    def line(self) -> str:
        return f"net {self.cluster} {self.opp} {self.most} {self.packets_s!r} {ROOM}"


def speed(state: State, threads: int) -> float:
    """The fastest cores that the threads can be on."""
    each = [SPEED[name] * OPPS[name][state[2 + i]][0] / 1e3 for i, name in enumerate(NAMES) for _ in range(state[i])]
    return sum(sorted(each, reverse=True)[:threads])


def busy(state: State, threads: int) -> list[int]:
    each = [
        (SPEED[name] * OPPS[name][state[2 + i]][0] / 1e3, i) for i, name in enumerate(NAMES) for _ in range(state[i])
    ]
    first = sorted(each, reverse=True)[:threads]
    return [sum(where == i for _, where in first) for i in range(2)]


def watts(state: State, threads: int, net: Net | None) -> float:
    total = 0.0
    for i, name in enumerate(NAMES):
        mhz, mv = OPPS[name][state[2 + i]]
        load = busy(state, threads)[i] + (net.load(state) if net and net.cluster == i else 0)
        total += WATTS[name] * load * (mv / 1e3) ** 2 * mhz / 1e3 + 0.1 * mv / 1e3
    return total


def fits(state: State, net: Net | None) -> bool:
    taken = [net.cores(state) if net and net.cluster == i else 0 for i in range(2)]
    fast = net is None or state[2 + net.cluster] >= net.opp
    return fast and sum(state[:2]) > 0 and all(state[i] + taken[i] <= 4 for i in range(2))


def within(now: State, reach: int) -> Iterator[State]:
    for state in itertools.product(range(5), range(5), range(3), range(4)):
        if sum(abs(a - b) for a, b in zip(now, state, strict=True)) <= reach:
            yield state


@pytest.fixture(scope="module")
def program(native: Path) -> Path:
    """Its model is the file beside it."""
    found = native / "second-print"
    found.with_suffix(".model").write_text(MODEL)
    return found


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


def state_in(text: str) -> State:
    little, big, little_opp, big_opp = map(int, text.split())
    return little, big, little_opp, big_opp


@dataclass
class ModelledMachine:
    """Applications whose rate is what `law` makes of a state, and the manager's answers, interval by interval."""

    program: Path
    law: Callable[[State], float]
    goals: list[tuple[float, float]]
    net: Net | None = None
    ms: int = 0
    threads: Callable[[int, int], int] = lambda number, ms: 8
    """Of an application, by its number and the time."""
    guests: bool = False
    """In each interval another application comes, and goes before the next."""
    beats: list[float] = field(default_factory=list)
    lag: int = 0
    """Intervals after which the clocks that were asked for are in force."""
    state: State = (4, 4, 2, 3)
    clocks: tuple[int, int] = (2, 3)
    clocks_ms: int = 0
    """The operating points that are in force, and the time at which those of the state will be."""
    slow: set[State] = field(default_factory=set)
    """All states that the manager has ever taken for too slow."""
    decisions: list[tuple[int, str, State]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.beats = [0.0] * len(self.goals)
        self.child = subprocess.Popen(
            [self.program, self.program.with_suffix(".model")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._say(OPTIONS.format(reach=8))

    def _say(self, line: str) -> None:
        assert self.child.stdin is not None
        self.child.stdin.write(line + "\n")

    def run(self, intervals: int) -> None:
        for _ in range(intervals):
            if self.ms >= self.clocks_ms:
                self.clocks = self.state[2:]
            self.ms += 100
            for i, (least, most) in enumerate(self.goals):
                self.beats[i] += self.law((*self.state[:2], *self.clocks)) / 10
                self._say(f"hear {i + 1} {int(self.beats[i])} {least} {most} {self.threads(i, self.ms)}")
            if self.guests:
                self._say(f"hear {1000 + self.ms} 0 100 200 1")
            self._say(self.net.line() if self.net else "net -1")
            self._say(f"clocks {int(self.ms >= self.clocks_ms)}")
            self._say(f"step {self.ms * 1_000_000}")
            assert self.child.stdin is not None
            assert self.child.stdout is not None
            self.child.stdin.flush()
            why, manages, state, _, slow = self.child.stdout.readline().strip().split("|")
            self.slow |= {state_in(text) for text in slow.split(",") if text}
            if manages == "1":
                if state_in(state)[2:] != self.state[2:]:
                    self.clocks_ms = self.ms + self.lag * 100
                self.state = state_in(state)
            if why != "-":
                self.decisions.append((self.ms, why, self.state))

    def __enter__(self) -> "ModelledMachine":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.close()
        self.child.stdout.close()
        assert self.child.wait() == 0


def linear(state: State) -> float:
    return 400 * speed(state, 8)


def unlike(state: State) -> float:
    """Not as the model has it: memory does not become faster, and big cores are only 1.3 times as fast."""
    little, big = (OPPS[name][state[2 + i]][0] / 1e3 for i, name in enumerate(NAMES))
    return 350.0 * float(state[0] * little**0.7 + 1.3 * state[1] * big**0.6) * 0.8


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
