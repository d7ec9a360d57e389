# SPDX-License-Identifier: BSD-3-Clause
"""The wishes of a user for a sweep: from a file, from options, or from both."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained
from lull.runspec.spec import CpuMode, Period
from lull.runspec.values import Value

MANUAL = "docs/sweeps.md"
SEEDS_MAX = 10_000

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,19})")
_DECIMAL = re.compile(rf"{_INTEGER.pattern}\.[0-9]+")


class SweepAsked(Block):
    """A sweep file. The options of `lull sweep` have the same names and win over it."""

    scenario: Annotated[str, Field(min_length=1)]
    platform: str | None = None
    """The scenario's own if not given, as `cpu` and `stats_period_s`."""
    cpu: CpuMode | None = None
    stats_period_s: Period | None = None
    points: list[str] = Field(default_factory=list)
    """Names or patterns of the scenario's points; all of them if not given."""
    set: dict[str, Value] = Field(default_factory=dict)
    """Settings that are the same at every point."""
    grid: dict[str, Annotated[list[Value], Field(min_length=1)]] = Field(default_factory=dict)
    """Axes: a key of `set`, or `platform` or `cpu`, and its values. Every combination is run."""
    seeds: Annotated[int, Field(ge=1, le=SEEDS_MAX)] = 1
    """Every combination is run with the seeds 1 to this."""


def load(path: Path) -> SweepAsked:
    name = yaml_file.shown(path)
    data = yaml_file.read(path, name, "sweep", MANUAL)
    with explained(name, SweepAsked):
        return SweepAsked.model_validate(data)


def parse_set(words: Sequence[str]) -> dict[str, Value]:
    """`--set key=value`, of which the last for a key wins."""
    return {key: _value(text) for key, text in (_halves("--set", word, "count=50") for word in words)}


def parse_grid(words: Sequence[str]) -> dict[str, list[Value]]:
    """`--grid key=value,value`. A value with a comma in it needs a file."""
    grid: dict[str, list[Value]] = {}
    for word in words:
        key, text = _halves("--grid", word, "cstates.C3.exit_us=10,50")
        if key in grid:
            raise UserError(f"--grid {key}: is there twice; give all its values at once")
        values = [_value(part) for part in text.split(",")]
        if "" in values:
            raise UserError(f"--grid {word}: an empty value; write values with a comma between them, as in {key}=1,2")
        grid[key] = values
    return grid


def _halves(option: str, word: str, example: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not key or not equals:
        raise UserError(f"{option} {word}: no `=`; write {option} key=value, such as {option} {example}")
    return key, value


def _value(text: str) -> Value:
    """A number where the text is how a number is written; `010` and `1e3` stay as they are."""
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
