# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `esm-looks`: what ESM saves, over what a look of the poll costs.

The paper's 23.8 % are of the power that software contributes, so of the poll's power above that of an idle machine.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures.esm import boots as esm_boots
from lull.figures.esm import checks as esm_checks
from lull.figures.esm import paired, two_methods
from lull.figures.esm import points as esm_points
from lull.figures.esm import runs as esm_runs
from lull.figures.esm import tables as esm_tables
from lull.figures.esm.points import ESM
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import with_interval
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result, need
from lull.scenario.runs import Runs
from lull.statistics import student

AXIS = "moves"
HEADING = "motions a second"
PAPER_PERCENT = 23.8
ANDROID_US = 1600
"""What a look of the paper's poll took: 12.14 s of CPU time in 120 s, 62 times a second."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    points = esm_runs.read(runs)
    tables = {**esm_tables.of_points(points, AXIS), "deciles": esm_points.df_deciles(points, AXIS)}
    if runs.timed:
        costs = {run.name: int(run.values["look"]) // esm_points.STEPS_PER_US for run in runs.runs}
        tables["saved"] = df_saved(tables["differences"].to_pylist(), tables["points"].to_pylist(), costs)
    result = conclude(tables, runs.names, runs.timed)
    return result if runs.timed else esm_tables.without_joules(result, runs.label)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables alone."""
    table = need(tables, "points", *esm_checks.COLUMNS)
    rows = table.to_pylist()
    result = Result(
        summary="## Points\n\nMeans with 95 % intervals over repetitions.\n\n"
        + esm_points.points_text(table, AXIS, HEADING),
        tables=dict(tables),
        checks=[esm_checks.delivered(rows)],
    )
    if not timed:
        return result
    saved, deciles, boots = tables["saved"], tables["deciles"], tables.get("boots", esm_boots.NONE)
    differences = need(tables, "differences", *paired.COLUMNS)
    result.summary = "## What ESM saves over a 16 ms poll\n\n" + _text(saved) + "\n" + result.summary
    result.summary += paired.text(differences, AXIS, HEADING) + esm_points.deciles_text(deciles, AXIS, HEADING)
    result.summary += esm_boots.text(boots, AXIS, HEADING) + two_methods.text(table)
    result.checks += [*esm_checks.clocks(rows), *checks(saved), *esm_boots.checks(boots)]
    return result


def df_saved(differences: Sequence[Row], points: Sequence[Row], costs: dict[str, int]) -> pa.Table:
    """A row for each poll: what a look costs, what share of a CPU looks take, and what ESM saves over it.

    `percent` is of the poll's power, `above_percent` of its power above that of an untouched machine, on which the
    program waits by ESM for events that never come; each with half its 95 % interval.
    """
    own = {row["point"]: row for row in points}
    rows: list[Row] = []
    for row in differences:
        if row["power_w"] is None or not row["against"].startswith("pull") or not row["series"].startswith(ESM):
            continue
        poll = own[row["other"]]
        saved = paired.shares(row)
        half = paired.shares({**row, "power_w": -row["power_w_pm"]}) if row["power_w_pm"] is not None else {}
        shares = {"percent": saved["machine"], "percent_pm": half.get("machine")}
        shares |= {name: row[name] for name in ("above_percent", "above_percent_pm")}
        rows.append(
            {
                "poll": row["other"], "esm": row["one"], "series": row["series"], "against": row["against"],
                AXIS: row[AXIS], "look_us": costs[row["other"]], "cpu_share": poll["cpu_share"], "mhz": poll["mhz"],
                "power_w": poll["power_w"], "saved_w": -row["power_w"], "saved_w_pm": row["power_w_pm"], **shares,
                "sooner_us": -row["latency_us"] if row["latency_us"] is not None else None,
            }
        )  # fmt: skip
    return pa.Table.from_pylist(sorted(rows, key=lambda row: (row["series"], row[AXIS], row["look_us"])))


def checks(saved: pa.Table) -> list[Check]:
    """Does the share fall with the rate of events, from the paper's on? Does a dear look make the share larger?"""
    rows = [row for row in saved.to_pylist() if row["above_percent_pm"] is not None and row["series"] == ESM]
    cheap = sorted((row for row in rows if row["look_us"] == 0), key=lambda row: row[AXIS])
    found = []
    if len(cheap) > 1:
        fewest, most = cheap[0], cheap[-1]
        low, high = _ends(fewest)
        found += [
            Check(
                "with looks of one system call, ESM saves a smaller share the more events there are, as in the paper",
                low > _ends(most)[1],
                f"{_share(fewest)} and {_share(most)} of what the poll adds",
            ),
            Check(
                "with looks of one system call, ESM saves the paper's share where events are fewest",
                low <= PAPER_PERCENT <= high,
                f"{_share(fewest)}, the paper {PAPER_PERCENT} %",
            ),
        ]
    for dear in (row for row in rows if row["look_us"] == ANDROID_US):
        for row in cheap:
            if row[AXIS] == dear[AXIS]:
                found.append(
                    Check(
                        f"at {row[AXIS]} {HEADING}, ESM saves a larger share of what the poll adds if looks are dear",
                        _ends(dear)[0] > _ends(row)[1],
                        f"{_share(dear)} with looks of {ANDROID_US} µs, {_share(row)} with looks of one system call",
                    )
                )
    return found


