# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `hotplug-dynamic`: what it costs, and gives, to take CPUs out again and again."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from lull.energy import rows
from lull.figures import boots, repetitions, waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import bootstrap, student

WINDOWS, JOBS = "windows.jsonl", "jobs.jsonl"
POWERS = ("power", "em", "cpus")
"""Watts: of the whole machine, calibrated; by the backend `em`; and of all clusters."""
QUANTILES = {"median": 0.5, "p99": 0.99}
KEPT = 0.9
"""The share of the asked toggles that have to take place for a point to be about that rate."""

SETTLED_US = 150_000
"""From the start of the threads on, windows and jobs are left out for so long. Linux takes a new thread for a load of
half a CPU, and runs it on big CPUs until its own load is known."""

APART = 0.03
"""By so much the period of each further thread is longer."""
PLACE = ("way", "toggles_hz", "threads", "period_us", "steps", "cpufreq", "idle_governor", "latency_us", "boot")
"""What says which point a row is of."""
SAME = ("threads", "period_us", "steps", "cpufreq", "boot")
"""What the governor's points and those of nobody have in common that are compared."""
ONCE = 1
"""The toggles a second of points whose CPUs go out at the start and stay out: a run is shorter than a second."""
DEFAULTS = {"latency_us": 5000, "boot": 0}
"""Parameters that older points ran without, with the values that these points had."""
BESIDE = {"steps": "steps", "latency_us": "bound, µs", "cpufreq": "clocks", "idle_governor": "nobody, with"}
OVER_BOOTS = {
    "saved": "saved by the machine", "cpus_saved": "by the clusters", "median_sooner": "median of done sooner by",
    "p99_later": "p99 of done later by",
}  # fmt: skip
COMPARED = (
    "\n\n## Beside a machine on which nobody takes CPUs out\n\n"
    "Power of the governor, and of ways that take CPUs out at the start for all of the run, less that of a machine on "
    "which nobody takes CPUs out, under the same load and the same clocks, with a 95 % interval (Welch). `late` is the "
    "99th percentile of the time from when a job was due until it was done, and `dropped` are jobs that were due "
    "before the one before them was done. `bound` is the governor's `latency_us`: when tasks wait, it brings a CPU "
    "back within this time.\n\n"
)

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    return conclude({"windows": df_windows(runs), "jobs": df_jobs(runs)}, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    windows, jobs = tables["windows"], tables["jobs"]
    means = df_points(windows, jobs)
    differences = df_differences(windows, means)
    over_boots = None if differences is None else df_boots(differences)
    compared = "" if differences is None else COMPARED + _text_of_differences(differences)
    return Result(
        summary="## Points\n\n"
        + waiting.so_far(means, points)
        + "`toggles/s` is what took place, and `toggle` the mean time of one. `begun` and `done` are times from when "
        "a job was due, of the jobs that were done; `dropped` counts the others. Power is a mean with a 95 % interval "
        "over windows; times are quantiles with 95 % bootstrap intervals. The governor's toggles are CPUs that went "
        "out or in.\n\n" + _text(means) + compared + boots.text(over_boots, BESIDE, OVER_BOOTS),
        tables={"windows": windows, "jobs": jobs, "points": means}
        | ({} if differences is None else {"differences": differences})
        | ({} if over_boots is None else {"boots": over_boots}),
        checks=[
            *checks(means),
            *([] if differences is None else checks_of_governor(differences)),
            *boots_checks(over_boots),
        ],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    caption = "Power of the machine by toggles a second and by lateness of jobs, for each load and clock."
    return [Drawing("dynamic", plot_points(points, stored.label), caption)]


def df_windows(runs: Runs) -> pa.Table:
    """A row per window: on gem5 power, and the toggles of the whole run."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _windows(run, runs.timed)])


def settled(lines: Sequence[Row]) -> list[Row]:
    """Return the windows after the time that is left out, or all windows if there is none after it."""
    late = [line for line in lines if int(line["settle_us"]) >= SETTLED_US]
    return late or list(lines)


def _windows(run: Run, timed: bool) -> list[Row]:
    with run.understanding(WINDOWS):
        lines = run.lines(WINDOWS)
        seconds = (int(lines[0]["settle_us"]) + sum(int(line["window_us"]) for line in lines)) / 1e6
        found = [
            {
                **waiting.place(run, PLACE), "window": int(line["window"]), "seconds": int(line["window_us"]) / 1e6,
                "begin_ns": int(line["begin_ns"]), "toggled_hz": int(line["toggles"]) / seconds,
                "toggle_us": int(line["toggles_sum_ns"]) / 1e3 / max(1, int(line["toggles"])),
                "toggle_most_us": int(line["toggles_most_ns"]) / 1e3,
            }
            for line in settled(lines)
        ]  # fmt: skip
    if not timed:
        return found
    powers = repetitions.watts(run, repetitions.edges(run, WINDOWS), _names)
    return [{**row, **{f"{name}_w": powers[row["window"]].get(name, 0.0) for name in POWERS}} for row in found]


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
            lines = settled(run.lines(WINDOWS))
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
    done = waiting.by_point(jobs)
    for point, own in waiting.by_point(waiting.with_defaults(windows, DEFAULTS)).items():
        row: Row = {name: own[0][name] for name in ("point", "group", *PLACE)}
        row |= {name: own[0][name] for name in ("toggled_hz", "toggle_us", "toggle_most_us")}
        row |= waiting.means(own, [f"{name}_w" for name in POWERS])
        seconds = sum(each["seconds"] for each in own)
        row["jobs_hz"] = len(done.get(point, [])) / seconds
        row["dropped"] = _dropped(done.get(point, []), row, 1e6 * seconds)
        if "power_w" in row:
            row["job_j"] = row["power_w"] / row["jobs_hz"] if row["jobs_hz"] else None
        took = [{**job, "took_us": job["done_us"] - job["begun_us"]} for job in done.get(point, [])]
        for measure in ("begun", "done", "took"):
            values = np.array([job[f"{measure}_us"] for job in took])
            quantiles = bootstrap.quantiles(values, list(QUANTILES.values())) if values.size else [(None,) * 3] * 2
            for name, (value, low, high) in zip(QUANTILES, quantiles, strict=True):
                stem = f"{measure}_{name}_us"
                row |= {stem: value, f"{stem}_low": low, f"{stem}_high": high}
        found.append(row)
    return pa.Table.from_pylist(found)


def _dropped(jobs: Sequence[Row], place: Row, length_us: float) -> int:
    """How many jobs were due in the windows and never done. A thread's jobs are due at whole periods from its first."""
    found = 0
    for thread in range(place["threads"]):
        period = place["period_us"] * (1 + APART * thread)
        due = [job["due_us"] for job in jobs if job["thread"] == thread]
        first = due[0] if due else 0.0
        found += math.floor(first / period + 1e-6) + math.ceil((length_us - first) / period - 1e-6) - len(due)
    return found


def _text(points: pa.Table) -> str:
    timed = "power_w" in points.column_names
    headings = (
        "way", "clocks", "idle states by", "steps", "bound, µs", "boot", "toggles/s asked",
        "toggles/s", "toggle, µs", "jobs/s", "dropped", "begun, median, µs", "p99",
        "done, median, µs", "p99", *(("power, mW", "clusters, mW", "`em`, mW", "µJ a job") if timed else ()),
    )  # fmt: skip
    found = [
        (
            row["way"], row["cpufreq"], row["idle_governor"], row["steps"],
            _bound(row), row["boot"], row["toggles_hz"],
            f"{row['toggled_hz']:.4g}", f"{row['toggle_us']:.4g}",
            f"{row['jobs_hz']:.4g}", row["dropped"],
            *(waiting.ends_text(row, f"{what}_{name}_us") for what in ("begun", "done") for name in QUANTILES),
            *(
                (*(waiting.mean_text(row, f"{name}_w", 1e3, 5) for name in ("power", "cpus", "em")),
                 "-" if row["job_j"] is None else f"{1e6 * row['job_j']:.4g}")
                if timed
                else ()
            ),
        )
        for row in points.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, found)


def _bound(row: Row) -> object:
    return row["latency_us"] if row["way"] == "governor" else "-"


def df_differences(windows: pa.Table, points: pa.Table) -> pa.Table | None:
    """A row per point of nobody and point of the governor, or of a way that takes CPUs out once, with the same load and
    clocks; None without power."""
    if "power_w" not in points.column_names:
        return None
    every, own = points.to_pylist(), waiting.by_point(windows)
    found = []
    for one in (row for row in every if row["way"] == "governor" or row["toggles_hz"] == ONCE):
        for other in every:
            if other["way"] != "none" or any(other[name] != one[name] for name in SAME):
                continue
            row: Row = {name: one[name] for name in (*SAME, "latency_us")}
            row |= {"one": one["point"], "other": other["point"]}
            row |= {"way": one["way"], "idle_governor": other["idle_governor"]}
            row |= {f"other_{name}": other[name] for name in ("power_w", "cpus_w")}
            for name in (f"{power}_w" for power in POWERS):
                sides = ([each[name] for each in own[point["point"]]] for point in (other, one))
                row[name], row[f"{name}_low"], row[f"{name}_high"] = student.difference(*sides)
            row |= {"median_us": one["done_median_us"], "other_median_us": other["done_median_us"]}
            row |= {"late_us": one["done_p99_us"], "other_late_us": other["done_p99_us"]}
            row |= {"late_us_low": one["done_p99_us_low"], "other_late_us_high": other["done_p99_us_high"]}
            row |= {"dropped": one["dropped"], "other_dropped": other["dropped"]}
            found.append(row)
    return pa.Table.from_pylist(found) if found else None


def df_boots(differences: pa.Table) -> pa.Table | None:
    """Means over boots of what the governor saves in each boot: shares of 1."""
    savings = [
        {
            **row, "saved": -row["power_w"] / row["other_power_w"], "cpus_saved": -row["cpus_w"] / row["other_cpus_w"],
            "median_sooner": 1 - row["median_us"] / row["other_median_us"],
            "p99_later": row["late_us"] / row["other_late_us"] - 1,
        }
        for row in differences.to_pylist()
        if row["late_us"] and row["other_late_us"]
    ]  # fmt: skip
    return boots.df_boots(savings, (*SAME, "latency_us", "idle_governor"), OVER_BOOTS)


def boots_checks(table: pa.Table | None) -> list[Check]:
    """The same as `checks_of_governor`, by the intervals over boots. Jobs that are later in every boot are later, even
    if the interval is too wide to say by how much."""
    found = []
    for row in _of_governor(table) if table is not None else []:
        saved, later = (student.ends(row[name], row[f"{name}_pm"])[0] for name in ("saved", "p99_later"))
        less, after = (boots.percent(row, name) for name in ("saved", "p99_later"))
        found.append(
            Check(
                f"the governor saves power, and jobs are not shown to be later, {row['cpufreq']}, "
                f"{row['steps']} steps, {row['latency_us']} µs, over {row['boots']} boots",
                saved > 0 and later <= 0 and row["p99_later_least"] <= 0,
                f"against {row['idle_governor']} {less} % less power, p99 {after} % later, by boot "
                f"{100 * row['p99_later_least']:.3g} to {100 * row['p99_later_most']:.3g}",
            )
        )
    return found


def _of_governor(table: pa.Table) -> list[Row]:
    return [row for row in table.to_pylist() if row["way"] == "governor"]


def _text_of_differences(differences: pa.Table) -> str:
    headings = (
        "way", "clocks", "steps", "bound, µs", "boot", "nobody, with", "power, mW", "of it, %", "clusters, mW",
        "`em`, mW", "late, µs", "late, nobody, µs", "dropped", "dropped, nobody",
    )  # fmt: skip
    found = [
        (
            row["way"], row["cpufreq"], row["steps"], _bound(row), row["boot"], row["idle_governor"],
            _difference(row, "power"), f"{100 * row['power_w'] / row['other_power_w']:+.2g}",
            _difference(row, "cpus"), _difference(row, "em"),
            *("-" if row[name] is None else f"{row[name]:.4g}" for name in ("late_us", "other_late_us")),
            row["dropped"], row["other_dropped"],
        )
        for row in differences.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, found)


def _difference(row: Row, name: str) -> str:
    return waiting.ends_text(row, f"{name}_w", 1e3, "+")


def checks_of_governor(differences: pa.Table) -> list[Check]:
    """Of each clock and load: less power than each of Linux's own ways, jobs not shown to be later, and all done."""
    found = []
    every = _of_governor(differences)
    keys = ("cpufreq", "steps", "latency_us", "boot")
    for clocks, steps, bound, boot in dict.fromkeys(tuple(row[key] for key in keys) for row in every):
        own = [row for row in every if tuple(row[key] for key in keys) == (clocks, steps, bound, boot)]
        saves = all(row["power_w_high"] < 0 for row in own)
        in_time = all(
            row["dropped"] <= row["other_dropped"]
            and None not in (row["late_us_low"], row["other_late_us_high"])
            and row["late_us_low"] <= row["other_late_us_high"]
            for row in own
        )
        says = "; ".join(
            f"against {row['idle_governor']} {_difference(row, 'power')} mW, "
            f"p99 {row['late_us'] or 0:.4g} and {row['other_late_us'] or 0:.4g} µs, "
            f"{row['dropped']} and {row['other_dropped']} jobs dropped"
            for row in own
        )
        found.append(
            Check(
                f"the governor saves power, and jobs are not shown to be later, {clocks}, {steps} steps, {bound} µs, "
                f"boot {boot}",
                saves and in_time,
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


def plot_points(points: pa.Table, label: str) -> Figure:
    rows = points.to_pylist()
    figure, axes = style.panels(2, 2, 2.8)
    for number, way in enumerate(dict.fromkeys(row["way"] for row in rows)):
        own = [row for row in rows if row["way"] == way]
        look: dict[str, Any] = {
            "linestyle": "none", "marker": style.MARKERS[number % len(style.MARKERS)], "color": "black",
            "markerfacecolor": "white", "label": way,
        }  # fmt: skip
        watts = [1e3 * row["power_w"] for row in own]
        axes[0].plot([row["toggled_hz"] for row in own], watts, **look)
        axes[1].plot([math.nan if row["done_p99_us"] is None else row["done_p99_us"] for row in own], watts, **look)
    axes[0].set_xscale("symlog", linthresh=1)
    axes[0].set_xlabel("toggles a second")
    axes[1].set_xlabel("99 % of jobs done within (µs)")
    axes[0].set_ylabel("power of the machine (mW)")
    style.legend_below(figure, *axes[0].get_legend_handles_labels())
    figure.suptitle(f"CPUs that go out and come back\n{label}")
    return figure
