# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of `what-if-validation`: how far a what-if is off where gem5 says what is true."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from matplotlib.figure import Figure

from lull.errors import UserError
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import number
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs
from lull.whatif import bars, version
from lull.whatif.bars import Circumstances
from lull.whatif.chain import OF_CPUS
from lull.whatif.source import FREE_CLOCKS

from . import held_out, means

MOST_CORES, MOST_P99, MOST_RESTS = 3.0, 5.0, 1.0
"""The largest mean errors: per cent of the cores' joules, per cent of the p99, percentage points of residency."""
COVERED = 0.95
FASTER = 1000.0
GOALS = {"cores_j": MOST_CORES, "p99_us": MOST_P99, "rests_pp": MOST_RESTS}
MEANS_COLUMNS = (
    "cores_j", "cores_j_single", "cores_j_true_pm", "p99_us", "p99_us_single", "p99_us_true_pm",
    "rests_pp", "rests_pp_single",
)  # fmt: skip
AGAIN = 0.999
FIXED, FREE, TURNS, ALL = "fixed", "schedutil", "in turns", "all"
CIRCUMSTANCES = {
    FIXED: Circumstances(),
    FREE: Circumstances(free_clocks=True),
    TURNS: Circumstances(free_clocks=True, in_turns=True),
}
"""From the best on. All runs whose CPUs wake each other have `schedutil`."""
_IN_POINTS = ("residency", "off")
"""Kinds of numbers that are percent already."""
_SHOWN = (0.5, 0.95, 1.0)
"""Quantiles of the errors."""

Row = dict[str, Any]
Errors = npt.NDArray[np.float64]


def analyse(runs: Runs) -> Result:
    if not runs.timed:
        raise UserError(
            f"{runs.path}: made by QEMU, which has no timing to predict; "
            f"run `./lull run {runs.scenario} -e gem5` where there is a gem5"
        )
    boots = [run for run in runs.runs if run.group == means.GROUP]
    found = held_out.tables([run for run in runs.runs if run.group != means.GROUP])
    if (of_boots := means.table(boots)) is not None:
        found["means"] = of_boots
    if not found:
        raise UserError(
            f"{runs.path}: no group has two runs on a platform, of which one is predicted from the other; "
            "run more points of a group"
        )
    return conclude(found, runs.names)


def code() -> dict[str, str]:
    """Beside the runs the answers depend on the replay: with another one, published rows are made again."""
    return {"replay": version.replay()}


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    parts = [_of_single_runs(tables, points)] if "points" in tables else []
    parts += [_of_means(tables["means"].to_pylist())] if "means" in tables else []
    return Result(
        "\n".join(part.summary for part in parts),
        {**tables, **{name: table for part in parts for name, table in part.tables.items()}},
        [check for part in parts for check in part.checks],
    )


