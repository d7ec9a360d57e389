# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `quiescence`: the phone of the engagement paper, section 3."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.errors import UserError
from lull.figures import boots, savings, waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

from . import ahead, causes, parts

PLACED = ("loads", "windows", "points")
LOADS, OTHERS, COUNTS = "loads.jsonl", "others.jsonl", "counts.jsonl"
SAME = ("page", "background", "wait_us", "pause_us", "governor", "helpers", "boot", "windows")
"""What two points share that are compared by their way."""
PLACE = ("way", *SAME)
LOAD = tuple(name for name in SAME if name != "governor")
"""The idle governor is a choice that today's Linux has, so the best of today may be with another one."""
QUIET = ("big", "all")
DEFAULTS = {"windows": 4}
"""Of points that ran before their tables told it."""
TODAY = ("none", "capped", "idle", "max", "slack")
KERNEL = ("waits", "holds", "by_path", "by_deadline", "mistaken", "tasks", "held_sum_us", *ahead.COUNTS)
"""What the kernel counted; 0 where nothing is held."""
OVER_BOOTS = {"saved": "energy saved", "cpus_saved": "of CPUs and L2s", "slower": "load is slower by"}
PAPER_ENERGY = 0.06
"""Energy saved."""
SLOWDOWN = 0.01
"""Of a load, at most: the paper says that none was to be seen."""

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
    saved, best = df_savings(tables), df_best(tables)
    planned = ahead.df_ahead(tables, SAME)
    over_boots = boots.df_boots([row for row in saved if row["way"] in QUIET], SAME, OVER_BOOTS)
    return Result(
        summary="## Energy, and time of a load\n\n"
        + waiting.so_far(table, points)
        + "Load: from the key press until the page is there. Power of the machine and of its CPUs with their L2s: mean "
        "with a 95 % interval over loads. Latest: how late a job of an update or a helper was done. False holds: those "
        "that the user's path waited for.\n\n"
        + _points_text(table)
        + _savings_text(saved)
        + _best_text(best)
        + ahead.text(planned)
        + boots.text(over_boots, {"background": "updates"}, OVER_BOOTS)
        + parts.text(tables.get("parts"))
        + causes.text(tables.get("chains")),
        tables={
            **tables,
            **{
                name: pa.Table.from_pylist(rows)
                for name, rows in (("savings", saved), ("best", best), ("ahead", planned))
                if rows
            },
            **({"boots": over_boots} if over_boots is not None else {}),
        },
        checks=[
            *kernel_checks(table),
            *checks(saved),
            *best_checks(best),
            *boots_checks(over_boots),
            *ahead.checks(planned),
        ]
        if waiting.is_timed(table)
        else [],
    )


def boots_checks(table: pa.Table | None) -> list[Check]:
    """The paper's goal, judged by the interval over boots."""
    return [
        Check(
            f"`{row['way']}`: at least {100 * PAPER_ENERGY:g} % of the machine's energy is saved, over {row['boots']} "
            "boots",
            student.ends(row["saved"], row["saved_pm"])[0] >= PAPER_ENERGY,
            f"{boots.percent(row, 'saved')} %",
        )
        for row in (table.to_pylist() if table is not None else [])
    ]


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    drawn = [
        Drawing("ways", plot_ways(points, stored.label), "Power, and time of a load, by what is done about others.")
    ]
    table = stored.rows("savings")
    curves = plot_curves(table.to_pylist() if table else [], stored.label)
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


def df_savings(tables: Mapping[str, pa.Table]) -> list[Row]:
    """What each point saves beside the one where nothing is done: shares of 1, load by load, with 95 % intervals."""
    points = tables["points"].to_pylist()
    if not waiting.is_timed(tables["points"]):
        return []
    found = []
    for row in points:
        none = waiting.beside(points, row, "none", SAME)
        if row["way"] == "none" or none is None:
            continue
        place = {name: row[name] for name in ("point", "group", *PLACE)}
        found.append({**place, "other": none["point"], **_saving(tables, row, none), "put_off": _put_off(row, none)})
    return found


