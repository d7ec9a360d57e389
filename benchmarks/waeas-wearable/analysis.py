# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `waeas-wearable`: figure 13 of the WAEAS paper, and which of its parts does it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import boots, predictions, repetitions, tradeoff, waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.folder import TRACE
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import bootstrap, student
from lull.trace import recording, waiting_tasks
from lull.trace.datfile import TraceFile

from . import by_window, crowds

SAMPLES = "samples.jsonl"
SAME = ("sensors", "governor", "boot")
"""What two points share that are compared by their way."""
DEFAULTS: dict[str, int] = {"boot": 0, "pack_percent": 80, "track_us": 20000, "alpha": 512}
"""The values that points had which ran before the scenario had these parameters, and which have no part in a label."""
PLACE = ("way", *SAME, "pack_percent", "track_us", "alpha")
TODAY = ("smp", "eas", "one", "two", "capped")
"""What Linux has without WAEAS."""
JUDGED = ("waeas", "apart")
"""The ways whose power and times are checked."""
ONE_BOOT = {"sensors": "all", "governor": "menu", "boot": 0}
PROGRAM = by_window.PROGRAM
OVER_BOOTS = {
    "cpus_saved": "saved by CPUs and L2s", "saved": "by the machine", "sooner": "median sooner by",
    "p99_later": "p99 later by",
}  # fmt: skip
VERDICT = {"saved": "machine, less", "cpus_saved": "CPUs and L2s, less", "p99_later": "p99 later by"}
PAPER_SAVED = {"gps": 0.0990, "barometer": 0.1097, "thermo": 0.1540, "heart": 0.0493, "all": 0.0805, "transfer": 0.0452}
"""Power that WAEAS saves against EAS."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    samples, windows = df_samples(runs), waiting.df_windows(runs, _place)
    tables = {"samples": samples, "windows": windows, "points": df_points(runs, samples, windows)}
    off = {
        predictions.NAME: predictions.df_predictions(runs, _place, PROGRAM),
        by_window.NAME: predictions.df_of(runs, _place, by_window.asked),
    }
    tables |= {name: table for name, table in off.items() if table is not None}
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = waiting.with_defaults(tables["points"], DEFAULTS)
    savings, verdict = df_savings(table), df_verdict(table, tables["windows"])
    pareto = tradeoff.df_tradeoff(
        [{**row, "label": _label(row)} for row in table.to_pylist() if waiting.alike(row, ONE_BOOT, SAME)]
    )
    over_boots = boots.df_boots(_normal(savings), SAME, OVER_BOOTS)
    best_boots = boots.df_boots(_normal(verdict), SAME, VERDICT)
    crowded = crowds.df_crowds(tables["samples"], PLACE, SAME) if waiting.is_timed(table) else None
    return Result(
        summary="## Samples and power\n\n"
        + waiting.so_far(table, points)
        + "Response: from the sensor's interrupt until the sample is shown. Power of the machine and of its CPUs with "
        "their L2s: mean with a 95 % interval over windows.\n\n"
        + _points_text(table, savings)
        + boots.text(over_boots, {"sensors": "sensors"}, OVER_BOOTS)
        + _verdict_text(verdict, best_boots)
        + tradeoff.text(pareto)
        + crowds.text(crowded)
        + predictions.text(tables.get(predictions.NAME))
        + by_window.text(tables.get(by_window.NAME)),
        tables={
            **tables,
            **({"crowds": crowded} if crowded is not None else {}),
            **({"savings": pa.Table.from_pylist(savings)} if savings else {}),
            **({"boots": over_boots} if over_boots is not None else {}),
            **({"verdict": pa.Table.from_pylist(verdict)} if verdict else {}),
            **({"verdict_boots": best_boots} if best_boots is not None else {}),
            **({"pareto": pa.Table.from_pylist(pareto)} if pareto else {}),
        },
        checks=[
            *(checks(table) if waiting.is_timed(table) else []),
            *boots_checks(over_boots),
            *verdict_checks(best_boots),
        ],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    found = [Drawing("ways", plot_ways(points, stored.label), "Power of the CPUs, and response times (median, 99 %).")]
    pareto = stored.rows("pareto")
    if pareto is not None:
        figure = tradeoff.plot_tradeoff(pareto, f"A watch: power against time, with all sensors\n{stored.label}")
        found.append(Drawing("pareto", figure, "Power against p99, with all sensors."))
    return found


def against(stored: Stored) -> list[Against]:
    savings = stored.rows("savings")
    return [
        Against(
            f"{row['point']}: power saved against EAS, CPUs and L2s", "%", f"{100 * row['cpus_saved']:.3g}",
            f"{100 * PAPER_SAVED[row['sensors']]:.3g}", source="WAEAS paper, figure 13",
        )
        for row in (savings.to_pylist() if savings else [])
        if row["way"] == "waeas"
    ]  # fmt: skip


def df_samples(runs: Runs) -> pa.Table:
    """A row per sample that came in a window."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _samples(run)])


