# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a what-if: numbers of idle states, added and removed states, the governor, and power."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from lull.artifacts.governors import NAMES
from lull.errors import UserError
from lull.platform.cstates import STATE_NAMES
from lull.platform.schema import Platform
from lull.runspec.policy import check_depth
from lull.whatif import added, trips
from lull.whatif.library import TUNABLES

GOVERNOR, DEEPEST, SHADOW, WITHOUT = "governor", "idle.deepest", "idle.shadow", "idle.without"
MODEL, HALTPOLL = "power-models.", "haltpoll."
MOST_TUNABLE = {
    "guest_halt_poll_ns": 1_000_000_000, "guest_halt_poll_shrink": 1000, "guest_halt_poll_grow": 1000,
    "guest_halt_poll_grow_start": 1_000_000_000, "guest_halt_poll_allow_shrink": 1,
}  # fmt: skip
"""The largest values of haltpoll's parameters. Linux does not check them, and multiplies in 32 bits."""
MOST_POINTS = 100_000
"""The most points of a grid: two processors compute them in some minutes, and they fit into memory."""
_DEPTHS = tuple(STATE_NAMES.values())
_MODEL = re.compile(
    rf"core\.{added.NEW_NAME.pattern}\.(clock|leakage)|l2\.retained_when_off\.[a-z0-9-]+|"
    rf"transition\.({'|'.join(trips.OF_ALL)})"
)


@dataclass(frozen=True)
class Setup:
    """The part of a run that a what-if changes. `deepest` is the deepest state of each CPU."""

    platform: Platform
    governor: str
    deepest: Mapping[int, str]
    without: frozenset[str] = frozenset()
    """States that are removed (`idle.without`)."""
    tunables: Mapping[str, int] = field(default_factory=dict)
    model: Mapping[str, float] = field(default_factory=dict)
    """Numbers of power-models/states.yaml, and numbers of one state's trips."""
    shadow: str | None = None
    """The deepest state of the shadow core. If not given, `idle.deepest` counts, as in a run."""

    def changed(self, settings: Sequence[str]) -> "Setup":
        now, rest, model = self, [], []
        for text in settings:
            key, equals, value = text.partition("=")
            if not equals or not value:
                raise UserError(f"--set {text}: no `=` with a value; write key=value, such as cstates.C3.exit_us=15")
            if key == GOVERNOR:
                now = replace(now, governor=_one_of(key, value, NAMES))
            elif key == DEEPEST:
                state = _state(key, value, _DEPTHS, self.platform)
                own = _shadow_cpus(self.platform) if now.shadow else set()
                deepest = {cpu: was if cpu in own else state for cpu, was in now.deepest.items()}
                now = replace(now, deepest=deepest)
            elif key == SHADOW:
                state, own = _state(key, value, _DEPTHS, self.platform), _shadow_cpus(self.platform)
                deepest = {cpu: state if cpu in own else was for cpu, was in now.deepest.items()}
                now = replace(now, shadow=state, deepest=deepest)
            elif key == WITHOUT:
                now = replace(now, without=now.without | {_state(key, value, _DEPTHS[1:], self.platform)})
            elif key.startswith(HALTPOLL):
                name = _one_of(HALTPOLL.rstrip("."), key.removeprefix(HALTPOLL), tuple(TUNABLES))
                now = replace(now, tunables={**now.tunables, name: _number(key, value, MOST_TUNABLE[name])})
            elif key.startswith(MODEL):
                model.append((key, value))
            elif "cstates" in key.split("."):
                rest.append(text)
            else:
                raise UserError(
                    f"--set {key}: a what-if cannot change this; use {GOVERNOR}, {HALTPOLL}*, {DEEPEST}, {SHADOW}, "
                    f"{WITHOUT}, {MODEL}* or a key of cstates, or run it on gem5"
                )
        platform = added.with_states(self.platform, rest, now.without) if rest else self.platform
        numbers = {_model_key(key, platform): _part(key, value) for key, value in model}
        return replace(now, platform=platform, model={**now.model, **numbers})

    def check_others(self, settings: Sequence[str]) -> None:
        """Raise a UserError for a wrong setting beside a grid. Settings of new states are checked with each point."""
        self.changed(added.of_others(self.platform, settings))


def _state(key: str, value: str, known: Sequence[str], platform: Platform) -> str:
    """Return the state of a limit, if the platform has it. The shadow's limit is checked for the shadow core only."""
    if key == SHADOW and not platform.shadow.enabled:
        raise UserError(f"--set {key}={value}: {platform.name} has no shadow core in this run; use {DEEPEST}")
    clusters = [platform.shadow.cluster] if key == SHADOW else platform.resolved_clusters()
    check_depth(key, _one_of(key, value, known), platform, clusters)
    return value


