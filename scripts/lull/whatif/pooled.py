# SPDX-License-Identifier: BSD-3-Clause
"""The mean of the answers for several repetitions of one run, with an error bar for the mean.

The bar has two parts. The systematic part is the model's error and the share of the predicted change. Repetitions do
not make it smaller, because it is about the same in each. The part for chance is the interval of the mean by Student's
t. It counts boots, not runs, because runs of the same boot share the state that the boot left behind.
"""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from lull.statistics import student
from lull.whatif import grid, prediction
from lull.whatif.prediction import CHOICE, TOTALS, Key, Predicted, Said
from lull.whatif.repetitions import ENOUGH

LEAST = 1 / 6
"""The smallest part for chance of a mean, relative to a single run's part over the square root of the number of boots.
It is needed because a task may wake a CPU once in each of three boots, but never in three others. In the group `boots`
of `what-if-validation`, bars of means hold for 98 % of the true means with it, and for 93 % without."""
Row = dict[str, Any]


def table(tables: Sequence[pa.Table], boots: Sequence[int], name: str) -> pa.Table:
    """Return the mean of the tables of what-ifs, or of grids, one for each run. `boots` has each run's boot."""
    if "settings" in tables[0].column_names:
        return pa.Table.from_pylist(points([one.to_pylist() for one in tables], boots, name))
    found = [
        [Predicted(*(row[field] for field in Predicted._fields)) for row in one.to_pylist() if row["what"] != CHOICE]
        for one in tables
    ]
    return prediction.table(rows(found, boots), name)


def rows(tables: Sequence[Sequence[Predicted]], boots: Sequence[int]) -> list[Predicted]:
    """Return the mean of each number. A latency is left out if one of the runs has too few wake-ups for it. Joules and
    counts that a run lacks are 0."""
    by_run = [by_key(one) for one in tables]
    found = []
    for key in sorted({key for own in by_run for key in own}):
        what, cpu, of = key
        if what == "latency" and not all(key in own for own in by_run):
            continue
        none = Predicted(what, prediction.UNITS[what], cpu, of, 0.0, 0.0, 0.0, 0.0, 0.0)
        own = [one.get(key, none) for one in by_run]
        recorded = _mean([row.recorded for row in own], boots)
        ideals = [row.ideal for row in own if row.ideal is not None]
        ideal = _mean(ideals, boots) if len(ideals) == len(own) else None
        said = mean([Said(row.predicted, row.error, row.chance) for row in own], boots)
        found.append(none._replace(recorded=recorded, ideal=ideal, **said._asdict()))
    return found


def points(tables: Sequence[Sequence[Row]], boots: Sequence[int], name: str) -> list[Row]:
    """Return the mean of each point of a grid, and mark the Pareto points among the means."""
    found: list[Row] = []
    for own in zip(*tables, strict=True):
        row: Row = {"run": name, "settings": own[0]["settings"]}
        for column in TOTALS:
            columns = prediction.columns_of(column)
            said = [Said(*(one[part] for part in columns)) for one in own]
            row |= dict(zip(columns, mean(said, boots), strict=True))
        found.append(row)
    best = grid.pareto([(row["energy_j"], row["latency_p99_us"]) for row in found])
    return [{**row, "pareto": is_best} for row, is_best in zip(found, best, strict=True)]


def mean(said: Sequence[Said], boots: Sequence[int]) -> Said:
    """Return the mean, its error bar, and the bar's part for chance."""
    each = _each([one.predicted for one in said], boots)
    middle, half = student.mean(each)
    assumed = _mean([one.chance for one in said], boots)
    systematic = _mean([one.error - one.chance for one in said], boots)
    # Equal answers do not show the effect of chance, and a few boots may have nearly equal answers by chance.
    spread = half if half is not None and max(each) > min(each) else 0.0
    measured = spread and len(set(boots)) >= ENOUGH
    chance = max(spread, assumed * (LEAST / math.sqrt(len(set(boots))) if measured else 1.0))
    return Said(middle, systematic + chance, chance)


def _mean(values: Sequence[float], boots: Sequence[int]) -> float:
    return student.mean(_each(values, boots))[0]


def _each(values: Sequence[float], boots: Sequence[int]) -> list[float]:
    """Return the mean of each boot; if there is only one boot, the values themselves."""
    by_boot: dict[int, list[float]] = {}
    for boot, value in zip(boots, values, strict=True):
        by_boot.setdefault(boot, []).append(value)
    return list(values) if len(by_boot) == 1 else [sum(own) / len(own) for own in by_boot.values()]


def by_key(found: Sequence[Predicted]) -> dict[Key, Predicted]:
    """Return the numbers by key. Numbers of tasks with the same name are added."""
    rows: dict[Key, Predicted] = {}
    for row in found:
        key = row.anywhere
        if key in rows:
            before = rows[key]
            numbers = ("recorded", "predicted", "error", "chance", "ideal")
            row = row._replace(**{name: getattr(before, name) + getattr(row, name) for name in numbers})
        rows[key] = row
    return rows