def _samples(run: Run) -> list[Row]:
    settle_us = int(run.values["settle_us"])
    with run.understanding(SAMPLES):
        return [
            {
                **_place(run), "sensor": line["sensor"], "came_us": int(line["came_ns"]) / 1e3,
                "response_us": (int(line["shown_ns"]) - int(line["came_ns"])) / 1e3,
            }
            for line in run.lines(SAMPLES)
            if int(line["came_ns"]) >= 1000 * settle_us
        ]  # fmt: skip


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE)


def df_points(runs: Runs, samples: pa.Table, windows: pa.Table) -> pa.Table:
    return waiting.df_points(runs, _place, samples, windows, "response_us", _wakes)


def _wakes(run: Run, _own: list[Row]) -> Row:
    """How long the program's tasks wait for a CPU, after the start of the first window."""
    rundir = run.rundir()
    at, waits = waiting_tasks.waits(TraceFile(rundir / TRACE), PROGRAM, recording.load(rundir).clock)
    waits = waits[at >= repetitions.edges(run, waiting.WINDOWS)[0]]
    if not waits.size:
        return {}
    ((value, low, high),) = bootstrap.quantiles(waits, [0.99])
    return {"wakes": int(waits.size), "wake_p99_us": value, "wake_p99_low_us": low, "wake_p99_high_us": high}


def _eas(every: list[Row], row: Row) -> Row | None:
    """The same load with upstream's energy-aware scheduling."""
    return waiting.beside(every, row, "eas", SAME)


def df_savings(points: pa.Table) -> list[Row]:
    """What each way saves beside EAS in the same boot: shares of 1."""
    if not waiting.is_timed(points):
        return []
    every = points.to_pylist()
    found = []
    for row in every:
        eas = _eas(every, row)
        if eas is None or row["way"] == "eas":
            continue
        found.append(
            {
                **{name: row[name] for name in ("point", "group", *PLACE) if name in row}, "other": eas["point"],
                "cpus_saved": 1 - row["cpus_w"] / eas["cpus_w"], "saved": 1 - row["power_w"] / eas["power_w"],
                "sooner": 1 - row["median_us"] / eas["median_us"], "p99_later": row["p99_us"] / eas["p99_us"] - 1,
            }
        )  # fmt: skip
    return found


def _normal(rows: Sequence[Row]) -> list[Row]:
    """Those with the default parameters of WAEAS."""
    return [row for row in rows if _label(row) == row["way"]]


def _label(row: Row) -> str:
    """The way, and what is not as it is by default."""
    others = {name: row[name] for name in ("pack_percent", "track_us", "alpha") if row[name] != DEFAULTS[name]}
    return " ".join([row["way"], *(f"{name}={value}" for name, value in others.items())])


def df_verdict(table: pa.Table, windows: pa.Table) -> list[Row]:
    """What each way of WAEAS saves against the best of today's Linux, in the same boot with the same load.

    Best is the way of least power of those whose p99 is not shown to be later than that of EAS. If only one has run,
    nothing can be chosen.
    """
    if not waiting.is_timed(table):
        return []
    every, own, found = table.to_pylist(), waiting.by_point(windows), []
    for row in every:
        ran = [other for other in every if other["way"] in TODAY and waiting.alike(other, row, SAME)]
        eas = _eas(ran, row)
        if row["way"] in TODAY or eas is None:
            continue
        chosen = waiting.cheapest(ran, [other for other in ran if other["p99_low_us"] <= eas["p99_high_us"]])
        if chosen is None:
            continue
        best, told = chosen
        line = {**{name: row[name] for name in ("point", "group", *PLACE)}, **told, "best_way": best["way"]}
        for name, column in (("saved", "power_w"), ("cpus_saved", "cpus_w")):
            shares = [1 - one[column] / other[column]
                      for one, other in zip(own[row["point"]], own[best["point"]], strict=False)]  # fmt: skip
            line[name], line[f"{name}_pm"] = student.mean(shares)
        found.append(line | {"p99_later": row["p99_us"] / best["p99_us"] - 1})
    return found


