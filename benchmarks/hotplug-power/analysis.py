# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `hotplug-power`: figure 6 and table V of the pseudo hotplug paper."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lull.energy import rows
from lull.energy.windows import Window, read
from lull.figures import boots, repetitions, waiting
from lull.platform.schema import cpus_of_list
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Stored
from lull.results.result import Check, Result
from lull.rundir.folder import STATS_TABLE
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

FILE = "windows.jsonl"
BASELINE = "conventional"
SAME = ("load", "threads", "cpus", "cpufreq", "boot")
"""What two points share that are compared by their way."""
SWITCH = "switch"
"""Whether pseudo hotplug's switch is on in a way that does not need it. It is always on in the way `pseudo`."""
PLACE = ("way", SWITCH, *SAME)
OVER_BOOTS = {
    "share": "power", "in_share": "power without CPUs that are out", "cpus_share": "clusters", "rest_share": "all else",
    "units_share": "units/s", "unit_j_share": "energy of a unit", "insts_share": "instructions of a unit",
    "reads_share": "DRAM reads of a unit",
}  # fmt: skip
COUNTED = {
    "unit_insts": re.compile(r".*\.cpu\d+\.commitStats0\.numInsts"),
    "unit_reads": re.compile(r"system\.mem_ctrls\d+\.readReqs"),
}
"""What is counted for each unit of work: gem5's statistics that are added up."""
WITHIN = 0.01
"""The share of power by which a way may differ from conventional hotplug. The paper's differs by 0.2 %."""
PAPER_CONVENTIONAL_MW, PAPER_PSEUDO_MW = 2572, 2566
"""Of a whole phone, with its screen."""
POWERS = ("power", "raw", "em", "cpus", "out")
"""Watts: of the whole machine, calibrated; by McPAT alone; by the backend `em`; of all clusters; and of the CPUs that
are out, without what their cluster shares."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    return conclude({"windows": df_windows(runs)}, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the windows of those points that have run, of all."""
    windows = tables["windows"]
    means = df_points(windows)
    differences = df_differences(windows) if waiting.is_timed(windows) else None
    found = {"windows": windows, "points": means}
    compared = differences.to_pylist() if differences else []
    worked = [row for row in compared if row["units_share"] is not None]
    over_boots = boots.df_boots(worked, (*SAME, SWITCH), OVER_BOOTS)
    if over_boots is not None:
        found["boots"] = over_boots
    return Result(
        summary="## Power by way and load\n\n"
        + waiting.so_far(windows, points)
        + "Means with 95 % intervals over windows that ended before the load did. `out` is what the CPUs that are out "
        "burn themselves. A unit is always the same work of one load. `switch` is 1 if pseudo hotplug's switch is on "
        "in a way that does not need it.\n\n"
        + _points_text(means)
        + ("\n## Beside conventional hotplug\n\n" + _differences_text(differences) if differences else "")
        + boots.text(over_boots, {SWITCH: "switch", "load": "load"}, OVER_BOOTS),
        tables={**found, "differences": differences} if differences else found,
        checks=[*checks(differences), *boots_checks(over_boots)] if differences else [],
    )


def against(stored: Stored) -> list[Against]:
    table = stored.rows("differences")
    return [
        Against(
            f"{row['way']} beside conventional hotplug, power under the load `{row['load']}`", "%",
            f"{100 * row['share']:+.2g}", f"{100 * (PAPER_PSEUDO_MW / PAPER_CONVENTIONAL_MW - 1):+.2g}",
            source="pseudo hotplug paper",
        )
        for row in (table.to_pylist() if table else [])
        if row["way"] == "pseudo"
    ]  # fmt: skip


