# SPDX-License-Identifier: BSD-3-Clause
"""States that a what-if adds: `cstates.C2b.kind=retention`, and numbers such as `cstates.C2b.exit_us=8`.

Numbers that are not set are copied from the cluster's existing state of this kind. So are the software's exit time, the
power and the charges, because nothing was recorded of a new state.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

from pydantic import Field, model_validator

from lull.errors import UserError
from lull.files.blocks import explained, fault, quoted
from lull.platform import overrides
from lull.platform.cstates import KEEPING_CACHES, STATE_NAMES, CState
from lull.platform.schema import Cluster, Platform

MOST_STATES = 10
"""CPUIDLE_STATE_MAX of Linux."""
NEW_NAME = re.compile(r"C[0-9][A-Za-z0-9-]{0,13}")
"""Names of new states. Linux keeps 15 characters of a state's name."""
_DEPTHS = tuple(STATE_NAMES)
_NEW_KINDS = _DEPTHS[1:]
_KINDS = {name: kind for kind, name in STATE_NAMES.items()}
_SHADOW = "shadow.cluster"
_KEY = re.compile(rf"(?:(?P<home>clusters\.[^.]+|{re.escape(_SHADOW)})\.)?cstates\.(?P<name>[^.]+)\.(?P<part>.+)")
_POWER = re.compile(r"power-models\.(core|transition)\.(?P<name>[^.]+)\..+")
_SOURCE = "added by a what-if"


class AddedState(CState):
    """A state that the platform file does not have. Its kind does not follow from its name."""

    name: Annotated[str, Field(pattern=f"^{NEW_NAME.pattern}$")]  # type: ignore[assignment]

    @model_validator(mode="after")
    def _name_says_kind(self) -> "AddedState":
        """Check the one rule of `CState` that also holds for an added state."""
        if self.kind in KEEPING_CACHES and self.actual.flush_us + self.actual.refill_us > 0:
            raise fault(f"{self.kind} keeps the caches; leave flush_us and refill_us 0", "actual")
        return self


class _Word(NamedTuple):
    """A setting of a new state."""

    key: str
    home: str | None
    """The key of the state's cluster; None for all clusters."""
    name: str
    part: str
    value: str


def depth(state: CState) -> int:
    """Return the depth of a state's kind: 0 is WFI."""
    return _DEPTHS.index(state.kind)


def like(state: CState) -> str:
    """Return the usual name of a state of this kind, such as C3."""
    return STATE_NAMES[state.kind]


def of(platform: Platform) -> dict[str, AddedState]:
    """Return the added states by name. Numbers are those in one of the clusters."""
    states = [state for cluster in platform.resolved_clusters() for state in cluster.cstates]
    return {state.name: state for state in states if isinstance(state, AddedState)}


def without(platform: Platform) -> Platform:
    """Return the platform without added states, as a file could have it."""
    own = {
        cluster.name: [state for state in cluster.cstates if not isinstance(state, AddedState)]
        for cluster in _clusters(platform)
    }
    return _with(platform, own) if of(platform) else platform


def of_others(platform: Platform, words: Sequence[str]) -> list[str]:
    """Return the words that do not name a new state. Only a point of a grid has all words of a new state."""
    known = _own_names(platform)
    keys = [word.partition("=")[0] for word in words]
    found = [_KEY.fullmatch(key) or _POWER.fullmatch(key) for key in keys]
    return [
        word for word, names in zip(words, found, strict=True) if names is None or not _is_new(names["name"], known)
    ]


def with_states(platform: Platform, words: Sequence[str], taken_away: frozenset[str]) -> Platform:
    """Return the platform with settings of `cstates`. States are ordered by kind, then by residency.

    `taken_away` are states that Linux may not enter. Their numbers do not limit those of a new state.
    """
    new, others = _apart(platform, words)
    plain = without(platform)
    if others:
        data = overrides.apply(plain.model_dump(mode="json"), others)
        with explained("--set", Platform):
            plain = Platform.model_validate(data)
    told = {
        cluster.name: {state.name: _data(state) for state in cluster.cstates if isinstance(state, AddedState)}
        for cluster in _clusters(platform)
    }
    for word in sorted(new, key=lambda one: one.part != "kind"):
        _tell(told, plain, word)
    if not any(told.values()):
        return plain
    found = {}
    for cluster in _clusters(plain):
        own = [_made(name, data, cluster) for name, data in told[cluster.name].items()]
        found[cluster.name] = sorted([*cluster.cstates, *own], key=lambda one: (depth(one), _residency(one)))
        _check_order(cluster.name, [state for state in found[cluster.name] if state.name not in taken_away])
        if len(found[cluster.name]) > MOST_STATES:
            raise UserError(
                f"--set cstates: {len(found[cluster.name])} states on {cluster.name}, and Linux has {MOST_STATES} at "
                "most; add fewer"
            )
    _check_kinds([state for own in found.values() for state in own])
    return _with(plain, found)


def _clusters(platform: Platform) -> list[Cluster]:
    """Return all clusters, also the shadow's if it is not enabled."""
    return [*platform.clusters, platform.shadow.cluster]


def _own_names(platform: Platform) -> set[str]:
    return {state.name for cluster in _clusters(without(platform)) for state in cluster.cstates}


def _is_new(name: str, known: set[str]) -> bool:
    return name not in known and NEW_NAME.fullmatch(name) is not None


