# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `cold-caches`: what a lost line and a lost prediction cost, beside what is charged."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lull.platform.cores import InOrderCore, OutOfOrderCore, load_core
from lull.platform.schema import Cluster
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import number, with_interval
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result, need
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

FILE = "losses.jsonl"
LINE_BYTES = 64
STATES = {"first level": "C3", "all levels": "C4"}
"""The idle state that loses what the program lost."""
DIRTY, PREDICTIONS = "dirty lines", "predictions"
IN_ORDER, ALONG_CHAIN = "in order", "along a chain"
ERROR = 0.25
"""The largest error of a charge that stands for one way to lose a line: as that of a wake-up in energy-validation."""

HIT_CYCLES = 8
"""A hit in the first level takes 3 or 4 cycles along a chain, one in the second level 12 or more."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    return conclude({"costs": df_costs(runs)}, runs.names, runs.timed)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables alone."""
    table = need(tables, "costs", "whole", "most_ns")
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
        "`flush_us` over those that it may have to write back.\n\n" + markdown_table(headings, rows) + _bounds(table)
    )
    return Result(summary, {"costs": table}, checks(table) if timed else [])


def _bounds(table: pa.Table) -> str:
    """The section of the summary with the time of everything that a wake-up may lose: so wrong may a charge be."""
    losses: dict[tuple[str, str, str], list[Row]] = {}
    for row in table.to_pylist():
        losses.setdefault((row["platform"], row["core"], row["lost"]), []).append(row)
    rows = []
    for (platform, core, lost), ways in losses.items():
        each, whole = ways[0], ways[0]["whole"]
        ns = [row["extra_ns"] for row in ways] + ([each["most_ns"]] if each["most_ns"] is not None else [])
        state = {**STATES, DIRTY: "C4", PREDICTIONS: "C3, C4"}[lost]
        charged, *measured = (number(value * whole / 1e3, 3) for value in (each["charged_ns"] or 0.0, *ns))
        rows.append((platform, core, lost, state, whole, charged, " to ".join(measured)))
    headings = ("", "core", "lost", "in", "lines or branches", "charged, µs", "measured, µs")
    return (
        "\n## Bounds of a wake-up\n\nThe same for all lines that the state may lose, in µs for each sleep. Lines: "
        "first in order, then along a chain. Predictions: of the branches of this experiment, first measured, then if "
        "each were mispredicted. A wake-up with more different branches may cost more.\n\n"
        + markdown_table(headings, rows)
    )


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
        "whole": lines[0]["count"] if lost == PREDICTIONS else _whole(cluster, lost),
        "most_ns": _mispredicted_ns(cluster) if lost == PREDICTIONS else None,
    }


def _charged_ns(cluster: Cluster, lost: str) -> float | None:
    """The platform's charge for one line: None for what no state is charged for."""
    actual = {str(state.name): state.actual for state in cluster.cstates}
    if lost in STATES and STATES[lost] in actual:
        return actual[STATES[lost]].refill_us * 1000 / _whole(cluster, lost)
    if lost == DIRTY and "C4" in actual:
        return actual["C4"].flush_us * 1000 / _whole(cluster, lost)
    return None


def _whole(cluster: Cluster, lost: str) -> int:
    """The number of lines that a state loses: those of both L1s, or of the L2."""
    core = load_core(cluster.core)
    kib = core.l1i.size_kib + core.l1d.size_kib if lost == "first level" else cluster.l2.size_kib
    return kib * 1024 // LINE_BYTES


def _mispredicted_ns(cluster: Cluster) -> float:
    """The penalty of a misprediction at the fastest clock, which no lost prediction costs more than."""
    core = load_core(cluster.core)
    assert isinstance(core, InOrderCore | OutOfOrderCore)
    return core.stages.mispredict_cycles * 1e3 / cluster.opps.table[-1].mhz


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
    return [
        *found,
        *_near(table, "first level", ALONG_CHAIN, _FROM_L2),
        *_near(table, DIRTY, None, _DIRTY),
        *_resident(table),
    ]


_FROM_L2 = "what C3 is charged for a lost line is what such a line takes from the L2, one after the other"
_DIRTY = "what C4 is charged for a dirty line is what such a line takes longer than a clean one"


def _near(table: pa.Table, lost: str, way: str | None, name: str) -> list[Check]:
    """A charge that stands for one way to lose a line is near what is measured in this way.

    The range between the ways is no bound for C3. An out-of-order core reads an array from the L2 as fast as from the
    L1, so nearly every charge is in the range. But the platform files say how they come to C3's charge: all lines one
    after the other from the L2. That is the chain.
    """
    rows = [
        row
        for row in table.to_pylist()
        if row["lost"] == lost and way in (None, row["way"]) and row["charged_ns"] is not None
    ]
    if not rows:
        return []
    near = [abs(row["charged_ns"] - row["extra_ns"]) <= ERROR * row["extra_ns"] for row in rows]
    says = "; ".join(
        f"{row['core']} of {row['platform']}: {row['charged_ns']:.3g} ns, measured {row['extra_ns']:.3g}"
        for row in rows
    )
    return [Check(name, all(near), f"may differ by {ERROR:.0%}: {says}")]


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
        for place, way in enumerate((IN_ORDER, ALONG_CHAIN)):
            own = [row for row in rows if row["way"] == way]
            axis.errorbar(
                range(len(own)), [row["extra_ns"] for row in own], yerr=[row["extra_ns_pm"] for row in own],
                linestyle="none", marker=style.MARKERS[place], markersize=4, color="black", capsize=2,
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