def _shadow_cpus(platform: Platform) -> set[int]:
    return {cpu for cpus, cluster in platform.cpu_ranges() if platform.role(cluster) == "shadow" for cpu in cpus}


def _model_key(key: str, platform: Platform) -> str:
    name = key.removeprefix(MODEL)
    if (trip := trips.OF_STATE.fullmatch(name)) is not None:
        trips.check(key, trip["state"], trip["number"], platform)
        return name
    cores = {cluster.core for cluster in platform.resolved_clusters()}
    part, _, last = name.rpartition(".")
    states = {f"core.{state.name}" for cluster in platform.resolved_clusters() for state in cluster.cstates}
    absent = (part.startswith("l2") and last not in cores) or (part.startswith("core") and part not in states)
    if not _MODEL.fullmatch(name) or absent:
        raise UserError(
            f"--set {key}: not a number of power-models/states.yaml that this machine has; "
            f"use {MODEL}core.C3.leakage, {MODEL}core.C1.clock, {MODEL}l2.retained_when_off.{min(cores)}, "
            f"{', '.join(f'{MODEL}transition.{one}' for one in trips.OF_ALL)} or {MODEL}transition.C3.{trips.ENERGY}"
        )
    return name


def _number(key: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > most:
        raise UserError(f"--set {key}={text}: not a whole number from 0 to {most}")
    return int(text)


def _part(key: str, text: str) -> float:
    most = trips.MOST.get(key.rpartition(".")[2], 1.0)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most:
        raise UserError(f"--set {key}={text}: write a number from 0 to {most:g}")
    return value


def grid(
    words: Sequence[str],
    common: Sequence[str] = (),
    option: str = "--grid",
    example: str = "cstates.C3.exit_us=10,20,40",
) -> Iterator[tuple[str, ...]]:
    """Yield the points of `key=a,b,c` words: every combination of values."""
    axes: dict[str, list[str]] = {}
    there = {text.partition("=")[0] for text in common}
    for word in words:
        key, equals, values = word.partition("=")
        own = values.split(",")
        if not key or not equals or not all(own):
            raise UserError(f"{option} {word}: write key=value,value, such as {example}")
        if key in axes:
            raise UserError(f"{option} {key}: is there twice; give all its values at once")
        if key in there:
            raise UserError(f"{option} {key}: is in --set, too; drop one")
        if len(set(own)) < len(own):
            raise UserError(f"{option} {word}: has a value twice; drop one")
        axes[key] = [f"{key}={value}" for value in own]
    points = math.prod(map(len, axes.values()))
    if points > MOST_POINTS:
        raise UserError(f"{option}: makes {points} points; give fewer values, for {MOST_POINTS} points at most")
    return product(*axes.values())


def idle_words(machine: Setup, words: Sequence[str]) -> list[str]:
    """Return sentences about `key=value` and `key=value,value` words that change nothing."""
    values = {key: text.split(",") for key, _, text in (word.partition("=") for word in words)}
    governors = values.get(GOVERNOR, [machine.governor])
    of_shadow = values.get(SHADOW, [machine.shadow] if machine.shadow else [])
    deepest = max([*values.get(DEEPEST, machine.deepest.values()), *of_shadow], key=_DEPTHS.index)
    found = []
    for key, texts in values.items():
        if key.endswith(".kind") and all(_of_kind(text) > _DEPTHS.index(deepest) for text in texts):
            name, needed = key.split(".")[-2], min(_of_kind(text) for text in texts)
            found.append(
                f"{name} changes nothing while the deepest state is {deepest}; add {DEEPEST}={_DEPTHS[needed]}"
            )
            continue
        deeper = [name for name in key.split(".") if name in _DEPTHS and _DEPTHS.index(name) > _DEPTHS.index(deepest)]
        if key.startswith(HALTPOLL) and "haltpoll" not in governors:
            found.append(f"{key} changes nothing without {GOVERNOR}=haltpoll")
        elif deeper:
            found.append(f"{key} changes nothing while the deepest state is {deepest}; add {DEEPEST}={deeper[0]}")
    return found


def _of_kind(kind: str) -> int:
    """Return the depth of a kind of state."""
    kinds: tuple[str, ...] = tuple(STATE_NAMES)
    return kinds.index(kind) if kind in kinds else 0


def _one_of(key: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise UserError(f"--set {key}={value}: unknown; choose {', '.join(known)}")
    return value