def _of_single_runs(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """What one run predicts for one other run."""
    rows, numbers = tables["points"].to_pylist(), tables["numbers"]
    there = {name for row in rows for name in (row["point"], row["recorded"])}
    every = [name for name in points if name.partition("/")[0] != means.GROUP]
    so_far = f"{len(there)} of {len(every)} points have run so far. " if len(there) < len(every) else ""
    asked = (
        f"{so_far}Each of the {len(there)} runs is asked of each other run of its group and platform, which makes "
        f"{len(rows)} questions. Errors are without their sign. Beside them is how far one is off who takes the "
        "recorded run itself for the answer, and in how many questions the recorded run is nearer to the truth. "
        "*Clear*: in so many questions the predicted change is larger than its own error bar."
    )
    judged = judge(numbers, circumstances(rows, numbers))
    quoted = {
        "errors": df_errors(rows, len(there), numbers, judged.own), "bars": df_bars(numbers, judged),
        "choices": df_choices(rows), "by_condition": df_by_condition(rows, numbers, judged),
    }  # fmt: skip
    summary = (
        f"## Errors\n\n{asked}\n\n{_errors_text(quoted['errors'])}\n"
        f"## Error bars\n\n{_bars_text(quoted['bars'])}\n"
        f"## What makes it worse\n\n{_conditions_text(quoted['by_condition'])}\n"
        f"## Every question\n\n{_points_text(rows)}"
    )
    return Result(summary, quoted, [*checks(rows, judged), check_choices(quoted["choices"])])


def _of_means(rows: Sequence[Row]) -> Result:
    """What the mean of several boots predicts for the mean of others."""
    table = means.df_errors(rows)
    lines = table.to_pylist()
    counted, early = ([line for line in lines if line["early"] == which] for which in (False, True))
    boots, begin_ms = rows[0]["boots"], next(row["from_ms"] for row in rows if not row["early"])
    text = (
        f"## Means of boots\n\nThe mean of {boots} boots is asked of the mean of {rows[0]['true_boots']} other boots, "
        "and so is each of these boots by itself (*one boot*). Where no settings change, only the boots differ. "
        f"*Known to* is half the 95 % interval of the true mean over its boots. Runs count from {begin_ms:g} ms on.\n\n"
        + _means_text(counted)
        + f"\n### The same, counted from {means.EARLY_MS:g} ms on\n\nProgram and workers of Linux are still starting "
        "then, for longer where exits are slow.\n\n" + _means_text(early)
    )
    off = {name: _mean_of(counted, name, changed=True) for name in NAMES}
    found = [
        Check(
            f"mean error of {NAMES[name]}, of means of boots: at most {most:g}",
            off[name] <= most,
            f"{off[name]:.3g}; {_mean_of(counted, f'{name}_single', changed=True):.3g} by one boot; "
            f"{_mean_of(counted, name, changed=False):.3g} without any change; "
            f"{_mean_of(early, name, changed=True):.3g} counted from {means.EARLY_MS:g} ms on",
        )
        for name, most in GOALS.items()
        if not math.isnan(off[name])
    ]
    within, count = sum(line["inside"] for line in counted), sum(line["numbers"] for line in counted)
    found.append(
        Check(
            f"the error bar of a mean holds {COVERED:.0%} of the true means",
            within >= COVERED * count,
            f"{within} of {count}, {within / count:.1%}",
        )
    )
    return Result(text, {"means_errors": table}, found)


def _mean_of(lines: Sequence[Row], name: str, changed: bool) -> float:
    known = [line[name] for line in lines if line["changed"] == changed and line[name] is not None]
    return sum(known) / len(known) if known else math.nan


def _means_text(lines: Sequence[Row]) -> str:
    cells = [
        (
            line["recorded"], line["asked"].partition("/")[2],
            *("-" if line[name] is None else number(line[name], 3) for name in MEANS_COLUMNS),
            f"{line['inside'] / line['numbers']:.1%}",
        )
        for line in sorted(lines, key=lambda line: line["changed"])
    ]  # fmt: skip
    heads = (
        "recorded", "asked", "cores, error %", "one boot", "known to, %", "p99, error %", "one boot", "known to, %",
        "residencies, points", "one boot", "inside their bars",
    )  # fmt: skip
    return markdown_table(heads, cells)


def draw(stored: Stored) -> list[Drawing]:
    points, numbers = stored.rows("points"), stored.rows("numbers")
    if points is None or numbers is None:
        return []
    figure = plot_errors(points.to_pylist(), numbers, stored.label)
    return [Drawing("errors", figure, "Held-out runs: how many are predicted how well, and within the error bar.")]


def errors(rows: Sequence[Row], said: str = "said") -> dict[str, Errors]:
    """By how much each point is off: of the prediction, or of the recorded run in its place."""
    found: dict[str, Errors] = {}
    for what in ("cores_j", "p99_us"):
        true = np.array([row[f"true_{what}"] for row in rows])
        found[what] = 100 * np.abs(np.array([row[f"{said}_{what}"] for row in rows]) / true - 1)
    if said == "said":
        found["rests_pp"] = np.array([row["rests_pp"] for row in rows])
    return found


NAMES = {
    "cores_j": "joules of the cores, %", "p99_us": "p99 of the wake-up latency, %", "rests_pp": "residencies, points",
}  # fmt: skip


def df_errors(rows: Sequence[Row], runs: int, numbers: pa.Table, own: Errors) -> pa.Table:
    """Of each kind of error, over all questions. `worse`: the questions in which the recorded run is nearer to the
    truth; `clear`: those whose predicted change is larger than lull's bar, `own`."""
    said, before = errors(rows), errors(rows, "before")
    clear = _clear(numbers, own)
    return pa.Table.from_pylist(
        [
            {
                "error": what, "runs": runs, "questions": len(rows), "mean": float(said[what].mean()),
                **dict(zip(("median", "most", "largest"), np.quantile(said[what], _SHOWN).tolist(), strict=True)),
                "before": float(before[what].mean()) if what in before else None,
                "worse": int((said[what] > before[what]).sum()) if what in before else None,
                "clear": clear.get(what),
            }
            for what in NAMES
        ]
    )  # fmt: skip


def _clear(numbers: pa.Table, own: Errors) -> dict[str, int]:
    """In how many questions lull is sure of a change, by the number that is asked for."""
    changed = np.abs(_column(numbers, "predicted") - _column(numbers, "recorded")) > own
    keys = list(zip(*(numbers[name].to_pylist() for name in ("what", "cpu", "of")), strict=True))
    return {
        name: sum(sure for key, sure in zip(keys, changed.tolist(), strict=True) if key == wanted)
        for name, wanted in (("cores_j", held_out.CORES_J), ("p99_us", held_out.P99_US))
    }


def _errors_text(found: pa.Table) -> str:
    columns = ("mean", "median", "most", "largest", "before", "worse", "clear")
    lines = [
        (NAMES[row["error"]], *("-" if row[name] is None else f"{row[name]:.3g}" for name in columns))
        for row in found.to_pylist()
    ]
    heads = ("error of", "mean", "median", "95 %", "largest", "mean without a what-if", "recorded run nearer", "clear")
    return markdown_table(heads, lines)


def df_choices(rows: Sequence[Row]) -> pa.Table:
    """Of the recorded runs: the share of choices that come out again where no setting changes."""
    shares: dict[str, float] = {}
    for row in rows:  # some published answers are of an earlier run with the same name: the worse one counts
        shares[row["recorded"]] = min(row["choices"], shares.get(row["recorded"], 1.0))
    least = min(shares, key=lambda name: shares[name])
    return pa.Table.from_pylist(
        [
            {
                "runs": len(shares), "mean": float(np.mean(list(shares.values()))), "least": shares[least],
                "least_of": least, "whole": sum(share == 1 for share in shares.values()),
            }
        ]
    )  # fmt: skip


def check_choices(found: pa.Table) -> Check:
    (row,) = found.to_pylist()
    return Check(
        f"a replay without a change makes {AGAIN:.1%} of the recorded choices again, on average over runs",
        row["mean"] >= AGAIN,
        f"{row['mean']:.2%}; all choices of {row['whole']} of {row['runs']} runs; at least {row['least']:.1%}, of "
        f"{row['least_of']}",
    )


def factors(numbers: pa.Table, of: Sequence[str], without: str | None = None) -> dict[tuple[str, str], float]:
    """Of each kind of number, under each of CIRCUMSTANCES, the factor on its error bars: what 95 of 100 numbers need in
    the group that needs most.

    Numbers of one load err together, and a new load is like another group, so that groups count and not numbers. One
    may be left out. Where no group has such a number under some circumstances, the factor is that of the next worse
    ones. No factor is below 1: of a few numbers that came out better than the sum allows, the next ones may not.
    `of` has the circumstances of each number.
    """
    kinds, groups, under = (np.array(one) for one in (numbers["kind"].to_pylist(), numbers["group"].to_pylist(), of))
    scores = _off(numbers) / _column(numbers, "base")
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
    return np.array(found) * _column(numbers, "base")


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
    bar, off = bars_of_others(numbers, of), _off(numbers)
    return Judged(of, own_bars(numbers, of), off, off <= bar * (1 + 1e-9), ~np.isnan(bar))


def _off(numbers: pa.Table) -> Errors:
    return np.abs(_column(numbers, "predicted") - _column(numbers, "true"))


def _column(numbers: pa.Table, name: str) -> Errors:
    values: Errors = numbers[name].to_numpy().astype(np.float64)
    return values


def own_bars(numbers: pa.Table, of: Sequence[str]) -> Errors:
    """The error bar that `lull what-if` gives each number."""
    kinds = numbers["kind"].to_pylist()
    found: Errors = np.array([bars.factor(kind, CIRCUMSTANCES[case]) for kind, case in zip(kinds, of, strict=True)])
    return found * _column(numbers, "base")


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
                    "inside": _share(judged.within[known]), "inside_own": _share(held[mine]),
                    "needed": needed.get((kind, case)),
                    "factor": bars.factor(kind, CIRCUMSTANCES[case]) if ALL not in (kind, case) else None,
                    "width": _middle(widths[mine]), "off": _middle(off[mine]),
                }
            )  # fmt: skip
    return pa.Table.from_pylist(found)