def _put_off(row: Row, other: Row) -> int:
    """How many more jobs one point leaves undone than the other: power that is saved by them is no saving."""
    return max(0, int(row["undone"]) - int(other["undone"]))


def _saving(tables: Mapping[str, pa.Table], row: Row, other: Row) -> Row:
    """What one point saves against another, load by load."""
    pairs = {
        "saved": _ratios(tables["windows"], "power_w", row, other),
        "cpus_saved": _ratios(tables["windows"], "cpus_w", row, other),
        "slower": _ratios(tables["loads"], "response_us", row, other),
        "work_slower": _ratios(tables["loads"], "work_us", row, other),
    }
    found: Row = {}
    for name, ratios in pairs.items():
        sign = 1 if "slower" in name else -1
        found[name], found[f"{name}_pm"] = student.mean([sign * (ratio - 1) for ratio in ratios])
    return found


def df_best(tables: Mapping[str, pa.Table]) -> list[Row]:
    """What quiescence saves against the best of today's Linux: of its ways that have run with this load, the one of
    least power whose loads are on average no slower than allowed, and which leaves no more work undone than quiescence
    does: power is cheap to save by doing less. If only one has run, nothing can be chosen."""
    if not waiting.is_timed(tables["points"]):
        return []
    points, found = tables["points"].to_pylist(), []
    for row in points:
        ran = [other for other in points if other["way"] in TODAY and waiting.alike(other, row, LOAD)]
        none = waiting.beside(ran, row, "none", SAME)
        if row["way"] not in QUIET or none is None:
            continue
        slower = {other["point"]: student.mean(_ratios(tables["loads"], "response_us", other, none))[0] - 1
                  for other in ran}  # fmt: skip
        kept = [other for other in ran if slower[other["point"]] <= SLOWDOWN and other["undone"] <= row["undone"]]
        chosen = waiting.cheapest(ran, kept)
        if chosen is None:
            continue
        best, told = chosen
        place = {name: row[name] for name in ("point", "group", *PLACE)}
        found.append(
            {
                **place, **told, "best_slower": slower[best["point"]], "best_undone": best["undone"],
                **_saving(tables, row, best), "put_off": _put_off(row, best),
            }
        )  # fmt: skip
    return found


def _ratios(table: pa.Table, column: str, row: Row, none: Row) -> list[float]:
    """One point's values over the other's, each at its place in the run: the events of both are the same."""
    every = waiting.by_point(table)
    one, other = ([each[column] for each in every[point["point"]]] for point in (row, none))
    if len(one) != len(other):
        raise UserError(
            f"{row['point']}: has {len(one)} loads and {none['point']} {len(other)}; run both with the same `windows`"
        )
    return [first / second for first, second in zip(one, other, strict=True)]


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


def _savings_text(saved: Sequence[Row]) -> str:
    if not saved:
        return ""
    rows = [
        (row["point"], *(_percent(row, name) for name in ("saved", "cpus_saved", "slower", "work_slower")))
        for row in saved
    ]
    return (
        "\n\n## Beside nothing done, %\n\nMost of a load is the network's own time, which nobody can change. The last "
        "column is about the rest.\n\n"
        + markdown_table(
            ("point", "energy saved", "of CPUs and L2s", "load is slower by", "all but the network by"), rows
        )
    )


def _best_text(best: Sequence[Row]) -> str:
    if not best:
        return ""
    rows = [
        (
            row["point"], row["ran"], row["kept"], row["best"], waiting.watts_text(row, "best_power_w"),
            f"{100 * row['best_slower']:.2g}", row["best_undone"], row["put_off"],
            *(_percent(row, name) for name in ("saved", "cpus_saved", "slower")),
        )
        for row in best
    ]  # fmt: skip
    return (
        "\n\n## Beside the best of today's Linux\n\nBest: the one of least power among the points of the same load "
        f"without quiescence ({', '.join(f'`{way}`' for way in TODAY)}, any idle governor) whose loads are at most "
        f"{100 * SLOWDOWN:g} % slower on average than with nothing done, and which leaves no more jobs undone than "
        "quiescence does. Tried: how many such points have run, and how many do so. Where quiescence leaves jobs "
        "undone that the other does, a part of the energy is saved by less work, and no check of the saving holds.\n\n"
        + markdown_table(
            ("point", "tried", "good enough", "best of today's Linux", "its power, mW",
             "slower than nothing done by, %", "its jobs not done", "jobs not done beyond these",
             "energy saved against it, %", "of CPUs and L2s, %", "load is slower by, %"),
            rows,
        )
    )  # fmt: skip


