# SPDX-License-Identifier: BSD-3-Clause
"""Two runs or two sweeps: what was asked of them differently, and what came out differently.

Points are set beside each other by their title, which holds every setting but the seed. Seeds are the repetitions: with
two or more on both sides, the difference of means has a 95 % interval and a probability (Welch's t, which assumes no
equal variances; a bootstrap of two to five seeds would be far too narrow); with fewer, neither can be given and that is
said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lull.compare import measures
from lull.compare.samples import Samples
from lull.figures.sample import Sample
from lull.rundir.manifest import makers
from lull.runspec.dotted import differing, flat
from lull.statistics import student
from lull.statistics.bootstrap import Numbers

ENOUGH = 2
"""Seeds on each side, below which nothing is known of their spread."""
SIGNIFICANT = 0.05
NO_SPREAD = "no spread within either side, so there is no test: simulations of all seeds came out the same"
_SEED = ("seed",)


@dataclass(frozen=True)
class SettingDifference:
    key: str
    first: Any
    second: Any


@dataclass(frozen=True)
class Difference:
    """The difference of one measure at one point. `why` says why `low`, `high` and `p` are None where they are."""

    point: str
    measure: str
    unit: str
    first: float
    second: float
    n_first: int
    n_second: int
    low: float | None = None
    high: float | None = None
    p: float | None = None
    why: str = ""

    @property
    def change(self) -> float | None:
        """The difference as a share of the first."""
        return self.second / self.first - 1 if self.first else None

    @property
    def significant(self) -> bool | None:
        """True for a significant difference; None where this cannot be told."""
        return None if self.p is None else self.p < SIGNIFICANT


@dataclass(frozen=True)
class Comparison:
    settings: list[SettingDifference]
    only_first: list[str]
    only_second: list[str]
    """Points that have no counterpart."""
    differences: list[Difference]
    same: int
    """Measures that came out equal everywhere, to the last digit."""


def compare(first: Samples, second: Samples) -> Comparison:
    ours, theirs = first.by_title(), second.by_title()
    both = [title for title in ours if title in theirs]
    if not both and len(ours) == len(theirs) == 1:  # two single configurations may be called anything
        (one,), (other,) = ours, theirs
        pairs = [(one if one == other else f"{one} / {other}", ours[one], theirs[other])]
        both = [one]
        ours, theirs = {one: ours[one]}, {one: theirs[other]}
    else:
        pairs = [(title, ours[title], theirs[title]) for title in both]
    differences: list[Difference] = []
    same = 0
    for title, left, right in pairs:
        for found in _measures(title, left, right):
            if found.first == found.second and found.low is None:
                same += 1
            else:
                differences.append(found)
    return Comparison(
        settings=_settings(pairs),
        only_first=[title for title in ours if title not in theirs],
        only_second=[title for title in theirs if title not in ours],
        differences=differences,
        same=same,
    )


def difference(point: str, measure: str, first: Numbers, second: Numbers) -> Difference:
    """Means, and what is known of their difference."""
    found = Difference(
        point, measure, measures.unit_of(measure), float(first.mean()), float(second.mean()), len(first), len(second)
    )
    if min(len(first), len(second)) < ENOUGH:
        fewest = min(len(first), len(second))
        return _with(found, why=f"n = {fewest}: one seed says nothing of the spread, so no significance can be given")
    if not (first.var() + second.var()):
        return _with(found, why=NO_SPREAD)
    low, high, p = student.welch(first, second)
    return _with(found, low=low, high=high, p=p)


def _measures(title: str, left: Sequence[Sample], right: Sequence[Sample]) -> list[Difference]:
    ours, theirs = ([measures.of_point(point) for point in side] for side in (left, right))
    found = []
    for name in dict.fromkeys(name for row in (*ours, *theirs) for name in row):
        first, second = (np.array([row[name] for row in side if name in row]) for side in (ours, theirs))
        if len(first) and len(second):
            found.append(difference(title, name, first, second))
    return found


def _settings(pairs: Sequence[tuple[str, Sequence[Sample], Sequence[Sample]]]) -> list[SettingDifference]:
    """The differences in spec and manifest. A difference that all pairs share is told once."""
    found: dict[str, dict[str, SettingDifference]] = {}
    for title, left, right in pairs:
        ours, theirs = flat(_about(left)), flat(_about(right))
        for key in differing(ours, theirs):
            found.setdefault(key, {})[title] = SettingDifference(key, ours.get(key), theirs.get(key))
    told: list[SettingDifference] = []
    for key, by_title in found.items():
        distinct = {repr((one.first, one.second)): one for one in by_title.values()}
        if len(distinct) == 1 and len(by_title) == len(pairs):
            told += distinct.values()
        else:
            told += [SettingDifference(f"{key} ({title})", one.first, one.second) for title, one in by_title.items()]
    return told


def _about(points: Sequence[Sample]) -> dict[str, Any]:
    """Return what a result depends on. The result does not depend on the host and the wall clock."""
    spec = points[0].run.spec.model_dump(mode="json")
    manifest = points[0].run.manifest
    return {
        **{key: value for key, value in spec.items() if key not in _SEED},
        "seeds": sorted(point.seed for point in points),
        **makers(manifest["engine"], manifest["artifacts"]),
        "lull": manifest.get("lull", {}).get("commit"),
    }


def _with(found: Difference, **changes: Any) -> Difference:
    return Difference(**{**vars(found), **changes})