def _of_number(numbers: pa.Table, values: Errors) -> Errors:
    """Values in percent of their numbers, but of residencies in points as they are; NaN of a number that is 0."""
    points = np.isin(np.array(numbers["kind"].to_pylist()), _IN_POINTS)
    predicted = _column(numbers, "predicted")
    found: Errors = np.where(points, values, 100 * values / np.where(predicted > 0, predicted, np.nan))
    return found


def _middle(values: Errors) -> float | None:
    known = values[~np.isnan(values)]
    return round(float(np.median(known)), 6) if known.size else None


def _share(held: npt.NDArray[np.bool_]) -> float | None:
    return 100 * float(held.mean()) if held.size else None


def _bars_text(found: pa.Table) -> str:
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


def conditions(row: Row) -> dict[str, str]:
    factor = row["factor"]
    return {
        "platform": row["platform"],
        "load": row["load"],
        "clocks": row["cpufreq"],
        "exit": "as recorded" if factor == 1 else "shorter" if factor < 1 else "longer",
        "governor": f"to {row['governor']}" if row["other_governor"] else "as recorded",
        "deepest state": f"to {row['state']}" if row["other_state"] else "as recorded",
        "residency": "another" if row["other_residency"] else "as recorded",
        "counted from": f"{row.get('from_ms') or means.EARLY_MS:g} ms",
        "when lull was mended": "looked at" if row["looked_at"] else "not there yet",
        "asked of": "the group's first run" if row["of_first"] else "another run",
    }


