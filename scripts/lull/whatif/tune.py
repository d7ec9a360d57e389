# SPDX-License-Identifier: BSD-3-Clause
"""Finds the governor, its parameters and the advertised numbers that spend the least energy on a load.

The residency of a state is varied from a quarter to four times the recorded one, and so are entry and exit latencies.
The factor is the same for all clusters, even if their numbers differ. haltpoll's longest poll and first poll are varied
from a quarter to four times the usual ones. menu and teo have no parameters. The recorded settings are a candidate,
too. Combinations that a platform file may not have are left out, for example a deeper state with a shorter residency.
`lull.whatif.search` says which combinations are tried.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lull.artifacts.governors import NAMES
from lull.energy import run_ledger
from lull.engines.base import Engine, Sink
from lull.engines.execute import execute
from lull.errors import UserError
from lull.host.progress import Progress
from lull.platform.cstates import STATE_NAMES
from lull.platform.schema import Platform
from lull.rundir.folder import RunDir
from lull.runspec import advertised
from lull.runspec.policy import Policy
from lull.runspec.spec import RunSpec
from lull.whatif import grid, prediction, search, settings, source
from lull.whatif.library import TUNABLES
from lull.whatif.search import LATENCY, RESIDENCY, Candidate, Matter, Number, Outcome, Space
from lull.whatif.settings import HALTPOLL
from lull.whatif.source import Replay

FACTORS = search.FACTORS
VARIED = ("guest_halt_poll_ns", "guest_halt_poll_grow_start")
"""The parameters of haltpoll that are varied if the user names none."""
_KEYS = {RESIDENCY: ("residency_us",), LATENCY: ("entry_us", "exit_us")}
_DEPTHS = tuple(STATE_NAMES.values())
_SHADOW = "shadow.cluster"
"""The key of the shadow's cluster. A short key such as cstates.C3.exit_us changes it even if it is disabled."""


class Tuned(NamedTuple):
    settings: tuple[str, ...]
    energy_j: float
    latency_p99_us: float
    energy_j_error: float = 0.0
    latency_p99_us_error: float = 0.0

    def surely_within(self, bound_us: float) -> bool:
        """Return true if the p99 plus its error bar is within the bound."""
        return self.latency_p99_us + self.latency_p99_us_error <= bound_us

    def holds(self, number: str, true: "Tuned") -> bool:
        """Return true if a true number is within the error bar of the predicted one."""
        off = abs(getattr(self, number) - getattr(true, number))
        return bool(off <= getattr(self, f"{number}_error") * (1 + 1e-9))


def tunables(words: Sequence[str] | None) -> list[tuple[str, ...]]:
    """Return the combinations of haltpoll's parameters to try, from `key=value,value` words, or the usual ones."""
    usual = [
        f"{HALTPOLL}{name}={','.join(str(round(factor * TUNABLES[name])) for factor in FACTORS)}" for name in VARIED
    ]
    asked = usual if words is None else words
    for word in asked:
        if not word.startswith(HALTPOLL):
            raise UserError(
                f"--tunable {word}: not a parameter of haltpoll; choose {HALTPOLL}{f', {HALTPOLL}'.join(TUNABLES)}"
            )
    return list(settings.grid(asked, option="--tunable", example=f"{HALTPOLL}{VARIED[0]}=50000,200000"))


class Tuning(NamedTuple):
    """The result of a search: the best answers, and the effect of each number of the best one."""

    answers: list[Tuned]
    matters: list[Matter]


def space_of(replay: Replay, of_haltpoll: Sequence[tuple[str, ...]] = ((),)) -> Space:
    """Return the settings to search: for each state that the run may enter, except the first, its numbers."""
    machine = replay.machine
    deepest = max(_DEPTHS.index(name) for name in machine.deepest.values())
    there = {state.name for cluster in machine.platform.resolved_clusters() for state in cluster.cstates}
    for own in of_haltpoll:
        _checked(replay, own)
    states = [name for name in _DEPTHS[1 : deepest + 1] if name in there]
    return Space(NAMES, states, of_haltpoll, Candidate(machine.governor))


def candidates(replay: Replay, of_haltpoll: Sequence[tuple[str, ...]] = ((),)) -> Iterator[tuple[str, ...]]:
    """Yield the settings of the coarse grid that a platform file may have, the recorded ones first."""
    for one in space_of(replay, of_haltpoll).grid():
        if (words := _allowed(replay, one)) is not None:
            yield words


