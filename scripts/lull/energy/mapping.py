# SPDX-License-Identifier: BSD-3-Clause
"""Maps gem5's statistics to McPAT's events, by power-models/mapping: one table for each of gem5's models.

gem5 leaves some statistics out of a window if they are 0. A table lists these by name, for the versions of gem5 with
which it was tested. Any other missing statistic is an error, and so are parts that do not add up to their whole.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from lull.energy.windows import Window
from lull.errors import UserError
from lull.files import yaml_file
from lull.files.blocks import Block, explained, fault
from lull.files.paths import ROOT

FOLDER = ROOT / "power-models" / "mapping"

Stats = Mapping[str, float]
Matrix = NDArray[np.float64]

_TERM = re.compile(r"(?:(?P<times>[0-9.]+) \* )?(?P<name>[A-Za-z0-9_.:]+?)(?:<(?P<group>[a-z]+)>)?")
_ROUNDING = 1e-9


class MappedEvent(Block):
    from_: Annotated[list[str], Field(alias="from")]
    why: Annotated[str, Field(min_length=1)]


class SumCheck(Block):
    whole: str
    parts: Annotated[list[str], Field(min_length=1)]
    why: Annotated[str, Field(min_length=1)]


class EventMap(Block):
    model: str
    versions: Annotated[list[str], Field(min_length=1)]
    """Releases of gem5 with which the names were tested."""
    recognised_by: str | None = None
    """A statistic that only this model has."""
    classes: dict[str, list[str]] = Field(default_factory=dict)
    silent_when_zero: list[str] = Field(default_factory=list)
    events: Annotated[dict[str, MappedEvent], Field(min_length=1)]
    checks: list[SumCheck]

    @model_validator(mode="after")
    def _terms(self) -> "EventMap":
        for name, event in self.events.items():
            for number, term in enumerate(event.from_):
                match = _TERM.fullmatch(term)
                if match is None or (match["group"] and match["group"] not in self.classes):
                    where = ("events", name, "from", number)
                    raise fault(f"{term!r} is no statistic; write `name`, `2 * name` or `name::<group>`", *where)
        return self


@dataclass(frozen=True)
class Term:
    statistic: str
    times: float
    silent: bool


@dataclass(frozen=True, eq=False)
class Compiled:
    """The table for one object of gem5, with full names, as matrices. They are fast: each CPU and window needs them."""

    model: str
    versions: tuple[str, ...]
    statistics: tuple[str, ...]
    """The names of gem5's statistics, in the order of the matrices' columns."""
    silent: NDArray[np.bool_]
    """True for each statistic that gem5 leaves out if it is 0."""
    events: tuple[str, ...]
    times: Matrix
    """For each event, the factor of each statistic."""
    wholes: tuple[str, ...]
    whole: Matrix
    parts: Matrix
    """For each check, `whole` and `parts` give two sums that must be equal."""

    def counts(self, stats: Stats, gem5: str) -> dict[str, float]:
        """Return the events of one window. `gem5` is the version that wrote the statistics."""
        values = self._values(stats, gem5)
        for name, expected, found in zip(self.wholes, self.whole @ values, self.parts @ values, strict=True):
            if abs(found - expected) > _ROUNDING * expected:
                raise UserError(
                    f"{name}: {expected:g}, and its parts in the {self.model} table make {found:g}; gem5 "
                    f"{gem5} counts something under another name, so add it to power-models/mapping"
                )
        return dict(zip(self.events, (self.times @ values).tolist(), strict=True))

    def _values(self, stats: Stats, gem5: str) -> NDArray[np.float64]:
        names = self.statistics
        values = (
            stats.row(names) if isinstance(stats, Window) else np.array([stats.get(name, math.nan) for name in names])
        )
        if _release(gem5) in self.versions:
            values[np.isnan(values) & self.silent] = 0.0
        wrong = np.flatnonzero(~(values >= 0))
        if not wrong.size:
            return values
        statistic, value = names[wrong[0]], values[wrong[0]]
        if statistic not in stats:
            raise UserError(
                f"{statistic}: not among the statistics of gem5 {gem5}; the {self.model} table in "
                f"power-models/mapping knows the names of {', '.join(self.versions)}, so use that or amend the table"
            )
        raise UserError(
            f"{statistic}: {value:g} in gem5 {gem5}, where a count is 0 or more; the run is no use for energy"
        )


@cache
def load(name: str) -> EventMap:
    file = FOLDER / f"{name}.yaml"
    shown = yaml_file.shown(file)
    data: dict[str, Any] = yaml_file.read(file, shown, "mapping", "power-models/README.md")
    with explained(shown, EventMap):
        return EventMap.model_validate(data)


@cache
def compiled(name: str, prefix: str) -> Compiled:
    """Return the table `name` for the object of gem5 with the path `prefix`."""
    table = load(name)

    def expand(texts: Sequence[str]) -> tuple[Term, ...]:
        return tuple(term for text in texts for term in _expanded(table, text, prefix))

    events = {event: expand(entry.from_) for event, entry in table.events.items()}
    wholes = [expand([check.whole]) for check in table.checks]
    parts = [expand(check.parts) for check in table.checks]
    silent = {term.statistic: term.silent for terms in (*events.values(), *wholes, *parts) for term in terms}

    def matrix(sums: Collection[Sequence[Term]]) -> Matrix:
        places = {name: place for place, name in enumerate(silent)}
        found = np.zeros((len(sums), len(silent)))
        for row, terms in zip(found, sums, strict=True):
            for term in terms:
                row[places[term.statistic]] += term.times
        return found

    return Compiled(
        model=table.model,
        versions=tuple(table.versions),
        statistics=tuple(silent),
        silent=np.array(list(silent.values())),
        events=tuple(events),
        times=matrix(events.values()),
        wholes=tuple(whole[0].statistic for whole in wholes),
        whole=matrix(wholes),
        parts=matrix(parts),
    )


def _expanded(table: EventMap, text: str, prefix: str) -> list[Term]:
    match = _TERM.fullmatch(text)
    assert match is not None, text
    endings = table.classes[match["group"]] if match["group"] else [""]
    names = [match["name"] + ending for ending in endings]
    return [Term(f"{prefix}.{name}", float(match["times"] or 1), name in table.silent_when_zero) for name in names]


def _release(version: str) -> str:
    return ".".join(version.split(".")[:2])