def df_by_condition(rows: Sequence[Row], numbers: pa.Table, judged: Judged) -> pa.Table:
    """Mean errors of the questions that have something in common, and `before`: how far the joules of the recorded run
    are off that is taken for the answer."""
    asked = list(zip(numbers["recorded_run"].to_pylist(), numbers["point"].to_pylist(), strict=True))
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        for condition in conditions(row).items():
            found.setdefault(condition, []).append(row)
    lines = []
    for (kind, value), own in sorted(found.items()):
        if len(own) == len(rows):
            continue  # tells nothing apart
        off, before = errors(own), errors(own, "before")
        questions = {(row["recorded"], row["point"]) for row in own}
        lines.append(
            {
                "condition": kind, "value": value, "questions": len(own),
                **{name: float(off[what].mean()) for what, name in _SHORT.items()},
                "before": float(before["cores_j"].mean()),
                "inside": _share(judged.within[judged.known & np.array([one in questions for one in asked])]),
            }
        )  # fmt: skip
    return pa.Table.from_pylist(lines, schema=_BY_CONDITION)


_SHORT = {"cores_j": "cores", "p99_us": "p99", "rests_pp": "rests"}
_BY_CONDITION = pa.schema(
    [("condition", pa.string()), ("value", pa.string()), ("questions", pa.int64())]
    + [(name, pa.float64()) for name in (*_SHORT.values(), "before", "inside")]
)


