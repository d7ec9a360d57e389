# SPDX-License-Identifier: BSD-3-Clause
"""Tables of programs that repeat a unit of work, such as a message: units per second, and power."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import boots, predictions, repetitions, waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student
from lull.trace.clock import TICKS_PER_US

STAMPS = "stamps.jsonl"
MHZ = "_mhz"
"""The end of the name of a cluster's column: the cluster's mean clock in the windows."""
LOAD = ("kernel", "groups", "threads", "short", "governor", "forward_us", "boot")
"""Parameters that must be equal in two points to compare their ways. Each experiment has some of them."""
OVER_BOOTS = {"per_s": "a second", "cpus_w": "power of CPUs", "cpus_uj": "energy of CPUs for each"}
"""Measures with means over boots, and their headings."""
NEAR = 0.01
"""How much slower than EAS all of WAEAS may be, as a share."""
Row = dict[str, Any]


def analyse(runs: Runs, program: str) -> Result:
    """Return the result. `program` is the name of the tasks that make the load."""
    windows, off = df_windows(runs), predictions.df_predictions(runs, _place, program)
    tables = {
        "windows": windows,
        "points": df_points(runs, windows),
        **({predictions.NAME: off} if off is not None else {}),
    }
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """Return the result, made from the tables of finished points. `points` are the names of all points."""
    table = waiting.with_defaults(tables["points"], {"boot": 0})
    ratios = df_ratios(tables["windows"], table)
    over_boots = boots.df_boots([row for row in ratios.to_pylist() if _is_known(row)], LOAD, OVER_BOOTS)
    return Result(
        summary="## Throughput and power\n\n"
        + waiting.so_far(table, points)
        + "Messages, trips to and fro, or units of work, a second; power of the machine and of its CPUs with their "
        "L2s; energy of CPUs and L2s for each of them. Means with 95 % intervals over windows. Drift: of the later "
        "half of the windows from the earlier one.\n\n"
        + _points_text(table)
        + _ratios_text(ratios)
        + _boots_text(over_boots)
        + predictions.text(tables.get(predictions.NAME)),
        tables={
            **tables,
            **({"ratios": ratios} if ratios.num_rows else {}),
            **({"boots": over_boots} if over_boots is not None else {}),
        },
        checks=checks(ratios) if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    return [Drawing("ways", plot_ways(points, stored.label), "Messages a second, and power of the CPUs.")]


def against(
    stored: Stored, faster: Callable[[Row], str], source: str, saves: Callable[[Row], str] | None = None
) -> list[Against]:
    """Return WAEAS's gains over EAS in speed and in power of CPUs and L2s, beside the paper's.

    `faster` and `saves` return the paper's per cent for a row. `saves` is None if the paper has no power.
    """
    table = stored.rows("ratios")
    found = []
    for row in table.to_pylist() if table else []:
        if row["way"] != "waeas" or row.get("boot") or row.get("governor", "menu") != "menu":
            continue
        found.append(
            Against(f"{row['point']}: faster than EAS", "%", f"{100 * row['per_s']:.3g}", faster(row), source=source)
        )
        if saves and row.get("cpus_w") is not None:
            what = f"{row['point']}: power saved against EAS, CPUs and L2s"
            found.append(Against(what, "%", f"{-100 * row['cpus_w']:.3g}", saves(row), source=source))
    return found


def _place(run: Run) -> Row:
    return waiting.place(run, ("way", *LOAD))


def df_windows(runs: Runs) -> pa.Table:
    """Return a row per window: messages and watts. Windows that end after the program's load has ended are left out."""
    every = waiting.by_point(waiting.df_windows(runs, _place))
    for run in runs.runs:
        own = every[run.name]
        settle_us, window_us = (int(run.values[name]) for name in ("settle_us", "window_us"))
        if runs.timed:
            windows = repetitions.windows(run, waiting.WINDOWS)
            settle_us += windows.late // TICKS_PER_US
            for cluster, clocks in repetitions.clocks(run, windows.edges).items():
                for row, clock in zip(own, clocks, strict=True):
                    row[f"{cluster}{MHZ}"] = clock.mhz
            own = every[run.name] = [row for row, loaded in zip(own, windows.loaded, strict=True) if loaded]
        with run.understanding(STAMPS):
            lines = [(int(line["ns"]) / 1000, int(line["messages"])) for line in run.lines(STAMPS)]
        for row, messages in zip(own, done_in(lines, settle_us, window_us, len(own)), strict=True):
            row["messages"] = messages
    found = [row for own in every.values() for row in own]
    for row in found:
        row["per_s"] = row["messages"] / row["seconds"]
    return pa.Table.from_pylist(found)


def done_in(stamps: Sequence[tuple[float, int]], begin_us: float, window_us: float, count: int) -> list[float]:
    """Return the number of messages in each window. A stamp is a time and the number of messages since the last stamp.

    Messages between two stamps count as evenly spread, because a window may have only three stamps. After the last
    stamp, the rate of the last interval is assumed.
    """
    times = np.array([0.0, *(at for at, _ in stamps)])
    done = np.cumsum([0.0, *(messages for _, messages in stamps)])
    if len(stamps) > 1:
        times, done = np.append(times, 2 * times[-1] - times[-2]), np.append(done, 2 * done[-1] - done[-2])
    edges = begin_us + window_us * np.arange(count + 1)
    found: list[float] = np.diff(np.interp(edges, times, done)).tolist()
    return found