def best_checks(best: Sequence[Row]) -> list[Check]:
    """By the interval of the saving: the end that is nearer to a miss. One load has no interval. Both have to do the
    same work."""
    return [
        Check(
            f"{row['point']}: less energy than with the best of today's Linux",
            student.ends(row["saved"], row["saved_pm"])[0] > 0 and not row["put_off"],
            f"{_percent(row, 'saved')} % less than {row['best']}, the best of {row['kept']} good enough points"
            + _put_off_text(row),
        )
        for row in best
        if row["group"].startswith("ways")
    ]


def _put_off_text(row: Row) -> str:
    return f"; {row['put_off']} jobs fewer are done" if row["put_off"] else ""


def _percent(row: Row, name: str) -> str:
    return waiting.mean_text(row, name, 100, 3)


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
            none = waiting.beside(rows, row, "none", SAME) or row
            longest_us = row["slack_us"] + none["late_us"]
            found.append(
                Check(
                    f"{row['point']}: a hold begins in each load",
                    row["holds"] >= row["loads"],
                    f"{row['holds']} holds in {row['waits']} waits of {row['loads']} loads",
                )
            )
            found.append(
                Check(
                    f"{row['point']}: no false hold",
                    row["mistaken"] == 0 and row["held_sum_us"] <= row["loads"] * longest_us,
                    f"{row['mistaken']} of {row['holds']} holds; tasks were held for {row['held_sum_us']} µs, and "
                    f"nobody could be missed for {row['loads']} times {row['slack_us']} µs",
                )
            )
    return found


def checks(saved: Sequence[Row]) -> list[Check]:
    """The goal, judged by intervals: the end of each that is nearer to a miss. One load has no interval. Energy counts
    as saved only if the same work is done."""
    found = []
    for row in saved:
        if row["way"] not in QUIET or not row["group"].startswith("ways"):
            continue
        least = student.ends(row["saved"], row["saved_pm"])[0]
        most = student.ends(row["slower"], row["slower_pm"])[1]
        found += [
            Check(
                f"{row['point']}: at least {100 * PAPER_ENERGY:g} % of the machine's energy is saved",
                least >= PAPER_ENERGY and not row["put_off"],
                f"{_percent(row, 'saved')} %; of CPUs and L2s {_percent(row, 'cpus_saved')} %" + _put_off_text(row),
            ),
            Check(
                f"{row['point']}: a load is at most {100 * SLOWDOWN:g} % slower",
                most <= SLOWDOWN, f"{_percent(row, 'slower')} %",
            ),
        ]  # fmt: skip
    return found


def plot_curves(saved: Sequence[Row], label: str) -> Figure | None:
    """What quiescence saves over the work of updates and over the wait: all else is as in the group `ways`."""
    rows = [{**row, "wait_ms": row["wait_us"] / 1000} for row in saved]
    curves = []
    for name, at, about in (
        ("background", "background", "work of each update (% of a CPU)"),
        ("wait_us", "wait_ms", "wait for the network (ms)"),
    ):
        by_way = {}
        for way in QUIET:
            usual = next(
                (row for row in rows if row["group"] == "ways" and row["way"] == way and row["background"] > 0), None
            )
            if usual is not None:
                by_way[way] = savings.over(rows, usual, name, PLACE, "saved", at)
        curves.append(savings.Curves(about, by_way))
    return savings.plot(f"What quiescence saves of the machine's energy\n{label}", curves)


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
