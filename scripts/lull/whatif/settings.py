# SPDX-License-Identifier: BSD-3-Clause
"""What a what-if may change: the numbers of idle states, the governor, and the deepest state."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from lull.artifacts.governors import NAMES
from lull.errors import UserError
from lull.files.blocks import explained
from lull.platform import overrides
from lull.platform.cstates import STATE_NAMES
from lull.platform.schema import Platform

GOVERNOR, DEEPEST = "governor", "idle.deepest"
_DEPTHS = tuple(STATE_NAMES.values())


@dataclass(frozen=True)
class Setup:
    """The part of a run that a what-if changes. `deepest` is the deepest state of each CPU."""

    platform: Platform
    governor: str
    deepest: dict[int, str]

    def changed(self, settings: Sequence[str]) -> "Setup":
        governor, deepest, rest = self.governor, dict(self.deepest), []
        for text in settings:
            key, equals, value = text.partition("=")
            if not equals or not value:
                raise UserError(f"--set {text}: no `=` with a value; write key=value, such as cstates.C3.exit_us=15")
            if key == GOVERNOR:
                governor = _one_of(key, value, NAMES)
            elif key == DEEPEST:
                deepest = dict.fromkeys(deepest, _one_of(key, value, _DEPTHS))
            elif "cstates" in key.split("."):
                rest.append(text)
            else:
                raise UserError(
                    f"--set {key}: a what-if cannot change this; use {GOVERNOR}, {DEEPEST} or a key of cstates, "
                    "or run it on gem5"
                )
        return Setup(_platform(self.platform, rest), governor, deepest)


def grid(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The points of `key=a,b,c` words: each value of one with each of the others."""
    axes = []
    for word in words:
        key, equals, values = word.partition("=")
        if not equals or not all(values.split(",")):
            raise UserError(f"--grid {word}: write key=value,value, such as cstates.C3.exit_us=10,20,40")
        axes.append([f"{key}={value}" for value in values.split(",")])
    return product(*axes)


def _one_of(key: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise UserError(f"--set {key}={value}: unknown; choose {', '.join(known)}")
    return value


def _platform(platform: Platform, settings: Sequence[str]) -> Platform:
    if not settings:
        return platform
    data = overrides.apply(platform.model_dump(mode="json"), settings)
    with explained("--set", Platform):
        return Platform.model_validate(data)
