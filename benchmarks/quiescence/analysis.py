# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `quiescence`: the phone of the engagement paper, section 3."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import boots, waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs

from . import ahead, causes, parts, saved
from .saved import PAPER_ENERGY, PLACE, QUIET, SAME

PLACED = ("loads", "windows", "points")
LOADS, OTHERS, COUNTS = "loads.jsonl", "others.jsonl", "counts.jsonl"
DEFAULTS = {"windows": 4}
"""Of points that ran before their tables told it."""
KERNEL = ("waits", "holds", "by_path", "by_deadline", "mistaken", "tasks", "held_sum_us", *ahead.COUNTS)
"""What the kernel counted; 0 where nothing is held."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    loads, windows = df_loads(runs), waiting.df_windows(runs, _place)
    tables = {"loads": loads, "windows": windows, "points": df_points(runs, loads, windows)}
    if runs.timed:
        tables["parts"] = parts.df_parts(runs.runs, _place)
    chains = causes.df_chains(runs.runs, _place, LOADS)
    if chains is not None:
        tables["chains"] = chains
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    tables = {**tables, **{name: waiting.with_defaults(tables[name], DEFAULTS) for name in PLACED}}
    table = tables["points"]
    savings, best = saved.df_savings(tables), saved.df_best(tables)
    planned = ahead.df_ahead(tables, SAME)
    over_boots = boots.df_boots([row for row in savings if row["way"] in saved.BOOTED], SAME, saved.OVER_BOOTS)
    return Result(
        summary="## Energy, and time of a load\n\n"
        + waiting.so_far(table, points)
        + "Load: from the key press until the page is there. Power of the machine and of its CPUs with their L2s: mean "
        "with a 95 % interval over loads. Latest: how late a job of an update or a helper was done. False holds: those "
        "that the user's path waited for.\n\n"
        + _points_text(table)
        + saved.text(savings)
        + saved.best_text(best)
        + ahead.text(planned)
        + boots.text(over_boots, {"background": "updates"}, saved.OVER_BOOTS)
        + parts.text(tables.get("parts"))
        + causes.text(tables.get("chains")),
        tables={
            **tables,
            **{
                name: pa.Table.from_pylist(rows)
                for name, rows in (("savings", savings), ("best", best), ("ahead", planned))
                if rows
            },
            **({"boots": over_boots} if over_boots is not None else {}),
        },
        checks=[
            *kernel_checks(table),
            *saved.checks(savings),
            *saved.best_checks(best),
            *saved.boots_checks(over_boots),
            *ahead.checks(planned),
        ]
        if waiting.is_timed(table)
        else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    drawn = [
        Drawing("ways", plot_ways(points, stored.label), "Power, and time of a load, by what is done about others.")
    ]
    table = stored.rows("savings")
    curves = saved.plot_curves(table.to_pylist() if table else [], stored.label)
    if curves is not None:
        drawn.append(
            Drawing(
                "curves", curves, "Energy of the machine that quiescence saves, by the work of updates and the wait."
            )
        )
    return drawn


def against(stored: Stored) -> list[Against]:
    table = stored.rows("savings")
    found = []
    for row in table.to_pylist() if table else []:
        if row["way"] not in QUIET:
            continue
        source = "engagement paper, section 3"
        found += [
            Against(
                f"{row['point']}: energy saved", "%", f"{100 * row['saved']:.3g}", f"{100 * PAPER_ENERGY:.3g}",
                source=source,
            ),
            Against(f"{row['point']}: slowdown", "%", f"{100 * row['slower']:.3g}", "none visible", source=source),
        ]  # fmt: skip
    return found


def df_loads(runs: Runs) -> pa.Table:
    """A row per load but the first, from which the kernel learns. `work_us` is all but the network's own time."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _loads(run)])


def _loads(run: Run) -> list[Row]:
    with run.understanding(LOADS):
        return [
            {
                **_place(run), "load": int(line["load"]),
                "response_us": (int(line["loaded_ns"]) - int(line["pressed_ns"])) / 1e3,
                "read_us": (int(line["read_ns"]) - int(line["pressed_ns"])) / 1e3,
                "waited_us": int(line["waited_ns"]) / 1e3, "late_us": int(line["late_ns"]) / 1e3,
                "work_us": (int(line["loaded_ns"]) - int(line["pressed_ns"]) - int(line["waited_ns"])
                            + int(line["late_ns"])) / 1e3,
            }
            for line in run.lines(LOADS)
            if int(line["load"]) > 0
        ]  # fmt: skip