def _residency(state: CState) -> int:
    return state.advertised.residency_us


def _with(platform: Platform, states: Mapping[str, Sequence[CState]]) -> Platform:
    """Return the platform with these states. They are not checked, because the schema of files has no added states."""

    def changed(cluster: Cluster) -> Cluster:
        return cluster.model_copy(update={"cstates": list(states[cluster.name])})

    shadow = platform.shadow.model_copy(update={"cluster": changed(platform.shadow.cluster)})
    return platform.model_copy(update={"clusters": [changed(one) for one in platform.clusters], "shadow": shadow})


def _apart(platform: Platform, words: Sequence[str]) -> tuple[list[_Word], list[str]]:
    """Return the settings of new states, and all others."""
    known, new, others = _own_names(platform), [], []
    for word in words:
        key, _, value = word.partition("=")
        found = _KEY.fullmatch(key)
        if found is None or found["name"] in known:
            others.append(word)
            continue
        if found["part"] == "kind":
            _check_name(key, found["name"], value)
        if _is_new(found["name"], known):
            new.append(_Word(key, found["home"], found["name"], found["part"], value))
        else:
            others.append(word)
    return new, others


def _check_name(key: str, name: str, kind: str) -> None:
    if not NEW_NAME.fullmatch(name):
        raise UserError(f"--set {key}: not a name of a state; write C, a digit and 13 letters or digits at most: C2b")
    if kind not in _NEW_KINDS:
        raise UserError(f"--set {key}={kind}: not a kind of a new state; use {quoted(_NEW_KINDS)}")
    if _KINDS.get(name, kind) != kind:
        raise UserError(f"--set {key}={kind}: {name} is {_KINDS[name]} on every platform; choose another name")


def _tell(told: Mapping[str, dict[str, dict[str, Any]]], platform: Platform, word: _Word) -> None:
    """Note a setting of a new state, for each cluster that it concerns."""
    homes = {f"clusters.{cluster.name}": cluster for cluster in platform.clusters}
    if platform.shadow.enabled:
        homes[_SHADOW] = platform.shadow.cluster
    if word.home is not None and word.home not in homes:
        raise UserError(f"--set {word.key}: no such cluster in this run; use {quoted(homes)}")
    named = list(homes.values()) if word.home is None else [homes[word.home]]
    clusters = [cluster for cluster in named if word.part == "kind" or word.name in told[cluster.name]]
    if not clusters:
        begin = word.key.removesuffix(word.part)
        raise UserError(
            f"--set {word.key}: no cluster has `{word.name}`; use {quoted(sorted(_own_names(platform)))}, or add the "
            f"state by {begin}kind={_KINDS.get(word.name, 'core-off')}"
        )
    block, _, number = word.part.rpartition(".")
    value = word.value if word.part == "kind" else overrides.parsed(word.key, word.value)
    for cluster in clusters:
        data = told[cluster.name].setdefault(word.name, {})
        into = data if word.part == "kind" else data.setdefault(block or "actual", {})
        into[number] = value


def _data(state: AddedState) -> dict[str, Any]:
    return state.model_dump(mode="json")


def _made(name: str, told: Mapping[str, Any], cluster: Cluster) -> AddedState:
    base = next((state for state in cluster.cstates if state.kind == told["kind"]), None)
    data: dict[str, Any] = base.model_dump(mode="json") if base else {"advertised": {}, "actual": {}}
    if not base and told["kind"] in KEEPING_CACHES:
        data["actual"]["flush_us"] = 0.0
    for part, numbers in told.items():
        data[part] = {**data.get(part, {}), **numbers} if isinstance(numbers, dict) else numbers
    data["name"] = name
    for part in ("advertised", "actual"):
        data[part]["source"] = _SOURCE
    with explained(f"--set cstates.{name} on {cluster.name}", AddedState):
        return AddedState.model_validate(data)


def _check_order(cluster: str, states: Sequence[CState]) -> None:
    """Check the order of states as in a platform file: exit latencies may be equal, but residencies may not."""
    for light, deep in pairwise(states):
        new, other = (deep, light) if isinstance(deep, AddedState) else (light, deep)
        if not isinstance(new, AddedState):
            continue
        sign, than, mend = (1, "above", "raise") if new is deep else (-1, "below", "lower")
        for key, mine, its, least in (
            ("exit_us", new.advertised.exit_us, other.advertised.exit_us, 0),
            ("entry_us", new.advertised.latency_us, other.advertised.latency_us, 0),
            ("residency_us", _residency(new), _residency(other), 1),
        ):
            if sign * (mine - its) < least:
                what = "entry + exit, " if key == "entry_us" else ""
                which = "lighter" if new is deep else "deeper"
                equal = "" if least else "or equal to "
                raise UserError(
                    f"--set cstates.{new.name}.advertised.{key}: {what}{mine} on {cluster} is not {than} {equal}the "
                    f"{its} of {other.name}, a {which} state; {mend} it"
                )


def _check_kinds(states: Sequence[CState]) -> None:
    """Check that a name has one kind, because `power-models.core.C2b.leakage` is for one kind of state."""
    kinds: dict[str, str] = {}
    for state in states:
        if kinds.setdefault(state.name, state.kind) != state.kind:
            raise UserError(
                f"--set cstates.{state.name}.kind: {kinds[state.name]} on one cluster and {state.kind} on another; "
                "use two names"
            )