def _conditions_text(found: pa.Table) -> str:
    columns = ("cores", "before", "p99", "rests")
    lines = [
        (
            row["condition"], row["value"], row["questions"], *(f"{row[name]:.3g}" for name in columns),
            "-" if row["inside"] is None else f"{row['inside']:.1f}%",
        )
        for row in found.to_pylist()
    ]  # fmt: skip
    heads = [f"mean error of {name}" for name in NAMES.values()]
    return markdown_table(
        ("condition", "", "questions", heads[0], "the same without a what-if", *heads[1:], "inside"), lines
    )


def _points_text(rows: Sequence[Row]) -> str:
    off = errors(rows)
    lines = [
        (
            row["recorded"], row["point"].partition("/")[2],
            *(f"{1e3 * row[f'{which}_cores_j']:.4g}" for which in ("before", "said", "true")),
            f"{off['cores_j'][at]:.2g}",
            *(f"{row[f'{which}_p99_us']:.5g}" for which in ("before", "said", "true")),
            f"{off['p99_us'][at]:.2g}", f"{row['rests_pp']:.2g}", f"{row['gem5_s'] / row['what_if_s']:.2g}",
        )
        for at, row in enumerate(rows)
    ]  # fmt: skip
    heads = (
        "recorded", "asked", "cores, mJ: recorded", "predicted", "true", "error %", "p99, µs: recorded", "predicted",
        "true", "error %", "residencies, points", "times as fast",
    )  # fmt: skip
    return markdown_table(heads, lines)


def checks(rows: Sequence[Row], judged: Judged) -> list[Check]:
    off = errors(rows)
    found = [
        Check(
            f"mean error of {NAMES[what]}: at most {most:g}",
            bool(off[what].mean() <= most),
            f"{off[what].mean():.3g}; the largest of {len(rows)} is {off[what].max():.3g}, of "
            f"{rows[int(off[what].argmax())]['point']} from {rows[int(off[what].argmax())]['recorded']}",
        )
        for what, most in GOALS.items()
    ]
    within = judged.within[judged.known]
    if within.size:  # of one group alone nothing can be said
        found.append(
            Check(
                f"the error bar holds {COVERED:.0%} of the true numbers, each group's by the factors of the others",
                bool(within.mean() >= COVERED),
                f"{int(within.sum())} of {len(within)}, {within.mean():.1%}",
            )
        )
    slowest = min(rows, key=lambda row: row["gem5_s"] / row["what_if_s"])
    found.append(
        Check(
            "a further answer takes a thousandth of the time of its run on gem5, or less",
            slowest["gem5_s"] >= FASTER * slowest["what_if_s"],
            f"at least {slowest['gem5_s'] / slowest['what_if_s']:.3g} times as fast: "
            f"{1e3 * slowest['what_if_s']:.3g} ms in place of {slowest['gem5_s']:.3g} s, of {slowest['point']}",
        )
    )
    return found


def plot_errors(rows: Sequence[Row], numbers: pa.Table, label: str) -> Figure:
    figure, axes = style.panels(2, 2, 2.6)
    for line, (what, name) in zip(style.LINES, NAMES.items(), strict=False):
        own = np.sort(errors(rows)[what])
        axes[0].step(
            own, np.arange(1, len(own) + 1) / len(own), where="post", color="black", linestyle=line, label=name
        )
    axes[0].set(xlabel="error", ylabel="share of the questions", ylim=(0, 1.02))
    axes[0].set_xlim(0, None)
    axes[0].legend()
    of_others = np.nan_to_num(bars_of_others(numbers, circumstances(rows, numbers)), nan=0.0)
    ratio = np.sort(np.minimum(_off(numbers) / np.maximum(of_others, 1e-300), 3))
    axes[1].step(ratio, np.arange(1, len(ratio) + 1) / len(ratio), where="post", color="black", label="all numbers")
    axes[1].axvline(1, color="0.5", linestyle=":")
    axes[1].axhline(COVERED, color="0.5", linestyle=":")
    axes[1].set(xlabel="error, in error bars", ylabel="share of the numbers", xlim=(0, 2), ylim=(0, 1.02))
    figure.suptitle(f"A what-if beside other runs\n{label}")
    return figure
