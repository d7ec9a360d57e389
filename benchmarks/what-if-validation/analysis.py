# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of `what-if-validation`: how far a what-if is off where gem5 says what is true."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.errors import UserError
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import number
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs
from lull.whatif import version

from . import conditions, held_out, judging, means
from .errors import NAMES, Errors, Row, errors

MOST_CORES, MOST_P99, MOST_RESTS = 3.0, 5.0, 1.0
"""The largest mean errors: per cent of the cores' joules, per cent of the p99, percentage points of residency."""
FASTER = 1000.0
GOALS = {"cores_j": MOST_CORES, "p99_us": MOST_P99, "rests_pp": MOST_RESTS}
MEANS_COLUMNS = (
    "cores_j", "cores_j_single", "cores_j_true_pm", "p99_us", "p99_us_single", "p99_us_true_pm",
    "rests_pp", "rests_pp_single",
)  # fmt: skip
AGAIN = 0.999
_LISTED = 60
_SHOWN = (0.5, 0.95, 1.0)
"""Quantiles of the errors."""


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
    judged = judging.judge(numbers, judging.circumstances(rows, numbers))
    quoted = {
        "errors": df_errors(rows, len(there), numbers, judged.own), "bars": judging.df_bars(numbers, judged),
        "choices": df_choices(rows), "by_condition": conditions.df_by_condition(rows, numbers, judged),
    }  # fmt: skip
    summary = (
        f"## Errors\n\n{asked}\n\n{_errors_text(quoted['errors'])}\n"
        f"## Error bars\n\n{judging.bars_text(quoted['bars'])}\n"
        f"## What makes it worse\n\n{conditions.conditions_text(quoted['by_condition'])}\n"
        f"## Questions\n\nThe {_LISTED} questions whose joules are farthest off; the table `points` has all.\n\n"
        + _points_text(rows)
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
            f"the error bar of a mean holds {judging.COVERED:.0%} of the true means",
            within >= judging.COVERED * count,
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
    changed = np.abs(judging.column(numbers, "predicted") - judging.column(numbers, "recorded")) > own
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
        for at, row in sorted(enumerate(rows), key=lambda one: -off["cores_j"][one[0]])[:_LISTED]
    ]  # fmt: skip
    heads = (
        "recorded", "asked", "cores, mJ: recorded", "predicted", "true", "error %", "p99, µs: recorded", "predicted",
        "true", "error %", "residencies, points", "times as fast",
    )  # fmt: skip
    return markdown_table(heads, lines)


def checks(rows: Sequence[Row], judged: judging.Judged) -> list[Check]:
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
                f"the error bar holds {judging.COVERED:.0%} of the true numbers, each group's by the factors of the "
                "others",
                bool(within.mean() >= judging.COVERED),
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
    of_others = np.nan_to_num(judging.bars_of_others(numbers, judging.circumstances(rows, numbers)), nan=0.0)
    ratio = np.sort(np.minimum(judging.off_by(numbers) / np.maximum(of_others, 1e-300), 3))
    axes[1].step(ratio, np.arange(1, len(ratio) + 1) / len(ratio), where="post", color="black", label="all numbers")
    axes[1].axvline(1, color="0.5", linestyle=":")
    axes[1].axhline(judging.COVERED, color="0.5", linestyle=":")
    axes[1].set(xlabel="error, in error bars", ylabel="share of the numbers", xlim=(0, 2), ylim=(0, 1.02))
    figure.suptitle(f"A what-if beside other runs\n{label}")
    return figure