def df_points(runs: Runs, windows: pa.Table) -> pa.Table:
    every = waiting.by_point(windows)
    found = []
    for run in runs.runs:
        own = every[run.name]
        row = _place(run) | waiting.means(own, ("per_s", "power_w", "cpus_w")) | {"drift": _drift(own)}
        row |= {name: float(np.mean([each[name] for each in own])) for name in _clusters(windows)}
        if "cpus_w" in row:
            row["cpus_uj"] = 1e6 * row["cpus_w"] / row["per_s"] if row["per_s"] else None
        found.append(row)
    return pa.Table.from_pylist(found)


def _drift(own: Sequence[Row]) -> float | None:
    """Return how much faster the later half of the windows is, as a share. A settled machine has no drift."""
    half = len(own) // 2
    first, last = (sum(row["per_s"] for row in part) for part in (own[:half], own[len(own) - half :]))
    return last / first - 1 if first else None


def df_ratios(windows: pa.Table, points: pa.Table) -> pa.Table:
    """Return a row per point that can be compared with EAS: speed, power and energy per unit, over EAS's, minus 1."""
    every, own = points.to_pylist(), waiting.by_point(windows)
    found = []
    for row in every:
        eas = waiting.beside(every, row, "eas", LOAD)
        if row["way"] == "eas" or eas is None:
            continue
        line = {name: row[name] for name in ("point", "group", "way", *LOAD) if name in row} | {"other": eas["point"]}
        for name in ("per_s", "cpus_w", "cpus_uj"):
            sides = [_values(own[point["point"]], name) for point in (eas, row)]
            if all(sides):
                ratio, low, high = student.quotient(*sides)
                line |= {name: ratio - 1, f"{name}_low": low - 1, f"{name}_high": high - 1}
        found.append(line)
    return pa.Table.from_pylist(found)


def _values(own: Sequence[Row], name: str) -> list[float]:
    """Return a measure's value of each window; empty if the measure is not known for every window.

    The energy per unit of a point is the energy of all its windows over all their units, so a window with few units
    counts less. Therefore a window's value is this energy, plus the window's first-order effect on it.
    """
    if name != "cpus_uj":
        return [row[name] for row in own if name in row]
    if not all("cpus_w" in row and row["per_s"] for row in own):
        return []
    rate = float(np.mean([row["per_s"] for row in own]))
    joules = float(np.mean([row["cpus_w"] for row in own])) / rate
    return [1e6 * (joules + (row["cpus_w"] - joules * row["per_s"]) / rate) for row in own]


def _clusters(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name.endswith(MHZ)]


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    clusters = _clusters(points)
    headings = ("point", "way", "a second", "drift, %") + (("power, mW", "CPUs, mW", "CPUs, µJ each") if timed else ())
    headings += tuple(f"{name.removesuffix(MHZ)}, MHz" for name in clusters)
    rows = [
        (
            row["point"], row["way"], waiting.mean_text(row, "per_s", digits=5),
            "-" if row["drift"] is None else f"{100 * row['drift']:+.2g}",
            *(
                (
                    waiting.watts_text(row, "power_w"), waiting.watts_text(row, "cpus_w"),
                    "-" if row["cpus_uj"] is None else f"{row['cpus_uj']:.4g}",
                )
                if timed
                else ()
            ),
            *("-" if row[name] is None else f"{row[name]:.0f}" for name in clusters),
        )
        for row in points.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, rows)


def _ratios_text(ratios: pa.Table) -> str:
    if not ratios.num_rows:
        return ""
    rows = [
        (
            row["point"],
            *(waiting.ends_text(row, name, 100, "+") if row.get(name) is not None else "-"
              for name in ("per_s", "cpus_w", "cpus_uj")),
        )
        for row in ratios.to_pylist()
    ]  # fmt: skip
    return "\n## Beside EAS, %\n\nWith 95 % intervals (Fieller).\n\n" + markdown_table(
        ("point", "a second", "power of CPUs", "energy of CPUs for each"), rows
    )


def _is_known(row: Row) -> bool:
    return all(row.get(name) is not None for name in OVER_BOOTS)


def _boots_text(over_boots: pa.Table | None) -> str:
    if over_boots is None:
        return ""
    places = {name: name for name in LOAD if name != "boot" and over_boots[name].null_count < len(over_boots)}
    return boots.text(over_boots, places, OVER_BOOTS, "Beside EAS, over boots")


def checks(ratios: pa.Table) -> list[Check]:
    """Return checks that WAEAS is at most NEAR slower than EAS, by the lower end of the interval."""
    return [
        Check(
            f"{row['point']}: at most {100 * NEAR:g} % slower than EAS",
            row["per_s_low"] >= -NEAR,
            f"{waiting.ends_text(row, 'per_s', 100, '+')} %",
        )
        for row in ratios.to_pylist()
        if row["way"] == "waeas"
    ]


def plot_ways(points: pa.Table, label: str) -> Figure:
    rows = points.to_pylist()
    at = range(len(rows))
    figure, axes = style.panels(2, 2, 4.2)
    axes[0].barh(at, [row["per_s"] / 1e3 for row in rows], color=style.GREYS[1], edgecolor="black")
    axes[0].set_xlabel("thousands a second")
    axes[1].barh(at, [1e3 * row["cpus_w"] for row in rows], color=style.GREYS[0], edgecolor="black")
    axes[1].set_xlabel("power of CPUs and L2s (mW)")
    waiting.label_points(axes, [row["point"] for row in rows])
    figure.suptitle(f"Tasks that wake each other\n{label}")
    return figure
