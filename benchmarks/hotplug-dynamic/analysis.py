# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `hotplug-dynamic`: what it costs, and gives, to take CPUs out again and again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lull.energy import rows
from lull.figures import repetitions, waiting
from lull.plotting.markdown import markdown_table
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import bootstrap, student

WINDOWS, JOBS = "windows.jsonl", "jobs.jsonl"
POWERS = ("power", "em", "cpus")
"""Watts: of the whole machine, calibrated; by the backend `em`; and of all clusters."""
QUANTILES = {"median": 0.5, "p99": 0.99}
KEPT = 0.5
"""The share of the asked toggles that have to take place for a point to be about that rate."""

PLACE = (
    "point", "group", "way", "toggles_hz", "threads", "period_us", "steps", "cpufreq", "idle_governor",
)  # fmt: skip
"""What says which point a row is of."""
COMPARED = (
    "\n\n## The governor, and nobody\n\n"
    "The governor's power less that of a machine on which nobody takes CPUs out, under the same load and the same "
    "clocks, with a 95 % interval (Welch). `late` is the 99th percentile of the time from when a job was due until it "
    "was done.\n\n"
)

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    return conclude({"windows": df_windows(runs), "jobs": df_jobs(runs)}, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    windows, jobs = tables["windows"], tables["jobs"]
    means = df_points(windows, jobs)
    differences = df_differences(windows, means)
    compared = "" if differences is None else COMPARED + _text_of_differences(differences)
    return Result(
        summary="## Points\n\n"
        + waiting.so_far(means, points)
        + "`toggles/s` is what took place, and `toggle` the mean time of one. `begun` and `done` are times from when "
        "a job was due. Power is a mean with a 95 % interval over windows; times are "
        "quantiles of all jobs with 95 % bootstrap intervals. The governor's toggles are CPUs that went out or in.\n\n"
        + _text(means)
        + compared,
        tables={"windows": windows, "jobs": jobs, "points": means}
        | ({} if differences is None else {"differences": differences}),
        checks=[*checks(means), *([] if differences is None else checks_of_governor(differences))],
    )


def _place(run: Run) -> Row:
    return {"point": run.name, "group": run.group, **{name: run.values[name] for name in PLACE[2:]}}


def df_windows(runs: Runs) -> pa.Table:
    """A row per window: on gem5 power, and the toggles of the whole run."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _windows(run, runs.timed)])


def _windows(run: Run, timed: bool) -> list[Row]:
    with run.understanding(WINDOWS):
        lines = run.lines(WINDOWS)
        seconds = (int(lines[0]["settle_us"]) + sum(int(line["window_us"]) for line in lines)) / 1e6
        found = [
            {
                **_place(run), "window": int(line["window"]), "seconds": int(line["window_us"]) / 1e6,
                "begin_ns": int(line["begin_ns"]), "toggled_hz": int(line["toggles"]) / seconds,
                "toggle_us": int(line["toggles_sum_ns"]) / 1e3 / max(1, int(line["toggles"])),
                "toggle_most_us": int(line["toggles_most_ns"]) / 1e3,
            }
            for line in lines
        ]  # fmt: skip
    if not timed:
        return found
    powers = repetitions.watts(run, repetitions.edges(run, WINDOWS), _names)
    return [
        {**row, **{f"{name}_w": own.get(name, 0.0) for name in POWERS}} for row, own in zip(found, powers, strict=True)
    ]


def _names(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The sums that a row of the ledger counts in."""
    if row["band"] == rows.RAW:
        return ()
    if row["backend"] == "em":
        return ("em",)
    return ("power",) if row["cluster"] is None else ("power", "cpus")


def df_jobs(runs: Runs) -> pa.Table:
    """A row per job that was due in a window."""
    found: list[Row] = []
    for run in runs.runs:
        with run.understanding(WINDOWS):
            lines = run.lines(WINDOWS)
            begin = int(lines[0]["begin_ns"])
            end = begin + 1000 * sum(int(line["window_us"]) for line in lines)
        with run.understanding(JOBS):
            for line in run.lines(JOBS):
                due = int(line["due_ns"])
                if begin <= due < end:
                    found.append(
                        {
                            "point": run.name, "thread": int(line["thread"]), "due_us": (due - begin) / 1e3,
                            "begun_us": (int(line["begun_ns"]) - due) / 1e3,
                            "done_us": (int(line["done_ns"]) - due) / 1e3,
                        }
                    )  # fmt: skip
    return pa.Table.from_pylist(found)


def df_points(windows: pa.Table, jobs: pa.Table) -> pa.Table:
    """A row per point: means over windows with half their interval, and quantiles over jobs with its ends."""
    found = []
    every, all_jobs = windows.to_pylist(), jobs.to_pylist()
    for point in dict.fromkeys(row["point"] for row in every):
        own = [row for row in every if row["point"] == point]
        row: Row = {name: own[0][name] for name in (*PLACE, "toggled_hz", "toggle_us", "toggle_most_us")}
        for name in POWERS:
            if f"{name}_w" in own[0]:
                row[f"{name}_w"], row[f"{name}_w_pm"] = student.mean([each[f"{name}_w"] for each in own])
        done = [job for job in all_jobs if job["point"] == point]
        seconds = sum(each["seconds"] for each in own)
        row["jobs_hz"] = len(done) / seconds
        for measure in ("begun", "done"):
            values = np.array([job[f"{measure}_us"] for job in done])
            quantiles = bootstrap.quantiles(values, list(QUANTILES.values())) if values.size else [(None,) * 3] * 2
            for name, (value, low, high) in zip(QUANTILES, quantiles, strict=True):
                stem = f"{measure}_{name}"
                row |= {f"{stem}_us": value, f"{stem}_low_us": low, f"{stem}_high_us": high}
        found.append(row)
    return pa.Table.from_pylist(found)


def _text(points: pa.Table) -> str:
    timed = "power_w" in points.column_names
    headings = (
        "way", "clocks", "idle states by", "steps", "toggles/s asked",
        "toggles/s", "toggle, µs", "jobs/s", "begun, median, µs", "p99",
        "done, median, µs", "p99", *(("power, mW", "clusters, mW", "`em`, mW") if timed else ()),
    )  # fmt: skip
    found = [
        (
            row["way"], row["cpufreq"], row["idle_governor"], row["steps"], row["toggles_hz"],
            f"{row['toggled_hz']:.4g}", f"{row['toggle_us']:.4g}",
            f"{row['jobs_hz']:.4g}",
            *(_quantile(row, f"{what}_{name}") for what in ("begun", "done") for name in QUANTILES),
            *((_power(row, name) for name in ("power", "cpus", "em")) if timed else ()),
        )
        for row in points.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, found)


def _quantile(row: Row, name: str) -> str:
    value, low, high = (row[f"{name}{end}_us"] for end in ("", "_low", "_high"))
    return "-" if value is None else f"{value:.4g} [{low:.4g}, {high:.4g}]"


def _power(row: Row, name: str) -> str:
    half = row[f"{name}_w_pm"]
    return f"{1e3 * row[f'{name}_w']:.5g}" + ("" if half is None else f" ± {1e3 * half:.2g}")


def df_differences(windows: pa.Table, points: pa.Table) -> pa.Table | None:
    """A row per point of the governor and point of nobody with the same load and clocks; None without power."""
    if "power_w" not in points.column_names:
        return None
    every, own = points.to_pylist(), windows.to_pylist()
    found = []
    for one in (row for row in every if row["way"] == "governor"):
        same = ("threads", "period_us", "steps", "cpufreq")
        for other in every:
            if other["way"] != "none" or any(other[name] != one[name] for name in same):
                continue
            row: Row = {name: one[name] for name in same} | {"one": one["point"], "other": other["point"]}
            row["idle_governor"], row["other_power_w"] = other["idle_governor"], other["power_w"]
            for name in POWERS:
                a, b = (np.array([each[f"{name}_w"] for each in own if each["point"] == point["point"]])
                        for point in (other, one))  # fmt: skip
                row[f"{name}_w"] = float(b.mean() - a.mean())
                low, high = student.welch(a, b)[:2] if min(len(a), len(b)) > 1 else (None, None)
                row |= {f"{name}_low_w": low, f"{name}_high_w": high}
            row |= {"late_us": one["done_p99_us"], "other_late_us": other["done_p99_us"]}
            row |= {"late_low_us": one["done_p99_low_us"], "other_late_high_us": other["done_p99_high_us"]}
            found.append(row)
    return pa.Table.from_pylist(found) if found else None


def _text_of_differences(differences: pa.Table) -> str:
    headings = (
        "clocks", "steps", "nobody, with", "power, mW", "of it, %", "clusters, mW", "`em`, mW",
        "late, governor, µs", "late, nobody, µs",
    )  # fmt: skip
    found = [
        (
            row["cpufreq"], row["steps"], row["idle_governor"], _difference(row, "power"),
            f"{100 * row['power_w'] / row['other_power_w']:+.2g}", _difference(row, "cpus"), _difference(row, "em"),
            *("-" if row[name] is None else f"{row[name]:.4g}" for name in ("late_us", "other_late_us")),
        )
        for row in differences.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, found)


def _difference(row: Row, name: str) -> str:
    low, high = row[f"{name}_low_w"], row[f"{name}_high_w"]
    return f"{1e3 * row[f'{name}_w']:+.4g}" + ("" if low is None else f" [{1e3 * low:+.3g}, {1e3 * high:+.3g}]")


def checks_of_governor(differences: pa.Table) -> list[Check]:
    """Of each clock and load: less power than each of Linux's own ways, and jobs done no later."""
    found = []
    every = differences.to_pylist()
    for clocks, steps in dict.fromkeys((row["cpufreq"], row["steps"]) for row in every):
        own = [row for row in every if (row["cpufreq"], row["steps"]) == (clocks, steps)]
        saves = all(row["power_high_w"] is not None and row["power_high_w"] < 0 for row in own)
        late = any(
            None not in (row["late_low_us"], row["other_late_high_us"])
            and row["late_low_us"] > row["other_late_high_us"]
            for row in own
        )
        says = "; ".join(
            f"against {row['idle_governor']} {_difference(row, 'power')} mW, "
            f"p99 {row['late_us'] or 0:.4g} and {row['other_late_us'] or 0:.4g} µs"
            for row in own
        )
        found.append(
            Check(
                f"the governor saves power, and jobs are done no later, {clocks}, {steps} steps",
                saves and not late,
                says,
            )
        )
    return found


def checks(points: pa.Table) -> list[Check]:
    """Pseudo hotplug can toggle as often as it is asked to."""
    asked = [row for row in points.to_pylist() if row["way"] == "pseudo" and row["toggles_hz"]]
    if not asked:
        return []
    worst = min(asked, key=lambda row: row["toggled_hz"] / row["toggles_hz"])
    says = f"least so where {worst['toggles_hz']} a second are asked for: {worst['toggled_hz']:.4g} took place"
    return [Check("pseudo hotplug toggles as often as asked", worst["toggled_hz"] >= KEPT * worst["toggles_hz"], says)]
