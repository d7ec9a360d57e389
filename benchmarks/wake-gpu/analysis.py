# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `wake-gpu`: figure 2 of the engagement paper."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs

RUNS, ACCURACY = "runs.jsonl", "accuracy.jsonl"
PLACE = ("way", "kernel", "state", "governor", "cpu", "work")
COUNTS = ("seen", "predicted", "hits", "early", "late")
"""What the driver counted of the kernel's runs; 0 where nothing is predicted."""
PREDICTED = ("ahead", "poll")
"""The ways in which the driver predicts."""
REGULAR = ("kmeans", "streamcluster")
PAPER_ACCURACY, PAPER_SPEED, PAPER_POWER = 0.87, 0.10, 0.56
"""Runs that were predicted; speed-up over interrupts; power saved against busy waiting."""
NEAR_BUSY = 0.02
"""By how much longer a run with its work may take than with busy waiting."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    ends, windows = df_runs(runs), waiting.df_windows(runs, _place)
    tables = {"runs": ends, "windows": windows, "points": df_points(runs, ends, windows)}
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table, halves = tables["points"], df_halves(tables["runs"])
    return Result(
        summary="## Runs, by how the program waits\n\n"
        + waiting.so_far(table, points)
        + "Late: from the end of a run until the program has it, with 95 % bootstrap intervals. Cycle: from the start "
        "of a run to the start of the next, on average. Power of the machine: mean with a 95 % interval over "
        "windows.\n\n"
        + _points_text(table)
        + "\n### First and second half\n\nOf the runs with numbers that all ways of a kernel have. Where the halves "
        "differ, the machine had not settled, and a median over both is one of a mixture.\n\n"
        + _halves_text(halves)
        + "\n## What was predicted\n\nRuns that the driver saw, those that it predicted, and those of them that ended "
        "in their window, before it, or after it.\n\n" + _accuracy_text(table),
        tables={**tables, "halves": halves},
        checks=checks(table) if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    return [
        Drawing(
            "kernels", plot_kernels(points, stored.label),
            "Time that a run costs beyond what the accelerator takes, and power of the machine, by kernel and way.",
        )
    ]  # fmt: skip


def against(stored: Stored) -> list[Against]:
    points = stored.rows("points")
    every = points.to_pylist() if points else []
    found = []
    for row in every:
        if row["way"] not in PREDICTED or row["kernel"] not in REGULAR:
            continue
        none, busy = (_beside(every, row, way) for way in ("none", "busy"))
        numbers = [("runs predicted in time", _accuracy(row), PAPER_ACCURACY)]
        if none:
            numbers.append(("faster than interrupts", none["cycle_us"] / row["cycle_us"] - 1, PAPER_SPEED))
        if busy and "power_w" in row:
            numbers.append(("power saved against busy waiting", 1 - row["power_w"] / busy["power_w"], PAPER_POWER))
        found += [
            Against(f"{row['kernel']}, {row['way']}: {what}", "%", f"{100 * value:.3g}", f"{100 * paper:.3g}",
                    source="engagement paper, figure 2")
            for what, value, paper in numbers
        ]  # fmt: skip
    return found


def df_runs(runs: Runs) -> pa.Table:
    """A row per run after the first ones, which are there to settle."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _runs(run)])


def _runs(run: Run) -> list[Row]:
    with run.understanding(RUNS):
        lines = list(run.lines(RUNS))
        begins = [int(line["began_ns"]) for line in lines]
        return [
            {**_place(run), "number": number, "took_us": int(line["took_ns"]) / 1e3,
             "late_us": int(line["late_ns"]) / 1e3, "cycle_us": (begins[number + 1] - begins[number]) / 1e3}
            for number, line in enumerate(lines[:-1])
            if number >= int(run.values["settle"])
        ]  # fmt: skip


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE)


def df_points(runs: Runs, ends: pa.Table, windows: pa.Table) -> pa.Table:
    """A row per point: quantiles of how late the program knows, what a run costs beside its time, power, accuracy."""
    return waiting.df_points(runs, _place, ends, windows, "late_us", _costs)


def df_halves(ends: pa.Table) -> pa.Table:
    """Two rows per point, with the same numbers of runs in all ways: a run's time is drawn by its number."""
    every = waiting.by_point(ends)
    numbers: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for own in every.values():
        of_point = [row["number"] for row in own]
        numbers.setdefault(_alike(own[0]), []).append((min(of_point), max(of_point)))
    found = []
    for point, own in every.items():
        lows, highs = zip(*numbers[_alike(own[0])], strict=True)
        first, last = max(lows), min(highs)
        middle = (first + last + 1) // 2
        for half, low, high in (("first", first, middle - 1), ("second", middle, last)):
            there = [row for row in own if low <= row["number"] <= high]
            if there:
                late, cycle = ([row[name] for row in there] for name in ("late_us", "cycle_us"))
                found.append(
                    {
                        "point": point, "half": half, "runs": len(there), "median_us": float(np.median(late)),
                        "cycle_us": float(np.mean(cycle)),
                    }
                )  # fmt: skip
    return pa.Table.from_pylist(found, schema=_HALVES)


_HALVES = pa.schema(
    [("point", pa.string()), ("half", pa.string()), ("runs", pa.int64())]
    + [(name, pa.float64()) for name in ("median_us", "cycle_us")]
)