def _verdict_text(verdict: Sequence[Row], over_boots: pa.Table | None) -> str:
    if not verdict:
        return ""
    rows = [
        (
            row["point"], _label(row), row["best"], f"{row['kept']} of {row['ran']}",
            boots.percent(row, "saved"), boots.percent(row, "cpus_saved"), f"{100 * row['p99_later']:.3g}",
        )
        for row in verdict
    ]  # fmt: skip
    return (
        "\n\n## Beside the best of today's Linux, %\n\nBest: of "
        + ", ".join(f"`{way}`" for way in TODAY)
        + " in the same boot, the way of least power whose p99 is not shown to be later than that of EAS. Good "
        "enough: how many of those that ran are not later. Intervals (95 %) are over windows.\n\n"
        + markdown_table(("point", "way", "best of today", "good enough", *VERDICT.values()), rows)
        + boots.text(over_boots, {"sensors": "sensors"}, VERDICT, "The same over boots")
    )


def verdict_checks(table: pa.Table | None) -> list[Check]:
    """By the interval over boots."""
    return [
        Check(
            f"{row['way']}, {row['sensors']}: less power than the best of today's Linux, over {row['boots']} boots",
            student.ends(row["saved"], row["saved_pm"])[0] > 0,
            f"{boots.percent(row, 'saved')} % less, p99 {boots.percent(row, 'p99_later')} % later",
        )
        for row in (table.to_pylist() if table is not None else [])
        if row["way"] in JUDGED
    ]


def _points_text(points: pa.Table, savings: Sequence[Row]) -> str:
    saved = {row["point"]: f"{100 * row['cpus_saved']:.3g} %" for row in savings}
    timed = waiting.is_timed(points)
    headings = ("sensors", "way", "governor", "boot", "samples", "response, median µs", "p99") + (
        ("power, mW", "CPUs, mW", "saved against EAS, CPUs") if timed else ()
    )
    rows = [
        (
            row["sensors"], row["way"], row["governor"], row.get("boot", 0), row["events"],
            waiting.quantile_text(row, "median"), waiting.quantile_text(row, "p99"),
            *(
                (
                    waiting.watts_text(row, "power_w"), waiting.watts_text(row, "cpus_w"),
                    saved.get(row["point"], "-"),
                )
                if timed
                else ()
            ),
        )
        for row in points.to_pylist()
    ]  # fmt: skip
    return markdown_table(headings, rows)


def checks(points: pa.Table) -> list[Check]:
    """By the intervals of each boot: those of the mean power of windows, and of the quantile of samples."""
    every = points.to_pylist()
    found = []
    for row in every:
        eas = _eas(every, row)
        if row["way"] not in JUDGED or eas is None:
            continue
        found.append(
            Check(
                f"{row['point']}: less power than EAS, and not shown to be later",
                waiting.at_most(row, eas, "cpus_w") < 1 and row["p99_low_us"] <= eas["p99_high_us"],
                f"CPUs and L2s {waiting.watts_text(row, 'cpus_w')} mW, with EAS {waiting.watts_text(eas, 'cpus_w')}; "
                f"99 % within {waiting.quantile_text(row, 'p99')} µs, with EAS {waiting.quantile_text(eas, 'p99')}",
            )
        )
    return found


def boots_checks(table: pa.Table | None) -> list[Check]:
    """The same by the intervals over boots."""
    found = []
    for row in table.to_pylist() if table is not None else []:
        if row["way"] not in JUDGED:
            continue
        saved, later = (student.ends(row[name], row[f"{name}_pm"])[0] for name in ("cpus_saved", "p99_later"))
        less, after = (boots.percent(row, name) for name in ("cpus_saved", "p99_later"))
        found.append(
            Check(
                f"{row['way']}, {row['sensors']}: less power than EAS, not shown later, over {row['boots']} boots",
                saved > 0 and later <= 0,
                f"CPUs and L2s {less} % less, p99 {after} % later",
            )
        )
    return found


def plot_ways(points: pa.Table, label: str) -> Figure:
    rows = points.to_pylist()
    at = range(len(rows))
    figure, axes = style.panels(2, 2, 4.2)
    axes[0].barh(at, [1e3 * row["cpus_w"] for row in rows], color=style.GREYS[0], edgecolor="black")
    axes[0].set_xlabel("power of CPUs and L2s (mW)")
    for marker, (name, what) in zip(style.MARKERS, (("median_us", "median"), ("p99_us", "99 %")), strict=False):
        axes[1].plot(
            [row[name] / 1e3 for row in rows], at, linestyle="none", marker=marker, color="black",
            markerfacecolor="white", label=what,
        )  # fmt: skip
    axes[1].set_xlabel("response (ms)")
    axes[1].legend()
    waiting.label_points(axes, [row["point"] for row in rows])
    figure.suptitle(f"A watch\n{label}")
    return figure
