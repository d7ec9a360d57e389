# SPDX-License-Identifier: BSD-3-Clause
"""A made machine for tests of the second level: its model, and the manager's answers, interval by interval."""

import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

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


def program_in(native: Path) -> Path:
    """Return the second level as a program. Its model is the file beside it."""
    found = native / "second-print"
    found.with_suffix(".model").write_text(MODEL)
    return found


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
    share: Callable[[int], float] = lambda number: 1.0
    """Of the law's rate, by the number of the application."""
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

    def online(self, cpus: int) -> None:
        self._say(f"online {cpus:x}")

    def run(self, intervals: int) -> None:
        for _ in range(intervals):
            if self.ms >= self.clocks_ms:
                self.clocks = self.state[2:]
            self.ms += 100
            for i, (least, most) in enumerate(self.goals):
                self.beats[i] += self.share(i) * self.law((*self.state[:2], *self.clocks)) / 10
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