def _alike(row: Row) -> tuple[Any, ...]:
    """What two points share that are compared by their way."""
    return tuple(row.get(name) for name in ("kernel", "group"))


def _halves_text(halves: pa.Table) -> str:
    return markdown_table(
        ("point", "half", "runs", "late, median µs", "cycle, µs"),
        [
            (row["point"], row["half"], row["runs"], f"{row['median_us']:.4g}", f"{row['cycle_us']:.4g}")
            for row in halves.to_pylist()
        ],
    )


def _costs(run: Run, own: list[Row]) -> Row:
    found: Row = {name: float(np.mean([each[name] for each in own])) for name in ("took_us", "cycle_us")}
    with run.understanding(ACCURACY):
        counts = next(iter(run.lines(ACCURACY)))
        return found | {name: int(counts[name]) for name in COUNTS}


def _accuracy(row: Row) -> float:
    """Runs that ended in a window, of all: a run that was not predicted is none of them."""
    return row["hits"] / row["seen"] if row["seen"] else 0.0


def _beside(every: list[Row], row: Row, way: str) -> Row | None:
    return waiting.beside(every, row, way, ("kernel", "group"))


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = ("kernel", "way", "governor", "runs", "late, median µs", "p99", "run, µs", "cycle, µs") + (
        ("power, mW",) if timed else ()
    )
    return markdown_table(
        headings,
        [
            (
                row["kernel"], row["way"], row["governor"], row["events"], waiting.quantile_text(row, "median"),
                waiting.quantile_text(row, "p99"), f"{row['took_us']:.4g}", f"{row['cycle_us']:.4g}",
                *((waiting.watts_text(row, "power_w"),) if timed else ()),
            )
            for row in points.to_pylist()
        ],
    )  # fmt: skip


def _accuracy_text(points: pa.Table) -> str:
    return markdown_table(
        ("kernel", "way", "runs", "predicted", "in time", "early", "late", "in time, of all"),
        [
            (row["kernel"], row["way"], *(row[name] for name in COUNTS), f"{100 * _accuracy(row):.3g} %")
            for row in points.to_pylist()
            if row["way"] in PREDICTED
        ],
    )


def checks(points: pa.Table) -> list[Check]:
    """Regular kernels are predicted, and then nobody has to wait busily; the irregular one costs nothing."""
    every = points.to_pylist()
    found = []
    for row in every:
        none, busy = (_beside(every, row, way) for way in ("none", "busy"))
        if row["way"] not in PREDICTED or none is None or busy is None:
            continue
        name = f"{row['kernel']}, {row['way']}"
        if row["kernel"] not in REGULAR:
            found.append(
                Check(
                    f"{name}: prediction that fails costs neither time nor power",
                    row["median_us"] <= 1.02 * none["median_us"] and row["power_w"] <= 1.02 * none["power_w"],
                    f"late by {row['median_us']:.4g} µs and {1e3 * row['power_w']:.4g} mW, without prediction "
                    f"{none['median_us']:.4g} µs and {1e3 * none['power_w']:.4g} mW",
                )
            )
            continue
        beyond, least = (each["cycle_us"] - each["took_us"] for each in (row, busy))
        found += [
            Check(
                f"{name}: at least {100 * PAPER_ACCURACY:g} % of the runs are predicted in time",
                _accuracy(row) >= PAPER_ACCURACY,
                f"{row['hits']} of {row['seen']}; {row['predicted']} were predicted",
            ),
            Check(
                f"{name}: at most {100 * NEAR_BUSY:g} % slower than busy waiting",
                beyond <= least + NEAR_BUSY * (row["took_us"] + least),
                f"a run costs {beyond:.4g} µs beside its {row['took_us']:.4g} µs, with busy waiting {least:.4g}, with "
                f"interrupts {none['cycle_us'] - none['took_us']:.4g}",
            ),
        ]
    return found


def plot_kernels(points: pa.Table, label: str) -> Figure:
    rows = [row for row in points.to_pylist() if row["group"] == "kernels"]
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    ways = list(dict.fromkeys(row["way"] for row in rows))
    figure, axes = style.panels(2, 2, 2.6)
    width = 0.8 / len(ways)
    for number, way in enumerate(ways):
        own = {row["kernel"]: row for row in rows if row["way"] == way}
        shown = [kernel for kernel in kernels if kernel in own]
        at = [kernels.index(kernel) + (number - (len(ways) - 1) / 2) * width for kernel in shown]
        look: dict[str, Any] = {
            "width": width, "color": style.GREYS[number % len(style.GREYS)], "edgecolor": "black", "label": way,
        }  # fmt: skip
        axes[0].bar(at, [own[kernel]["cycle_us"] - own[kernel]["took_us"] for kernel in shown], **look)
        axes[1].bar(at, [1e3 * own[kernel]["power_w"] for kernel in shown], **look)
    for axis in axes:
        axis.set_xticks(range(len(kernels)), kernels)
        axis.legend()
    axes[0].set_ylabel("time beside the run (µs)")
    axes[1].set_ylabel("power of the machine (mW)")
    figure.suptitle(f"Runs of an accelerator\n{label}")
    return figure