def _allowed(replay: Replay, one: Candidate) -> tuple[str, ...] | None:
    """Return the settings of a candidate; None if a platform file may not have its numbers."""
    numbers = [word for number, factor in one.factors for word in _scaled(replay.machine.platform, number, factor)]
    try:
        replay.machine.changed(numbers)
    except UserError:
        return None
    return (f"{settings.GOVERNOR}={one.governor}", *numbers, *one.own)


def _scaled(platform: Platform, number: Number, factor: float) -> tuple[str, ...]:
    """Return the settings that multiply an advertised number of a state: one setting if all clusters have the same."""
    name, what = number
    homes = {f"clusters.{cluster.name}": cluster for cluster in platform.clusters} | {_SHADOW: platform.shadow.cluster}
    found: list[str] = []
    for part in _KEYS[what]:
        told = {
            home: round(factor * getattr(state.advertised, part))
            for home, cluster in homes.items()
            for state in cluster.cstates
            if state.name == name
        }
        key = f"cstates.{name}.advertised.{part}"
        if len(set(told.values())) == 1:
            found.append(f"{key}={min(told.values())}")
            continue
        if not platform.shadow.enabled:
            told.pop(_SHADOW, None)
        found += [f"{home}.{key}={value}" for home, value in told.items()]
    return tuple(found)


def _checked(replay: Replay, own: tuple[str, ...]) -> None:
    try:
        replay.machine.changed(own)
    except UserError as error:
        raise UserError(str(error).replace("--set", "--tunable", 1)) from None


def searched(
    replay: Replay,
    bound_us: float,
    most: int,
    progress: Progress | None = None,
    of_haltpoll: Sequence[tuple[str, ...]] = ((),),
) -> Tuning:
    """Search, and return the answers of the least energy whose p99 of the wake-up latency is within the bound."""
    space = space_of(replay, of_haltpoll)
    first = sum(1 for _ in space.grid())
    if first > settings.MOST_POINTS:
        raise UserError(
            f"--tunable: makes {first} points with the residencies; give fewer values, for {settings.MOST_POINTS} "
            "points at most"
        )
    known: dict[Candidate, Tuned] = {}

    def ask(asked: Sequence[Candidate]) -> dict[Candidate, Outcome]:
        new = {one: words for one in asked if one not in known and (words := _allowed(replay, one)) is not None}
        if progress is not None:
            progress.total = progress.done + len(new)
        rows = grid.numbers(replay, list(new.values()), progress) if new else []
        for (one, words), row in zip(new.items(), rows, strict=True):
            known[one] = Tuned(words, **{name: row[name] for name in Tuned._fields[1:]})
        return {one: (known[one].energy_j, known[one].latency_p99_us) for one in asked if one in known}

    found = search.descend(space, ask, bound_us)
    answers = search.answers(found, ask, bound_us, most)
    if not answers:
        least = min(late for _, late in found.values())
        raise UserError(f"--p99-us {bound_us:g}: no candidate is within it; the least is {least:.4g}")
    return Tuning([known[one] for one in answers], search.matters(space, ask, answers[0]))


def spec_of(replay: Replay, asked: Sequence[str]) -> RunSpec:
    """Return the RunSpec of the run with other settings."""
    before = RunDir.open(replay.path).spec()
    machine = replay.machine.changed(asked)
    policy = Policy.model_validate({**before.policy.model_dump(), "governor": machine.governor})
    told = advertised.difference(machine.platform, before.boot_platform())
    return before.model_copy(update={"platform": machine.platform, "told_at_boot": told, "policy": policy})


def verified(replay: Replay, tuned: Tuned, engine: Engine, out: Path, sink: Sink) -> Tuned:
    """Simulate an answer's settings, and return the true numbers."""
    execute(spec_of(replay, tuned.settings), engine, out, sink)
    run_ledger.make_ledger(RunDir.open(out), run_ledger.Options())
    return as_run(source.load(out), tuned.settings)


def as_run(replay: Replay, asked: tuple[str, ...] = ()) -> Tuned:
    """Return the numbers of a recorded run itself."""
    truth = prediction.of_trace(replay)
    return Tuned(asked, *(truth[prediction.TOTALS[name]] for name in ("energy_j", "latency_p99_us")))