def _place(run: Run) -> Row:
    """Older runs do not say which boot they are of: the first."""
    return {**waiting.place(run, PLACE), "boot": int(run.values.get("boot", 0))}


def df_points(runs: Runs, loads: pa.Table, windows: pa.Table) -> pa.Table:
    return waiting.df_points(runs, _place, loads, windows, "response_us", _counted)


def _counted(run: Run, own: list[Row]) -> Row:
    row: Row = {"late_us": float(np.mean([each["late_us"] for each in own])), "loads": len(own)}
    with run.understanding(COUNTS):
        counts = next(iter(run.lines(COUNTS)))
        row |= {"slack_us": int(counts["slack_us"]), **{name: int(counts.get(name, 0)) for name in KERNEL}}
    with run.understanding(OTHERS):
        others = list(run.lines(OTHERS))
        row["undone"] = sum(int(line["due"]) - int(line["jobs"]) for line in others)
        row["latest_us"] = max((int(line["latest_ns"]) / 1e3 for line in others), default=0.0)
    return row


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = (
        "point", "loads", "load, median µs", "answer taken late, µs", "waits", "holds", "ended by the path",
        "by the bound", "false", "jobs not done", "latest, µs",
    ) + (("power, mW", "CPUs, mW") if timed else ())  # fmt: skip
    return markdown_table(
        headings,
        [
            (
                row["point"], row["loads"], waiting.quantile_text(row, "median"), f"{row['late_us']:.4g}",
                row["waits"], row["holds"], row["by_path"], row["by_deadline"], row["mistaken"], row["undone"],
                f"{row['latest_us']:.5g}",
                *((waiting.watts_text(row, "power_w"), waiting.watts_text(row, "cpus_w")) if timed else ()),
            )
            for row in points.to_pylist()
        ],
    )  # fmt: skip


def kernel_checks(points: pa.Table) -> list[Check]:
    """A hold begins in each load, nobody is held when the user could see it, and all work is done.

    A hold begins even if there is nobody to hold, as in the group `alone`.
    A hold ends when the path wakes. So it may be longer than the wait by as much as the path wakes late if nobody is
    held: what the hold itself makes late is no excuse.
    """
    found = []
    rows = points.to_pylist()
    for row in rows:
        found.append(
            Check(f"{row['point']}: all jobs are done", row["undone"] == 0, f"{row['undone']} jobs are not")
        )  # fmt: skip
        if row["way"] in (*QUIET, *ahead.BESIDE):
            found.append(
                Check(
                    f"{row['point']}: a hold begins in each load",
                    row["holds"] >= row["loads"],
                    f"{row['holds']} holds in {row['waits']} waits of {row['loads']} loads",
                )
            )
            found.append(_false_holds(row, waiting.beside(rows, row, "none", SAME)))
    return found


def _false_holds(row: Row, none: Row | None) -> Check:
    longest_us = row["slack_us"] + none["late_us"] if none else None
    return Check(
        f"{row['point']}: no false hold",
        row["mistaken"] == 0 and (longest_us is None or row["held_sum_us"] <= row["loads"] * longest_us),
        f"{row['mistaken']} of {row['holds']} holds; tasks were held for {row['held_sum_us']} µs, and nobody could be "
        f"missed for {row['loads']} times {row['slack_us']} µs"
        + ("" if none else "; whether holds were too long is not known, because `none` has not run"),
    )


def plot_ways(points: pa.Table, label: str) -> Figure:
    rows = points.to_pylist()
    at = range(len(rows))
    figure, axes = style.panels(2, 2, 4.8)
    axes[0].barh(at, [1e3 * row["power_w"] for row in rows], color=style.GREYS[0], edgecolor="black", label="machine")
    axes[0].barh(at, [1e3 * row["cpus_w"] for row in rows], color=style.GREYS[1], edgecolor="black", label="CPUs, L2s")
    axes[0].set_xlabel("power (mW)")
    axes[0].legend()
    axes[1].plot(
        [(row["median_us"] - row["slack_us"]) / 1e3 for row in rows], at, linestyle="none", marker=style.MARKERS[0],
        color="black", markerfacecolor="white",
    )  # fmt: skip
    axes[1].set_xlabel("load without the wait, median (ms)")
    waiting.label_points(axes, [row["point"] for row in rows])
    figure.suptitle(f"A browser\n{label}")
    return figure
