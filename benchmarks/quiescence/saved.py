# SPDX-License-Identifier: BSD-3-Clause
"""What quiescence saves: beside a machine where nothing is done, and beside the best of today's Linux."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.errors import UserError
from lull.figures import boots, savings, waiting
from lull.plotting.markdown import markdown_table
from lull.results.result import Check
from lull.statistics import student

SAME = ("page", "background", "wait_us", "pause_us", "governor", "helpers", "boot", "windows")
"""What two points share that are compared by their way."""
PLACE = ("way", *SAME)
LOAD = tuple(name for name in SAME if name != "governor")
"""The idle governor is a choice that today's Linux has, so the best of today may be with another one."""
QUIET = ("big", "all")
TODAY = ("none", "capped", "idle", "max", "slack")
BOOTED = (*QUIET, "capped")
"""The ways that run in several boots."""
OVER_BOOTS = {"saved": "energy saved", "cpus_saved": "of CPUs and L2s", "slower": "load is slower by"}
PAPER_ENERGY = 0.06
"""Energy saved."""
SLOWDOWN = 0.01
"""Of a load, at most: the paper says that none was to be seen."""

Row = dict[str, Any]


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


def text(saved: Sequence[Row]) -> str:
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


def best_text(best: Sequence[Row]) -> str:
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


def boots_checks(table: pa.Table | None) -> list[Check]:
    """The goals for quiescence, judged by the intervals over boots."""
    found = []
    for row in table.to_pylist() if table is not None else []:
        if row["way"] not in QUIET:
            continue
        over = f"over {row['boots']} boots"
        found += [
            Check(
                f"`{row['way']}`: at least {100 * PAPER_ENERGY:g} % of the machine's energy is saved, {over}",
                student.ends(row["saved"], row["saved_pm"])[0] >= PAPER_ENERGY,
                f"{boots.percent(row, 'saved')} %",
            ),
            Check(
                f"`{row['way']}`: a load is at most {100 * SLOWDOWN:g} % slower, {over}",
                student.ends(row["slower"], row["slower_pm"])[1] <= SLOWDOWN,
                f"{boots.percent(row, 'slower')} %",
            ),
        ]
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
