# SPDX-License-Identifier: BSD-3-Clause
"""Which true numbers lie within their error bar, each group's by the factors of the other groups."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lull.plotting.markdown import markdown_table
from lull.whatif import bars
from lull.whatif.bars import Circumstances
from lull.whatif.chain import OF_CPUS
from lull.whatif.source import FREE_CLOCKS

from .errors import Errors, Row

COVERED = 0.95
FIXED, FREE, TURNS, ALL = "fixed", "schedutil", "in turns", "all"
CIRCUMSTANCES = {
    FIXED: Circumstances(),
    FREE: Circumstances(free_clocks=True),
    TURNS: Circumstances(free_clocks=True, in_turns=True),
}
"""From the best on. Of runs whose CPUs wake each other, the clocks make no difference: those factors are larger."""
_IN_POINTS = ("residency", "off")
"""Kinds of numbers that are percent already."""


def factors(numbers: pa.Table, of: Sequence[str], without: str | None = None) -> dict[tuple[str, str], float]:
    """Of each kind of number, under each of CIRCUMSTANCES, the factor on its error bars: what 95 of 100 numbers need in
    the group that needs most.

    Numbers of one load err together, and a new load is like another group, so that groups count and not numbers. One
    may be left out. Where no group has such a number under some circumstances, the factor is that of the next worse
    ones. No factor is below 1: of a few numbers that came out better than the sum allows, the next ones may not.
    `of` has the circumstances of each number.
    """
    kinds, groups, under = (np.array(one) for one in (numbers["kind"].to_pylist(), numbers["group"].to_pylist(), of))
    scores = off_by(numbers) / column(numbers, "base")
    found: dict[tuple[str, str], float] = {}
    for group, kind, case in dict.fromkeys(zip(groups.tolist(), kinds.tolist(), under.tolist(), strict=True)):
        if group != without:
            mine = scores[(groups == group) & (kinds == kind) & (under == case)]
            needed = float(np.quantile(mine, COVERED, method="higher"))
            found[kind, case] = max(found.get((kind, case), 1.0), needed)
    for worse, case in pairwise(reversed(CIRCUMSTANCES)):
        for kind in dict.fromkeys(kinds.tolist()):
            if (kind, worse) in found:
                found.setdefault((kind, case), found[kind, worse])
    return found


def bars_of_others(numbers: pa.Table, of: Sequence[str]) -> Errors:
    """The error bar of each number with the factors of all groups but its own. Where no other group has such a number,
    it has no bar."""
    groups, kinds = numbers["group"].to_pylist(), numbers["kind"].to_pylist()
    others = {group: factors(numbers, of, group) for group in dict.fromkeys(groups)}
    found = [others[group].get((kind, case), math.nan) for group, kind, case in zip(groups, kinds, of, strict=True)]
    return np.array(found) * column(numbers, "base")


class Judged(NamedTuple):
    """Of each number."""

    of: Sequence[str]
    """The name in CIRCUMSTANCES."""
    own: Errors
    """The error bar that `lull what-if` gives it."""
    off: Errors
    """By how much the prediction is off."""
    within: npt.NDArray[np.bool_]
    """It lies within the bar by the other groups' factors."""
    known: npt.NDArray[np.bool_]
    """It has such a bar."""


def judge(numbers: pa.Table, of: Sequence[str]) -> Judged:
    bar, off = bars_of_others(numbers, of), off_by(numbers)
    return Judged(of, own_bars(numbers, of), off, off <= bar * (1 + 1e-9), ~np.isnan(bar))


def off_by(numbers: pa.Table) -> Errors:
    return np.abs(column(numbers, "predicted") - column(numbers, "true"))


def column(numbers: pa.Table, name: str) -> Errors:
    values: Errors = numbers[name].to_numpy().astype(np.float64)
    return values


def own_bars(numbers: pa.Table, of: Sequence[str]) -> Errors:
    """The error bar that `lull what-if` gives each number."""
    kinds = numbers["kind"].to_pylist()
    found: Errors = np.array([bars.factor(kind, CIRCUMSTANCES[case]) for kind, case in zip(kinds, of, strict=True)])
    return found * column(numbers, "base")


def circumstances(rows: Sequence[Row], numbers: pa.Table) -> list[str]:
    """Of each number, the name in CIRCUMSTANCES of what its recorded run was like."""
    clocks = {row["recorded"]: row["cpufreq"] for row in rows}
    turns = _in_turns(numbers)
    asked = zip(numbers["recorded_run"].to_pylist(), numbers["point"].to_pylist(), strict=True)
    return [
        TURNS if question in turns else FREE if clocks.get(question[0]) == FREE_CLOCKS else FIXED for question in asked
    ]


