# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `eanem-packets`: equation 1 of the EANeM paper, and its coefficients."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs

from . import line

LOAD = "load.jsonl"
PLACE = ("cpu", "mhz", "mss", "interval_us")
LINEAR = 0.98
"""What the line has to explain of the spread, at least."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    table = df_intervals(runs)
    return conclude({"intervals": table}, [run.name for run in runs.runs], runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the intervals of those points that have run, of all."""
    intervals = tables["intervals"]
    coefficients = df_coefficients(intervals)
    return Result(
        summary="## Packets a second = alpha · load · GHz + beta\n\n"
        + waiting.so_far(intervals, points)
        + "Load: the part of an interval in which the CPU did not sleep. Intervals are of 95 %.\n\n"
        + _coefficients_text(coefficients),
        tables={**tables, "coefficients": coefficients},
        checks=checks(coefficients) if timed else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    intervals, coefficients = stored.rows("intervals"), stored.rows("coefficients")
    if intervals is None or coefficients is None or not stored.origin.timed:
        return []
    figure = plot_packets(intervals, coefficients, stored.label)
    return [Drawing("packets", figure, "Packets a second over load times frequency, by core and size.")]


def df_intervals(runs: Runs) -> pa.Table:
    """A row per interval that counts."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _intervals(run)])


def _intervals(run: Run) -> list[Row]:
    place = waiting.place(run, PLACE)
    with run.understanding(LOAD):
        return [
            {
                **place,
                "phase": int(each["phase"]),
                "rate_mbit_s": int(each["rate_kbit_s"]) / 1e3,
                "load": 1 - min(int(each["slept_ns"]), int(each["ns"])) / int(each["ns"]),
                "load_ghz": (1 - min(int(each["slept_ns"]), int(each["ns"])) / int(each["ns"])) * place["mhz"] / 1e3,
                "packets_s": int(each["monitor"]["packets"]) / int(each["monitor"]["ns"]) * 1e9,
                "mean_bytes": int(each["monitor"]["mean"]) / 1e3,
                "mbit_s": int(each["bytes"]) * 8e3 / int(each["ns"]),
            }
            for each in run.lines(LOAD)
            if each["settled"]
        ]


def df_coefficients(intervals: pa.Table) -> pa.Table:
    """A row per kind of core and size of packets. A core that was busy all the time is on no line."""
    every = intervals.to_pylist()
    found = []
    for group, mss in dict.fromkeys((row["group"], row["mss"]) for row in every):
        own = [row for row in every if (row["group"], row["mss"]) == (group, mss) and row["load"] < line.FULL]
        if len(own) < line.LEAST:
            continue
        fit = line.fit([row["load_ghz"] for row in own], [row["packets_s"] for row in own])
        found.append({"group": group, "mss": mss, "intervals": len(own), **fit})
    return pa.Table.from_pylist(found, schema=line.SCHEMA)


def _coefficients_text(coefficients: pa.Table) -> str:
    return markdown_table(
        ("core", "payload of a packet, bytes", "intervals", "alpha, packets/s/GHz", "beta, packets/s", "R²"),
        [
            (
                row["group"], row["mss"], row["intervals"], f"{row['alpha']:.5g} ± {row['alpha_pm']:.2g}",
                f"{row['beta']:.4g} ± {row['beta_pm']:.2g}", f"{row['r2']:.4f}",
            )
            for row in coefficients.to_pylist()
        ],
    )  # fmt: skip


def checks(coefficients: pa.Table) -> list[Check]:
    return [
        Check(
            f"{row['group']}, {row['mss']} bytes: packets a second are linear in load times frequency",
            row["r2"] >= LINEAR,
            f"R² {row['r2']:.4f}, at least {LINEAR:g}",
        )
        for row in coefficients.to_pylist()
    ]


def plot_packets(intervals: pa.Table, coefficients: pa.Table, label: str) -> Figure:
    figure, axes = style.panels(1, 2, 2.6)
    every = intervals.to_pylist()
    for axis, group in zip(axes, ("little", "big"), strict=True):
        for number, mss in enumerate(sorted({row["mss"] for row in every})):
            own = [row for row in every if (row["group"], row["mss"]) == (group, mss)]
            axis.plot(
                [row["load_ghz"] for row in own], [row["packets_s"] for row in own], style.MARKERS[number],
                color="black", markersize=4, label=f"{mss} bytes",
            )  # fmt: skip
        for row in coefficients.to_pylist():
            if row["group"] == group:
                end = max(each["load_ghz"] for each in every if each["group"] == group)
                axis.plot([0, end], [row["beta"], row["beta"] + row["alpha"] * end], color="black", linewidth=0.8)
        axis.set_title(group)
        axis.set_xlabel("load times frequency (GHz)")
    axes[0].set_ylabel("packets/s")
    axes[0].legend()
    figure.suptitle(f"Packets received\n{label}")
    return figure
