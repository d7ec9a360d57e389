# SPDX-License-Identifier: BSD-3-Clause
"""What a user asks of a sweep: from a sweep file, from options, or from both."""

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
    """The content of a sweep file. Options of `lull sweep` have the same names, and override the file."""

    scenario: Annotated[str, Field(min_length=1)]
    platform: str | None = None
    """If not given, the scenario's own. The same holds for `cpu` and `stats_period_s`."""
    cpu: CpuMode | None = None
    stats_period_s: Period | None = None
    points: list[str] = Field(default_factory=list)
    """Names or patterns of the scenario's points; if not given, all points."""
    set: dict[str, Value] = Field(default_factory=dict)
    """Settings that are the same at every point."""
    grid: dict[str, Annotated[list[Value], Field(min_length=1)]] = Field(default_factory=dict)
    """The axes: a key of `set`, or `platform` or `cpu`, with its values. Every combination runs."""
    seeds: Annotated[int, Field(ge=1, le=SEEDS_MAX)] = 1
    """The number of seeds: every combination runs with the seeds 1 to `seeds`."""


def load(path: Path) -> SweepAsked:
    name = yaml_file.shown(path)
    data = yaml_file.read(path, name, "sweep", MANUAL)
    with explained(name, SweepAsked):
        return SweepAsked.model_validate(data)


def parse_set(words: Sequence[str]) -> dict[str, Value]:
    """Return the values of `--set key=value` words. The last one for a key counts."""
    return {key: _value(text) for key, text in (_halves("--set", word, "count=50") for word in words)}


def parse_grid(words: Sequence[str]) -> dict[str, list[Value]]:
    """Return the values of `--grid key=value,value` words. A value with a comma in it needs a sweep file."""
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
    """Return a truth value or a number if the text is one in its usual form; else the text, such as `010` or `1e3`."""
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _DECIMAL.fullmatch(text) else text