def _of_first_boot(saved: pa.Table) -> list[Row]:
    """Without the points of other boots, which have a table of their own."""
    return [row for row in saved.to_pylist() if esm_points.BOOT not in row["series"]]


def _ends(row: Row) -> tuple[float, float]:
    return student.ends(row["above_percent"], row["above_percent_pm"])


def _share(row: Row) -> str:
    return f"{with_interval(row['above_percent'], row['above_percent_pm'])} % at {row[AXIS]} {HEADING}"


def draw(stored: Stored) -> list[Drawing]:
    saved = stored.rows("saved")
    if saved is None or not any(row[AXIS] == 25 for row in saved.to_pylist()):
        return []
    return [Drawing("saved", plot(saved, stored.label), "What ESM saves, over what a look of the poll costs.")]


def against(stored: Stored) -> list[Against]:
    saved = stored.rows("saved")
    rows = [row for row in _of_first_boot(saved) if row["look_us"] == ANDROID_US] if saved is not None else []
    return [
        Against(
            f"power saved by {row['series']} over {row['against']} at {row[AXIS]} {HEADING}, of what software adds",
            "%", f"{row['above_percent']:.3g}", f"{PAPER_PERCENT}", source="ESM paper",
        )
        for row in rows
        if row["above_percent"] is not None
    ]  # fmt: skip


SHARES = {"percent": "of SoC and memory", "above_percent": "of what the poll adds"}


def plot(saved: pa.Table, label: str) -> Figure:
    """A panel for each share that is known, with a line for each way of ESM at 25 motions a second."""
    rows = [row for row in _of_first_boot(saved) if row[AXIS] == 25 and row["cpu_share"] > 0]
    known = [column for column in SHARES if any(row[column] is not None for row in rows)]
    figure, axes = style.panels(len(known), len(known), 2.4)
    for axis, column in zip(axes, known, strict=True):
        for number, series in enumerate(dict.fromkeys(row["series"] for row in rows)):
            own = sorted((row for row in rows if row["series"] == series), key=lambda row: row["cpu_share"])
            own = [row for row in own if row[column] is not None]
            axis.errorbar(
                [row["cpu_share"] * 100 for row in own], [row[column] for row in own],
                yerr=[row[f"{column}_pm"] or 0.0 for row in own], color="black", linewidth=1, capsize=2,
                linestyle=style.LINES[number % len(style.LINES)], marker=style.MARKERS[number % len(style.MARKERS)],
                markersize=4, label=series,
            )  # fmt: skip
        axis.axhline(PAPER_PERCENT, color="0.6", linewidth=0.8, label=f"paper, {PAPER_PERCENT} %")
        axis.set_title(SHARES[column])
        axis.set_xscale("log")
        axis.set_xlabel("CPU time of the poll (%)")
        axis.set_ylabel("saved (%)")
        axis.set_ylim(bottom=0)
        axis.legend()
    figure.suptitle(f"ESM against a poll, 25 motions a second\n{label}")
    return figure


def _text(saved: pa.Table) -> str:
    headings = (
        "", "against", HEADING, "a look, µs", "MHz", "CPU time of the poll, %", "poll, mW", "saved, mW",
        "of SoC and memory, %", "of what the poll adds, %", "paper, %", "sooner, ms",
    )  # fmt: skip
    rows = []
    for row in _of_first_boot(saved):
        share = [esm_points.cell(row, name) for name in ("percent", "above_percent")]
        rows.append(
            (
                row["series"], row["against"], row[AXIS], row["look_us"] or "a call", f"{row['mhz']:.4g}",
                f"{row['cpu_share'] * 100:.3g}", f"{row['power_w'] * 1e3:.4g}", f"{row['saved_w'] * 1e3:.3g}",
                *share, f"{PAPER_PERCENT}", "-" if row["sooner_us"] is None else f"{row['sooner_us'] / 1e3:.3g}",
            )
        )  # fmt: skip
    return (
        "A look is arithmetic of that length at the fastest clock, beside its system call. The paper's share is of the "
        "power that software contributes, so of what the poll adds to an untouched machine. There the program waits by "
        "ESM for events that never come.\n\n" + markdown_table(headings, rows)
    )