def df_windows(runs: Runs) -> pa.Table:
    """A row per window: work, and on gem5 power. There, windows that ended after the load are left out."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _windows(run, runs.timed)])


def _windows(run: Run, timed: bool) -> list[Row]:
    with run.understanding(FILE):
        found = [
            {
                **waiting.place(run, PLACE), "window": int(line["window"]),
                "seconds": int(line["window_us"]) / 1e6, "units_hz": int(line["units"]) * 1e9 / int(line["units_ns"]),
            }
            for line in run.lines(FILE)
        ]  # fmt: skip
    if not timed:
        return found
    out = frozenset(cpus_of_list(str(run.values["cpus"])))
    windows = repetitions.windows(run, FILE)
    powers = repetitions.watts(run, windows.edges, lambda row: _names(row, out))
    counts = counted(read(run.rundir() / STATS_TABLE), windows.edges)
    return [
        {
            **row, **{f"{name}_w": own.get(name, 0.0) for name in POWERS},
            **{name: value / (row["units_hz"] * row["seconds"]) for name, value in count.items()},
        }
        for row, own, count, kept in zip(found, powers, counts, windows.loaded, strict=True)
        if kept
    ]  # fmt: skip


def counted(windows: Iterable[Window], edges: NDArray[np.int64]) -> list[dict[str, float]]:
    """The sums of `COUNTED` in each stretch between two edges, which windows of statistics fill."""
    found = [dict.fromkeys(COUNTED, 0.0) for _ in edges[1:]]
    for window in windows:
        index = repetitions.stretch(edges, window.start, window.end)
        if index is not None:
            for name, pattern in COUNTED.items():
                found[index][name] += sum(window.matching(pattern).values())
    return found


def _names(row: Mapping[str, Any], out: frozenset[int]) -> tuple[str, ...]:
    """The sums that a row of the ledger counts in."""
    if row["band"] == rows.RAW:
        return ("raw",) if row["backend"] == "mcpat" else ()
    if row["backend"] == "em":
        return ("em",)
    own = ("power",) if row["cluster"] is None else ("power", "cpus")
    return (*own, "out") if row["cpu"] in out else own


def df_points(windows: pa.Table) -> pa.Table:
    """Means over windows, each `name` with half its interval `name_pm`."""
    found = []
    for own in waiting.by_point(windows).values():
        row: Row = {name: own[0][name] for name in ("point", "group", *PLACE)}
        row["n"] = len(own)
        row |= waiting.means(own, ("units_hz", *COUNTED, *(f"{power}_w" for power in POWERS)))
        if "power_w" in row:
            row["unit_j"] = row["power_w"] / row["units_hz"] if row["units_hz"] else None
        found.append(row)
    return pa.Table.from_pylist(found)


def df_differences(windows: pa.Table) -> pa.Table | None:
    """Power, work and energy of a unit of each way, less those of conventional hotplug under the same load, with
    intervals (Welch). Points of one window are left out."""
    points = [own for own in waiting.by_point(windows).values() if len(own) >= 2]
    base = {_load(own[0]): own for own in points if _is_base(own[0])}
    found = []
    for own in points:
        other = base.get(_load(own[0]))
        if _is_base(own[0]) or other is None:
            continue
        row: Row = {name: own[0][name] for name in PLACE}
        for stem, value in COMPARED.items():
            ours, theirs = ([value(each) for each in side] for side in (own, other))
            middle = student.mean(theirs)[0]
            gap, low, high = student.difference(theirs, ours)
            row |= (
                {stem: gap / middle, f"{stem}_low": low / middle, f"{stem}_high": high / middle}
                if middle
                else {stem: None, f"{stem}_low": None, f"{stem}_high": None}
            )
        found.append(row)
    return pa.Table.from_pylist(found) if found else None


def _is_base(row: Row) -> bool:
    return row["way"] == BASELINE and not row[SWITCH]


def _unit_j(row: Row) -> float:
    return float(row["power_w"] / row["units_hz"]) if row["units_hz"] else 0.0


COMPARED: dict[str, Callable[[Row], float]] = {
    "share": lambda row: float(row["power_w"]), "in_share": lambda row: float(row["power_w"] - row["out_w"]),
    "cpus_share": lambda row: float(row["cpus_w"]), "rest_share": lambda row: float(row["power_w"] - row["cpus_w"]),
    "units_share": lambda row: float(row["units_hz"]), "unit_j_share": _unit_j,
    "insts_share": lambda row: float(row["unit_insts"]), "reads_share": lambda row: float(row["unit_reads"]),
}  # fmt: skip
"""What differs between ways, and its value in a window."""


def _load(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in SAME)


def _points_text(points: pa.Table) -> str:
    timed = "power_w" in points.column_names
    headings = ("load", "way", "switch", "boot", "threads", "windows", "units/s") + (
        ("power, mW", "clusters", "out", "µJ a unit") if timed else ()
    )
    found = [
        (
            row["load"], row["way"], row[SWITCH], row["boot"], row["threads"], row["n"],
            waiting.mean_text(row, "units_hz", digits=5),
            *(
                (*(waiting.mean_text(row, f"{name}_w", 1e3, 5) for name in ("power", "cpus", "out")),
                 "-" if row["unit_j"] is None else f"{1e6 * row['unit_j']:.4g}")
                if timed
                else ()
            ),
        )
        for row in points.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, found)


def _differences_text(differences: pa.Table) -> str:
    found = [
        (row["load"], row["way"], row[SWITCH], row["boot"], *(_share(row, stem) for stem in COMPARED))
        for row in differences.to_pylist()
    ]
    return markdown_table(("load", "way", "switch", "boot", *(f"{name}, %" for name in OVER_BOOTS.values())), found)


def _share(row: Row, stem: str) -> str:
    value, low, high = (row[f"{stem}{end}"] for end in ("", "_low", "_high"))
    return "-" if value is None else f"{100 * value:+.2g} [{100 * low:+.2g}, {100 * high:+.2g}]"


def checks(differences: pa.Table) -> list[Check]:
    """CPUs that pseudo hotplug took out cost what CPUs cost that are off, as the paper says."""
    return [
        Check(
            f"pseudo hotplug burns what conventional does under the load `{row['load']}`, boot {row['boot']}",
            max(-row["share_low"], row["share_high"]) <= WITHIN,
            f"{_share(row, 'share')} %; the whole interval has to be within {100 * WITHIN:g} %; paper: "
            f"{PAPER_PSEUDO_MW} beside {PAPER_CONVENTIONAL_MW} mW",
        )
        for row in differences.to_pylist()
        if row["way"] == "pseudo"
    ]


def boots_checks(table: pa.Table | None) -> list[Check]:
    """The same by the interval over boots."""
    return [
        Check(
            f"pseudo hotplug burns what conventional does under the load `{row['load']}`, over {row['boots']} boots",
            max(map(abs, student.ends(row["share"], row["share_pm"]))) <= WITHIN,
            f"{boots.percent(row, 'share')} %; the whole interval has to be within {100 * WITHIN:g} %",
        )
        for row in (table.to_pylist() if table is not None else [])
        if row["way"] == "pseudo"
    ]
