# SPDX-License-Identifier: BSD-3-Clause
"""The firmware's own path beside the one figure that is published: TF-A on Arm's Juno board.

Both are the time between the same stamps of the same firmware's code. Ours is of the points without any latency of the
hardware, cache maintenance included in neither. It is a comparison and not a check: the board's clocks, its platform
code and its power controller are others.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure

from lull.figures import wake
from lull.files import yaml_file
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Result
from lull.scenario.runs import Runs

PUBLISHED = Path(__file__).with_name("juno.yaml")
MEASURED = {"entry": ("entry", "actual_entry_us"), "exit": ("firmware", "actual_exit_us")}
"""Juno's word, the phase that it is here, and the latency that has to be 0."""


def extend(result: Result, table: pa.Table) -> None:
    result.tables["firmware-path"] = table
    rows = [
        (
            row["path"], row["state"], row["cluster"], f"{row['core']} {row['clock_mhz']:g} MHz",
            f"{row['ours_us']:.2f}", f"{row['juno_us']:g}", f"{row['juno_clock_mhz']:g} MHz",
            f"{row['ours_us'] / row['juno_us']:.2f}",
        )
        for row in table.to_pylist()
    ]  # fmt: skip
    headings = ("path", "state", "cluster", "core", "here, µs", "Juno, µs", "Juno's clock", "here / Juno")
    result.summary += (
        "\n## The firmware's path beside Juno's\n\n"
        + markdown_table(headings, rows)
        + f"\nJuno: {_published()['source']}\n"
    )


def against(stored: Stored) -> list[Against]:
    table = stored.rows("firmware-path")
    source = str(_published()["source"]).partition(":")[0]
    return [
        Against(
            f"firmware's {row['path']} of {row['state']}, {row['cluster']} ({row['core']}, {row['clock_mhz']:g} MHz)",
            "µs", f"{row['ours_us']:.2f}", f"{row['juno_us']:g} at {row['juno_clock_mhz']:g} MHz", source=source,
        )
        for row in (table.to_pylist() if table else [])
    ]  # fmt: skip


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("firmware-path")
    if table is None:
        return []
    caption = "Median time of the firmware's own path, beside what is published of it on Arm's Juno board."
    return [Drawing("firmware-path", plot_firmware_path(table, stored.label), caption)]


def plot_firmware_path(table: pa.Table, label: str) -> Figure:
    """A panel per path and state; Juno's value is marked on each bar."""
    rows = table.to_pylist()
    places = list(dict.fromkeys((row["path"], row["state"]) for row in rows))
    figure, axes = style.panels(len(places), 2, 1.5)
    for axis, (path, state) in zip(axes, places, strict=True):
        here = [row for row in rows if (row["path"], row["state"]) == (path, state)]
        names = [f"{row['cluster']} ({row['core']}, {row['clock_mhz']:g} MHz)" for row in here]
        axis.barh(
            range(len(here)), [row["ours_us"] for row in here], height=0.6, color=style.GREYS[0], edgecolor="black",
            linewidth=0.5, label="here",
        )  # fmt: skip
        axis.plot(
            [row["juno_us"] for row in here], range(len(here)), linestyle="none", marker="D", color="black",
            markersize=4, label=f"Juno ({_clocks(here)})",
        )  # fmt: skip
        axis.set_yticks(range(len(here)), names)
        axis.invert_yaxis()
        axis.set_title(f"{path} of {state}")
        axis.set_xlabel("firmware's path (µs)")
    figure.suptitle(f"The firmware's path beside Juno's\n{label}")
    style.legend_below(figure, *axes[0].get_legend_handles_labels())
    return figure


def _clocks(rows: list[dict[str, Any]]) -> str:
    clocks = dict.fromkeys((row["core"], row["juno_clock_mhz"]) for row in rows)
    return ", ".join(f"{core} at {mhz:g} MHz" for core, mhz in clocks)


def df_firmware_path(runs: Runs, wakes: pa.Table) -> pa.Table:
    """Medians, for the cores that Juno has, in the states that it has."""
    published = _published()
    clusters = {cluster.name: cluster for cluster in runs.runs[0].spec.platform.resolved_clusters()}
    rows: list[dict[str, object]] = []
    for path, (phase, axis) in MEASURED.items():
        bare = wakes.filter(pc.and_(pc.equal(wakes["group"], path), pc.equal(wakes[axis], 0.0)))
        for name, state in wake.cells(bare):
            core = clusters[name].core
            for line in published["paths"]:
                values = wake.microseconds(wake.cell(bare, name, state), phase)
                if (line["core"], line["state"]) != (core, state) or not len(values):
                    continue
                juno = line["entry_us"] - line["flush_us"] if path == "entry" else line["exit_us"]
                rows.append(
                    {
                        "path": path,
                        "cluster": name,
                        "core": core,
                        "state": state,
                        "n": len(values),
                        "clock_mhz": float(clusters[name].opps.table[-1].mhz),
                        "ours_us": float(np.median(values)),
                        "juno_us": float(juno),
                        "juno_clock_mhz": float(published["clock_mhz"][core]),
                    }
                )
    return pa.Table.from_pylist(rows)


def _published() -> dict[str, Any]:
    return yaml_file.read(PUBLISHED, yaml_file.shown(PUBLISHED), "data", "benchmarks/wake-latency/README.md")
