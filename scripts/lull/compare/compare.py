# SPDX-License-Identifier: BSD-3-Clause
"""Compares two runs or two sweeps: which settings differ, and which measures.

Points are paired by their title, which holds every setting except the seed. Seeds are repetitions. With two or more
seeds on both sides, the difference of means has a 95 % interval and a p-value. They are from Welch's t-test, which does
not assume equal variances. (A bootstrap of two to five seeds would give far too narrow intervals.) With fewer seeds,
there is neither, and the output says so.
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
"""The smallest number of seeds on each side for an interval and a p-value."""
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
    """The difference of one measure at one point. If `low`, `high` and `p` are None, `why` gives the reason."""

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
        """Return the difference as a share of the first value; None if that is 0."""
        return self.second / self.first - 1 if self.first else None

    @property
    def significant(self) -> bool | None:
        """Return true for a significant difference; None without a p-value."""
        return None if self.p is None else self.p < SIGNIFICANT


@dataclass(frozen=True)
class Comparison:
    settings: list[SettingDifference]
    only_first: list[str]
    only_second: list[str]
    """`only_first` and `only_second` are points without a counterpart."""
    differences: list[Difference]
    same: int
    """The number of measures that are equal on both sides, to the last digit."""


def compare(first: Samples, second: Samples) -> Comparison:
    ours, theirs = first.by_title(), second.by_title()
    both = [title for title in ours if title in theirs]
    if not both and len(ours) == len(theirs) == 1:  # one configuration each: compare them whatever their titles
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
    """Return the means of one measure, and interval and p-value of their difference if there are enough seeds."""
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
    """Return the differences in RunSpec and manifest. A difference that all pairs share is listed once."""
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
    """Return the part of RunSpec and manifest on which a result depends: no host, no wall-clock time."""
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
