# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `cold-caches`: what a lost line and a lost prediction cost, beside what is charged."""

from typing import Any

import pyarrow as pa

from lull.platform.cores import load_core
from lull.platform.schema import Cluster
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import with_interval
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

FILE = "losses.jsonl"
LINE_BYTES = 64
STATES = {"first level": "C3", "all levels": "C4"}
"""The idle state that loses what the program lost."""
IN_ORDER, ALONG_CHAIN = "in order", "along a chain"

HIT_CYCLES = 8
"""A hit in the first level takes 3 or 4 cycles along a chain, one in the second level 12 or more."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    table = df_costs(runs)
    rows = [
        (
            row["platform"], row["core"], f"{row['mhz']:g}", row["lost"], row["way"], row["count"],
            f"{row['before_ns']:.3g}", with_interval(row["extra_ns"], row["extra_ns_pm"]),
            "-" if row["charged_ns"] is None else f"{row['charged_ns']:.3g}",
        )
        for row in table.to_pylist()
    ]  # fmt: skip
    headings = (
        "",
        "core",
        "MHz",
        "lost",
        "gone through",
        "lines or branches",
        "before, ns each",
        "more, ns each",
        "charged, ns each",
    )
    summary = (
        "Time for each line or branch before the loss, and how much more after it, with 95 % intervals. What an idle "
        "state is charged is the platform file's: `refill_us` over the lines of the caches that the state loses, and "
        "`flush_us` over those that it may have to write back.\n\n" + markdown_table(headings, rows)
    )
    return Result(summary, {"costs": table}, checks(table) if runs.timed else [])


def df_costs(runs: Runs) -> pa.Table:
    """A row for each core, kind of loss and way to go through what was lost."""
    found: list[Row] = []
    for run in runs.runs:
        measured: dict[tuple[int, str, str], list[Row]] = {}
        with run.understanding(FILE):
            for line in run.lines(FILE):
                measured.setdefault((int(line["cpu"]), str(line["lost"]), str(line["way"])), []).append(
                    {name: int(line[name]) for name in ("count", "before", "after", "hz")}
                )
        found += [_row(run, *place, lines) for place, lines in measured.items()]
    return pa.Table.from_pylist(found)


def _row(run: Run, cpu: int, lost: str, way: str, lines: list[Row]) -> Row:
    cluster = run.cluster(cpu)
    ns = [1e9 / (line["hz"] * line["count"]) for line in lines]
    extra, half = student.mean(
        [(line["after"] - line["before"]) * scale for line, scale in zip(lines, ns, strict=True)]
    )
    before, _ = student.mean([line["before"] * scale for line, scale in zip(lines, ns, strict=True)])
    return {
        "point": run.name,
        "platform": run.spec.platform.name,
        "cluster": cluster.name,
        "core": cluster.core,
        "mhz": cluster.opps.table[-1].mhz,
        "lost": lost,
        "way": way,
        "count": lines[0]["count"],
        "repetitions": len(lines),
        "before_ns": before,
        "extra_ns": extra,
        "extra_ns_pm": half,
        "charged_ns": _charged_ns(cluster, lost),
    }


def _charged_ns(cluster: Cluster, lost: str) -> float | None:
    """The platform's charge for one line: None for what no state is charged for."""
    core = load_core(cluster.core)
    first, second = (core.l1i.size_kib + core.l1d.size_kib) * 1024, cluster.l2.size_kib * 1024
    actual = {str(state.name): state.actual for state in cluster.cstates}
    if lost in STATES and STATES[lost] in actual:
        size = first if lost == "first level" else second
        return actual[STATES[lost]].refill_us * 1000 * LINE_BYTES / size
    if lost == "dirty lines" and "C4" in actual:
        return actual["C4"].flush_us * 1000 * LINE_BYTES / second
    return None


def checks(table: pa.Table) -> list[Check]:
    """A charge lies between the two ways to go through lines: one knows all addresses beforehand, the other none."""
    rows = {(row["platform"], row["core"], row["lost"], row["way"]): row for row in table.to_pylist()}
    found = []
    for lost, state in STATES.items():
        ranges = [
            (platform, core, rows[platform, core, lost, IN_ORDER], row)
            for (platform, core, what, way), row in rows.items()
            if what == lost and way == ALONG_CHAIN and row["charged_ns"] is not None
        ]
        if not ranges:
            continue
        inside = [low["extra_ns"] <= row["charged_ns"] <= row["extra_ns"] for _, _, low, row in ranges]
        says = "; ".join(
            f"{core} of {platform}: {row['charged_ns']:.3g} ns, measured {low['extra_ns']:.3g} to {row['extra_ns']:.3g}"
            for platform, core, low, row in ranges
        )
        found.append(
            Check(f"what {state} is charged for a lost line is within what such lines cost", all(inside), says)
        )
    return [*found, *_resident(table)]


def _resident(table: pa.Table) -> list[Check]:
    """Before the loss, lines of the first level are there. Pages that fall on the same lines would not be."""
    cycles = {
        (row["core"], row["platform"]): row["before_ns"] * row["mhz"] / 1e3
        for row in table.to_pylist()
        if (row["lost"], row["way"]) == ("first level", ALONG_CHAIN)
    }
    if not cycles:
        return []
    says = "; ".join(f"{core} of {platform}: {own:.3g} cycles each" for (core, platform), own in cycles.items())
    name = f"lines are in the first level before they are lost: at most {HIT_CYCLES} cycles each"
    return [Check(name, max(cycles.values()) <= HIT_CYCLES, says)]


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("costs")
    if table is None or not stored.origin.timed:
        return []
    figure, axes = style.panels(len(STATES), 2, 2.4)
    for axis, (lost, state) in zip(axes, STATES.items(), strict=True):
        rows = [row for row in table.to_pylist() if row["lost"] == lost]
        names = list(dict.fromkeys(f"{row['core']}\n{row['platform']}" for row in rows))
        for number, way in enumerate((IN_ORDER, ALONG_CHAIN)):
            own = [row for row in rows if row["way"] == way]
            axis.errorbar(
                range(len(own)), [row["extra_ns"] for row in own], yerr=[row["extra_ns_pm"] for row in own],
                linestyle="none", marker=style.MARKERS[number], markersize=4, color="black", capsize=2,
                label=f"measured, {way}",
            )  # fmt: skip
        charged = [row["charged_ns"] for row in rows if row["way"] == IN_ORDER]
        axis.plot(
            range(len(charged)),
            charged,
            linestyle="none",
            marker="_",
            markersize=14,
            color="0.5",
            label="charged",
        )
        axis.set_xticks(range(len(names)), names, fontsize=6)
        axis.set_yscale("log")
        axis.set_ylabel("time for a lost line (ns)")
        axis.set_title(f"{lost} lost, as in {state}")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.suptitle(f"What a lost line costs\n{stored.label}")
    style.legend_below(figure, handles, labels)
    return [Drawing("lines", figure, "Time for a line that was lost, measured and charged.")]
