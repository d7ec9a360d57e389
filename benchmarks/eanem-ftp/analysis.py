# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-ftp`: figure 4 of the EANeM paper, and what Linux has today."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import eanem, network_card, waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

LOAD = "load.jsonl"
SAME = ("kbit_s", "governor")
"""What two points have in common that are compared by their way."""
PLACE = ("way", *SAME)
PAPER = 4.79
"""Performance per watt of EANeM by that of EAS, on average from 100 to 400 Mbit/s."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    intervals, windows = df_intervals(runs), waiting.df_windows(runs, _place, by_model=True)
    tables = {"intervals": intervals, "windows": windows, "points": df_points(runs, intervals, windows)}
    if (decisions := eanem.df_decisions(runs.runs, _place)) is not None:
        tables["decisions"] = decisions
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = tables["points"]
    return Result(
        summary="## A download, by what is done about it\n\n"
        + waiting.so_far(table, points)
        + "Performance: min(g, h) / g, where g is the bandwidth to go for and h what was there. Power of the CPUs with "
        "their L2s from the ledger, and by equation 3 with Linux's coefficients; of the machine; and of the machine "
        "with its network card, which is a constant and not in the ledger.\n\n"
        + _points_text(table)
        + eanem.decisions_text(tables.get("decisions")),
        tables=dict(tables),
        checks=[*checks(table), *eanem.rest_checks(tables.get("decisions"))] if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    return [] if points is None else [Drawing("power", plot_power(points, stored.label), "Power of the CPUs.")]


def against(stored: Stored) -> list[Against]:
    rows = eanem.per_watt(stored.rows("points"), SAME)
    mean = _mean(rows)
    if mean is None:
        return []
    others = [row for row in rows if row["way"] not in (eanem.EAS, eanem.MANAGED) and row["gain"] is not None]
    best = max(others, key=lambda row: float(row["gain"]), default=None)
    return [
        Against(
            "performance per watt of EANeM by that of EAS, mean over the bandwidths", "times", f"{mean['gain']:.3g}",
            f"{PAPER:g}", f"{best['gain']:.3g} ({best['way']}, {best['kbit_s'] / 1e3:g} Mbit/s)" if best else "-",
            source="EANeM paper, figure 4",
        )
    ]  # fmt: skip


def _mean(rows: Sequence[Row]) -> Row | None:
    """Over the bandwidths, as in the paper."""
    return eanem.mean_gain([row for row in rows if row["way"] == eanem.MANAGED])


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE)


def df_intervals(runs: Runs) -> pa.Table:
    """A row per interval that counts."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _intervals(run)])


def _intervals(run: Run) -> list[Row]:
    with run.understanding(LOAD):
        return [
            {**_place(run), "number": int(line["number"]), "mbit_s": int(line["bytes"]) * 8e3 / int(line["ns"])}
            for line in run.lines(LOAD)
            if line["settled"]
        ]


def df_points(runs: Runs, intervals: pa.Table, windows: pa.Table) -> pa.Table:
    """A row per point: bandwidth, performance, and on gem5 power, of which there is one window."""
    every, all_windows = waiting.by_point(intervals), waiting.by_point(windows)
    found = []
    for run in runs.runs:
        goal = int(run.values["kbit_s"]) / 1e3
        row = _place(run) | waiting.means(every[run.name], ("mbit_s",))
        row["performance"] = min(goal, row["mbit_s"]) / goal
        own = all_windows[run.name]
        row |= {name: student.mean([each[name] for each in own])[0] for name in eanem.POWERS if name in own[0]}
        found.append(row)
    return pa.Table.from_pylist(found)


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = ("goal, Mbit/s", "way", "there, Mbit/s", "performance") + (
        (
            "CPUs, mW",
            "by equation 3, mW",
            "machine, mW",
            "with its card, mW",
            "performance per watt, by EAS",
            "by equation 3",
        )
        if timed
        else ()
    )
    rows = [
        (
            f"{row['kbit_s'] / 1e3:g}", row["way"], f"{row['mbit_s']:.4g}", f"{row['performance']:.3f}",
            *(
                (
                    *(f"{1e3 * row[name]:.4g}" for name in ("cpus_w", "model_w", "power_w")),
                    network_card.machine_mw(row["power_w"]),
                    *eanem.gain_texts(row),
                )
                if timed
                else ()
            ),
        )
        for row in eanem.per_watt(points, SAME)
    ]  # fmt: skip
    return markdown_table(headings, rows)


def checks(points: pa.Table) -> list[Check]:
    mean = _mean(eanem.per_watt(points, SAME))
    return [eanem.gain_check("a download", mean, PAPER)] if mean else []


def plot_power(points: pa.Table, label: str) -> Figure:
    figure, (axis,) = style.panels(1, 1, 2.6)
    rows = points.to_pylist()
    for number, way in enumerate(dict.fromkeys(row["way"] for row in rows)):
        own = sorted((row for row in rows if row["way"] == way), key=lambda row: int(row["kbit_s"]))
        axis.plot(
            [row["kbit_s"] / 1e3 for row in own], [1e3 * row["cpus_w"] for row in own], color="black", linewidth=0.8,
            marker=style.MARKERS[number % len(style.MARKERS)], markersize=5, label=way,
        )  # fmt: skip
    axis.set_xlabel("bandwidth to go for (Mbit/s)")
    axis.set_ylabel("power of the CPUs (mW)")
    axis.legend()
    figure.suptitle(f"A download\n{label}")
    return figure
