# SPDX-License-Identifier: BSD-3-Clause
"""Which advertised residencies, with which governor and which parameters of it, spend the least energy on a load.

The residencies of a state are a quarter to four times the recorded ones: one factor for all clusters, each of which may
have another residency. haltpoll's longest poll, and its first one, are a quarter to four times the usual ones. menu and
teo have no parameters. The recorded settings are a candidate, too. Combinations that a platform file may not have, for
example a deeper state with a shorter residency than a shallower one, are left out.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, product
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
from lull.whatif import grid, prediction, settings, source
from lull.whatif.library import TUNABLES
from lull.whatif.settings import HALTPOLL
from lull.whatif.source import Replay

FACTORS = (0.25, 0.5, 1, 2, 4)
VARIED = ("guest_halt_poll_ns", "guest_halt_poll_grow_start")
"""Parameters of haltpoll that are looked through if none are named."""
_DEPTHS = tuple(STATE_NAMES.values())
_SHADOW = "shadow.cluster"
"""The key of the shadow's cluster, which a short key such as cstates.C3.exit_us changes even where it is disabled."""


class Tuned(NamedTuple):
    settings: tuple[str, ...]
    energy_j: float
    latency_p99_us: float
    energy_j_error: float = 0.0
    latency_p99_us_error: float = 0.0

    def surely_within(self, bound_us: float) -> bool:
        """Whether the p99 stays within the bound even if it is an error bar longer."""
        return self.latency_p99_us + self.latency_p99_us_error <= bound_us

    def holds(self, number: str, true: "Tuned") -> bool:
        """Whether a true number lies within the error bar of the predicted one."""
        off = abs(getattr(self, number) - getattr(true, number))
        return bool(off <= getattr(self, f"{number}_error") * (1 + 1e-9))


def tunables(words: Sequence[str] | None) -> list[tuple[str, ...]]:
    """The parameters of haltpoll to look through, each combination: of `key=value,value` words, or the usual ones."""
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


def candidates(replay: Replay, of_haltpoll: Sequence[tuple[str, ...]] = ((),)) -> Iterator[tuple[str, ...]]:
    """The recorded settings; then factors on the residencies of each state that the run may enter, but the first, with
    each governor, and with each parameters of haltpoll. A residency that stays has no setting."""
    machine = replay.machine
    deepest = max(_DEPTHS.index(name) for name in machine.deepest.values())
    axes = [
        [_residencies(machine.platform, name, factor) for factor in FACTORS]
        for name in _DEPTHS[1 : deepest + 1]
        if any(state.name == name for cluster in machine.platform.resolved_clusters() for state in cluster.cstates)
    ]
    for own in of_haltpoll:
        _checked(replay, own)
    recorded = (f"{settings.GOVERNOR}={machine.governor}",)
    yield recorded
    for governor, *scaled in product(NAMES, *axes):
        residencies = tuple(chain.from_iterable(scaled))
        try:
            machine.changed(residencies)
        except UserError:
            continue
        for own in of_haltpoll if governor == "haltpoll" else ((),):
            if (point := (f"{settings.GOVERNOR}={governor}", *residencies, *own)) != recorded:
                yield point


def _residencies(platform: Platform, name: str, factor: float) -> tuple[str, ...]:
    """The settings that change the residencies of a state by a factor: one setting if they are the same everywhere."""
    if factor == 1:
        return ()
    homes = {f"clusters.{cluster.name}": cluster for cluster in platform.clusters} | {_SHADOW: platform.shadow.cluster}
    told = {
        home: round(factor * state.advertised.residency_us)
        for home, cluster in homes.items()
        for state in cluster.cstates
        if state.name == name
    }
    key = f"cstates.{name}.advertised.residency_us"
    if len(set(told.values())) == 1:
        return (f"{key}={min(told.values())}",)
    if not platform.shadow.enabled:
        told.pop(_SHADOW, None)
    return tuple(f"{home}.{key}={value}" for home, value in told.items())


def _checked(replay: Replay, own: tuple[str, ...]) -> None:
    try:
        replay.machine.changed(own)
    except UserError as error:
        raise UserError(str(error).replace("--set", "--tunable", 1)) from None


def best(
    replay: Replay,
    bound_us: float,
    most: int,
    progress: Progress | None = None,
    of_haltpoll: Sequence[tuple[str, ...]] = ((),),
) -> list[Tuned]:
    """The least energies of all candidates whose p99 of the wake-up latency is within the bound."""
    asked = list(candidates(replay, of_haltpoll))
    if len(asked) > settings.MOST_POINTS:
        raise UserError(
            f"--tunable: makes {len(asked)} points with the residencies; give fewer values, for "
            f"{settings.MOST_POINTS} points at most"
        )
    if progress is not None:
        progress.total = len(asked)
    numbers = grid.numbers(replay, asked, progress)
    found = [
        Tuned(point, **{name: row[name] for name in Tuned._fields[1:]})
        for point, row in zip(asked, numbers, strict=True)
    ]
    within = sorted((one for one in found if one.latency_p99_us <= bound_us), key=lambda one: one.energy_j)
    if not within:
        least = min(one.latency_p99_us for one in found)
        raise UserError(f"--p99-us {bound_us:g}: no candidate is within it; the least is {least:.4g}")
    # Many residencies choose alike: one of each outcome is enough, the first.
    distinct = {(one.energy_j, one.latency_p99_us): one for one in reversed(within)}
    return list(reversed(distinct.values()))[:most]


def spec_of(replay: Replay, asked: Sequence[str]) -> RunSpec:
    """The run again, with other settings."""
    before = RunDir.open(replay.path).spec()
    machine = replay.machine.changed(asked)
    policy = Policy.model_validate({**before.policy.model_dump(), "governor": machine.governor})
    told = advertised.difference(machine.platform, before.boot_platform())
    return before.model_copy(update={"platform": machine.platform, "told_at_boot": told, "policy": policy})


def verified(replay: Replay, tuned: Tuned, engine: Engine, out: Path, sink: Sink) -> Tuned:
    """The same settings simulated: what the prediction is of."""
    execute(spec_of(replay, tuned.settings), engine, out, sink)
    run_ledger.make_ledger(RunDir.open(out), run_ledger.Options())
    return as_run(source.load(out), tuned.settings)


def as_run(replay: Replay, asked: tuple[str, ...] = ()) -> Tuned:
    """The numbers of a recorded run itself."""
    truth = prediction.of_trace(replay)
    return Tuned(asked, *(truth[prediction.TOTALS[name]] for name in ("energy_j", "latency_p99_us")))