def _in_turns(numbers: pa.Table) -> set[tuple[str, str]]:
    """The questions whose recorded run has CPUs that wake each other, each by its own numbers: some published answers
    are of an earlier run with the same name."""
    woken: dict[tuple[str, str], dict[str, float]] = {}
    for row in numbers.to_pylist():
        if row["kind"] == "wake-ups":
            own = woken.setdefault((row["recorded_run"], row["point"]), {})
            own[row["of"]] = own.get(row["of"], 0.0) + row["recorded"]
    return {question for question, own in woken.items() if own.get(OF_CPUS, 0.0) >= bars.TURNS * sum(own.values())}


def df_bars(numbers: pa.Table, judged: Judged) -> pa.Table:
    """Of each kind of number and circumstances: the share inside by other groups' factors and inside lull's own bars,
    and the factors."""
    kinds, under = np.array(numbers["kind"].to_pylist()), np.array(judged.of)
    held, needed = judged.off <= judged.own * (1 + 1e-9), factors(numbers, judged.of)
    widths, off = (_of_number(numbers, one) for one in (judged.own, judged.off))
    found = []
    for kind in (*dict.fromkeys(kinds.tolist()), ALL):
        for case in (*CIRCUMSTANCES, ALL):
            mine = ((kinds == kind) | (kind == ALL)) & ((under == case) | (case == ALL))
            known = mine & judged.known
            if not mine.any():
                continue
            found.append(
                {
                    "kind": kind, "circumstances": case, "numbers": int(known.sum()),
                    "inside": share(judged.within[known]), "inside_own": share(held[mine]),
                    "needed": needed.get((kind, case)),
                    "factor": bars.factor(kind, CIRCUMSTANCES[case]) if ALL not in (kind, case) else None,
                    "width": _middle(widths[mine]), "off": _middle(off[mine]),
                }
            )  # fmt: skip
    return pa.Table.from_pylist(found)


def _of_number(numbers: pa.Table, values: Errors) -> Errors:
    """Values in percent of their numbers, but of residencies in points as they are; NaN of a number that is 0."""
    points = np.isin(np.array(numbers["kind"].to_pylist()), _IN_POINTS)
    predicted = column(numbers, "predicted")
    found: Errors = np.where(points, values, 100 * values / np.where(predicted > 0, predicted, np.nan))
    return found


def _middle(values: Errors) -> float | None:
    known = values[~np.isnan(values)]
    return round(float(np.median(known)), 6) if known.size else None


def share(held: npt.NDArray[np.bool_]) -> float | None:
    return 100 * float(held.mean()) if held.size else None


def bars_text(found: pa.Table) -> str:
    columns = (
        ("inside", ".1f"), ("inside_own", ".1f"), ("needed", ".3g"), ("factor", ".3g"), ("width", ".3g"),
        ("off", ".2g"),
    )  # fmt: skip
    lines = [
        (
            row["kind"], row["circumstances"], str(row["numbers"]),
            *("-" if row[name] is None else f"{row[name]:{how}}" for name, how in columns),
        )
        for row in found.to_pylist()
        if row["circumstances"] != ALL or row["kind"] == ALL
    ]  # fmt: skip
    heads = (
        "numbers of", "recorded run", "numbers", "inside, %", "inside lull's bars, %", "factor of all groups",
        "lull's factor", "lull's bar, median, %", "error, median, %",
    )  # fmt: skip
    return (
        "An error bar is a sum, times a factor of its kind of number (`scripts/lull/whatif/bars.py`). The factor "
        f"depends on the recorded run: `{FIXED}` clocks, clocks that Linux sets (`{FREE}`), or at least "
        f"{bars.TURNS:.0%} of the wake-ups by another CPU (`{TURNS}`). *Inside* is the share of the true numbers "
        "within their bar, each group's by the factors that the **other** groups need: what 95 of 100 numbers need in "
        "the one of them that needs most, and 1 at least. Lull's own factors are from all groups, so that its own "
        "share says nothing new. The last two columns say how wide half of the bars are at least, and how large half "
        "of the errors are: in percent of the predicted number, of residencies (`residency`, `off`) in points.\n\n"
        + markdown_table(heads, lines)
    )
