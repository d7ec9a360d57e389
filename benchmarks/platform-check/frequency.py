# SPDX-License-Identifier: BSD-3-Clause
"""Is a frequency visible in what runs? The time of a loop within the first-level cache, at every operating point.

The median of the runs stands for the point: interrupts and cold caches make one longer, and an out-of-order core may
fall into another rhythm of the same loop for a whole run, a fifth quicker or slower. Time and frequency multiplied are
the loop's cycles, which have to be the same at all operating points of a cluster.
"""

from statistics import median_low as median

import pyarrow as pa
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.scenario.runs import Runs

GROUP = "frequency"
FILE = "loop.jsonl"
TOLERANCE = 0.01


def tables(runs: Runs) -> dict[str, pa.Table]:
    table = df_frequency(runs)
    return {"frequency": table} if table.num_rows else {}


def extend(result: Result, timed: bool) -> None:
    table = result.tables["frequency"]
    rows = [
        (row["cluster"], f"{row['mhz']:g}", row["runs"], row["ticks"], f"{row['cycles']:.4f}")
        for row in table.to_pylist()
    ]
    headings = ("cluster", "MHz", "runs", "median, ticks", "cycles, of the cluster's mean")
    result.summary += "\n## A loop's time at every operating point\n\n" + markdown_table(headings, rows)
    if timed:
        result.checks += checks(table)


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("frequency")
    if table is None or not stored.origin.timed:
        return []
    caption = "A loop's median time over the period of the clock."
    return [Drawing("frequency", plot_frequency(table, stored.label), caption)]


def df_frequency(runs: Runs) -> pa.Table:
    """A row per cluster and operating point: the median run, and its cycles as a share of the cluster's mean."""
    rows: list[dict[str, object]] = []
    for run in runs.group(GROUP):
        times: dict[str, dict[int, list[int]]] = {}
        with run.understanding(FILE):
            for line in run.lines(FILE):
                points = times.setdefault(run.cluster_of(int(line["cpu"])), {})
                points.setdefault(int(line["khz"]), []).append(int(line["ticks"]))
        for cluster, points in times.items():
            products = {khz: khz * median(ticks) for khz, ticks in points.items()}
            mean = sum(products.values()) / len(products)
            rows += [
                {
                    "cluster": cluster,
                    "mhz": khz / 1000,
                    "runs": len(points[khz]),
                    "ticks": median(points[khz]),
                    "cycles": products[khz] / mean,
                }
                for khz in sorted(points)
            ]
    return pa.Table.from_pylist(rows)


def checks(table: pa.Table) -> list[Check]:
    found: list[Check] = []
    for cluster in dict.fromkeys(table["cluster"].to_pylist()):
        cycles = [row["cycles"] for row in table.to_pylist() if row["cluster"] == cluster]
        apart = max(cycles) / min(cycles) - 1
        says = f"a loop's cycles differ by {apart:.3%} at {len(cycles)} operating points, may by {TOLERANCE:.0%}"
        found.append(Check(f"time scales with frequency on {cluster}", apart <= TOLERANCE, says))
    return found


def plot_frequency(table: pa.Table, label: str) -> Figure:
    """Straight through the origin, if all is well; clusters by marker."""
    rows = table.to_pylist()
    figure, (axis,) = style.panels(1, 1, 2.6)
    handles: dict[str, Artist] = {}
    for number, cluster in enumerate(dict.fromkeys(row["cluster"] for row in rows)):
        here = [row for row in rows if row["cluster"] == cluster]
        slowest = here[0]
        axis.plot(
            [0, 1000 / slowest["mhz"]], [0, slowest["ticks"]],
            color="0.5", linewidth=0.8, linestyle=style.LINES[number % 4],
        )  # fmt: skip
        (points,) = axis.plot(
            [1000 / row["mhz"] for row in here], [row["ticks"] for row in here], linestyle="none",
            marker=style.MARKERS[number % 8], markersize=4, markerfacecolor="none", color="black",
        )  # fmt: skip
        handles[cluster] = points
    axis.set_xlabel("period of the clock (ns)")
    axis.set_ylabel("time of the loop (counter ticks)")
    axis.set_xlim(left=0)
    axis.set_ylim(bottom=0)
    figure.suptitle(f"A loop's time at every operating point\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles))
    return figure
