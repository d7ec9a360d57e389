# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `staged-bursts`: the server of the engagement paper, section 3."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lull.figures import boots, savings, waiting
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import bootstrap, student

from . import package, parts, plots, urgent

REQUESTS, STAGE = "requests.jsonl", "stage.jsonl"
PLACE = ("way", "rate", "period_us", "governor", "cpufreq", "client", "terms", "window_us", "windows")
LOAD = ("rate", "terms", "client", "window_us", "windows", "shadow", "powerdown", "boot", "one_in")
"""The requests, and the machine's settings: points that differ here are never compared."""
SAME = (*LOAD, "governor", "cpufreq")
"""What two points share that are compared by their way. The period is no part: without bursts it means nothing."""
BURSTS = ("staged", "near", "released", "heeded", "shorter")
TODAY = ("none", "packed", "idle", "capped", "max", "slack", "proxy")
"""What one can do with today's Linux. A proxy is a program."""
WAYS = "ways"
"""The group whose points stand beside those of groups without a point of their own that they could be compared with."""
MANY = 1000
"""So many requests say how long one in a thousand takes."""
COUNTS = ("wakes", "bursts", "early")
"""What the kernel counted of the stage; 0 where nothing is staged."""
OVER_BOOTS = {"power": "of the machine's power", "cpus": "of CPUs and L2s"}
BOUND_PERIODS = 2
"""The paper's bound, 0.5 s, in periods of its bursts, 250 ms."""
PAPER_POWER = 0.22
"""Power saved by bursts."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    requests, windows = df_requests(runs), waiting.df_windows(runs, _place)
    tables = {"requests": requests, "windows": windows, "points": df_points(runs, requests, windows)}
    hurried = urgent.df_urgent(runs.runs, _place, requests)
    if hurried is not None:
        tables["urgent"] = hurried
    if runs.timed:
        tables["parts"] = parts.df_parts(runs.runs, _place)
        tables["package"] = package.df_package(runs.runs, _place)
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table = waiting.with_defaults(tables["points"], {"boot": 0, "one_in": 0})
    saved, best = _savings(table, tables["windows"]), df_best(table, tables["windows"])
    with_package = package.df_with_package(saved, table, tables.get("package"))
    over_boots = df_boots(saved)
    told = (("savings", saved), ("best", best), ("with_package", with_package))
    return Result(
        summary="## Response time and power\n\n"
        + waiting.so_far(table, points)
        + "Response: from the moment when a request comes until its answer is there. Bound: two periods. Busy: the "
        f"CPU time that the server used, of all CPUs' time in which requests came. p99.9: of at least {MANY} requests. "
        "Power of the machine and of its CPUs with their L2s: mean with a 95 % interval over windows.\n\n"
        + _points_text(table)
        + _savings_text(saved)
        + _best_text(best)
        + urgent.text(tables.get("urgent"))
        + boots.text(over_boots, {"client": "requests are received by", "powerdown": "memory powers down"}, OVER_BOOTS)
        + parts.text(tables.get("parts"))
        + package.text(tables.get("package"), with_package),
        tables={
            **tables,
            **{name: pa.Table.from_pylist(rows) for name, rows in told if rows},
            **({"boots": over_boots} if over_boots is not None else {}),
        },
        checks=[*checks(table), *best_checks(best), *urgent.checks(tables.get("urgent"))]
        if waiting.is_timed(table)
        else [],
    )


def df_boots(saved: Sequence[Row]) -> pa.Table | None:
    return boots.df_boots([row for row in saved if row["way"] in BURSTS], ("period_us", *SAME), OVER_BOOTS)


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    drawn = [
        Drawing(
            "ways", plots.plot_ways(points, stored.label),
            "Power of the machine and response times (median, 99 %, longest), by what is done about sleep.",
        )
    ]  # fmt: skip
    table = stored.rows("savings")
    curves = plot_curves(points, table.to_pylist() if table else [], stored.label)
    if curves is not None:
        drawn.append(
            Drawing("curves", curves, "What bursts save, by how often they come and by how much the server has to do.")
        )
    return drawn


def against(stored: Stored) -> list[Against]:
    points = stored.rows("points")
    every = points.to_pylist() if points else []
    found = []
    for row in every:
        none = _beside(every, row)
        if row["way"] != "staged" or none is None or "power_w" not in row:
            continue
        found += [
            Against(
                f"{row['point']}: power saved by bursts", "%", f"{100 * _saved(row, none):.3g}",
                f"{100 * PAPER_POWER:.3g}", source="engagement paper, section 3",
            ),
            Against(
                f"{row['point']}: longest response over the bound", "",
                f"{row['longest_us'] / _bound_us(row):.3g}", "below 1",
                source="engagement paper, section 3",
            ),
        ]  # fmt: skip
    return found


def df_requests(runs: Runs) -> pa.Table:
    """A row per request that came in a window."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _requests(run)])


def _requests(run: Run) -> list[Row]:
    settle_us = int(run.values["settle_us"])
    with run.understanding(REQUESTS):
        return [
            {
                **_place(run), "came_us": int(line["came_ns"]) / 1e3,
                "waited_us": (int(line["began_ns"]) - int(line["came_ns"])) / 1e3,
                "response_us": (int(line["done_ns"]) - int(line["came_ns"])) / 1e3, "cpu": int(line["cpu"]),
                "urgent": bool(line.get("urgent", 0)),
            }
            for line in run.lines(REQUESTS)
            if int(line["came_ns"]) >= 1000 * settle_us
        ]  # fmt: skip


def _place(run: Run) -> Row:
    platform = run.spec.platform
    machine = {"shadow": platform.shadow.enabled, "powerdown": platform.memory.powerdown}
    return {
        **waiting.place(run, PLACE),
        **machine,
        **{name: int(run.values.get(name, 0)) for name in ("boot", "one_in")},
    }


def df_points(runs: Runs, requests: pa.Table, windows: pa.Table) -> pa.Table:
    return waiting.df_points(runs, _place, requests, windows, "response_us", _staged)


def _staged(run: Run, own: list[Row]) -> Row:
    found: Row = {
        "longest_us": max(row["response_us"] for row in own),
        "service_us": float(np.mean([row["response_us"] - row["waited_us"] for row in own])),
        **rarest(np.array([row["response_us"] for row in own])),
    }
    with run.understanding(STAGE):
        counts = next(iter(run.lines(STAGE)))
        busy = int(counts["used_us"]) / (int(counts["cpus"]) * int(counts["asked_us"]))
        return found | {name: int(counts[name]) for name in COUNTS} | {"busy": busy}


def rarest(responses: NDArray[np.float64]) -> Row:
    """The 99.9th percentile with its interval; None of too few requests."""
    value: tuple[float | None, ...] = (None, None, None)
    if responses.size >= MANY:
        (value,) = bootstrap.quantiles(responses, [0.999])
    return dict(zip(("p999_us", "p999_low_us", "p999_high_us"), value, strict=True))


def _beside(every: Sequence[Row], row: Row) -> Row | None:
    """The same machine and load with nothing done: the point of the row's group, or the one of the group `ways`."""
    others = [other for other in every if other["way"] == "none" and waiting.alike(other, row, SAME)]
    return next((other for group in (row["group"], WAYS) for other in others if other["group"] == group), None)


def _saved(row: Row, none: Row) -> float:
    return float(1 - row["power_w"] / none["power_w"])


def _savings(points: pa.Table, windows: pa.Table) -> list[Row]:
    """What each point saves beside the one where nothing is done, as shares of 1, and the power that is no CPU's.

    Half of each interval, `power_pm` and `cpus_pm`, is that of differences window by window: the same requests come in
    the same window of both, and power may rise from window to window.
    """
    every, own = points.to_pylist(), waiting.by_point(windows)
    return [
        {
            "one": row["point"], "other": none["point"], **_saving(own, row, none),
            "rest_w": none["power_w"] - none["cpus_w"],
            **{name: row.get(name) for name in ("way", "period_us", *SAME)},
        }
        for row in every
        if row["way"] != "none" and "power_w" in row and (none := _beside(every, row)) is not None
    ]  # fmt: skip


def _saving(windows: Mapping[str, list[Row]], row: Row, other: Row) -> Row:
    """What one point saves against another."""
    return {
        "power": _saved(row, other), "power_pm": _half(windows, row, other, "power_w"),
        "cpus": 1 - row["cpus_w"] / other["cpus_w"], "cpus_pm": _half(windows, row, other, "cpus_w"),
    }  # fmt: skip


def df_best(points: pa.Table, windows: pa.Table) -> list[Row]:
    """What bursts save against the best of today's Linux: of its ways, governors and clocks that have run with this
    load, the one of least power whose answers all came within the bound of the bursts. If only one has run,
    nothing can be chosen."""
    every, own, found = points.to_pylist(), waiting.by_point(windows), []
    for row in every:
        if row["way"] not in BURSTS or "power_w" not in row:
            continue
        ran = [other for other in every if other["way"] in TODAY and waiting.alike(other, row, LOAD)]
        chosen = waiting.cheapest(ran, [other for other in ran if other["longest_us"] <= _bound_us(row)])
        if chosen is None:
            continue
        best, told = chosen
        found.append(
            {
                "one": row["point"], "group": row["group"], "way": row["way"], **told,
                "best_longest_us": best["longest_us"], **_saving(own, row, best),
            }
        )  # fmt: skip
    return found


def _bound_us(row: Row) -> int:
    return BOUND_PERIODS * int(row["period_us"])


def _half(windows: Mapping[str, list[Row]], row: Row, none: Row, name: str) -> float | None:
    """Half the 95 % interval of a saving, as a share of the mean where nothing is done; None of a single window."""
    ours, theirs = ({each["window"]: each[name] for each in windows[point["point"]]} for point in (row, none))
    both = [window for window in theirs if window in ours]
    half = student.paired(*([own[window] for window in both] for own in (ours, theirs)))[1] if both else None
    return None if half is None else half / float(none[name])


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = (
        "point", "requests", "busy, %", "handled in, µs", "response, median µs", "p99", "p99.9", "longest", "bound, µs",
        "bursts", "early",
    ) + (("power, mW", "CPUs, mW") if timed else ())  # fmt: skip
    return markdown_table(
        headings,
        [
            (
                row["point"], row["events"], _optional(row, "busy", lambda own: f"{100 * own['busy']:.3g}"),
                f"{row['service_us']:.4g}", waiting.quantile_text(row, "median"),
                waiting.quantile_text(row, "p99"),
                _optional(row, "p999_us", lambda own: waiting.quantile_text(own, "p999")),
                f"{row['longest_us']:.5g}", _bound_us(row), row["bursts"], row["early"],
                *((waiting.watts_text(row, "power_w"), waiting.watts_text(row, "cpus_w")) if timed else ()),
            )
            for row in points.to_pylist()
        ],
    )  # fmt: skip


def _optional(row: Row, name: str, text: Callable[[Row], str]) -> str:
    """Of a value that points do not have that are older, or too short for it."""
    return "-" if row.get(name) is None else text(row)


def _savings_text(saved: Sequence[Row]) -> str:
    if not saved:
        return ""
    return "\n\n## Power saved, %\n\nBeside the point of the same load where nothing is done.\n\n" + markdown_table(
        ("point", "beside", "of the machine", "of CPUs and L2s"),
        [(row["one"], row["other"], *(waiting.mean_text(row, name, 100, 3) for name in ("power", "cpus")))
         for row in saved],
    )  # fmt: skip


def _best_text(best: Sequence[Row]) -> str:
    if not best:
        return ""
    return (
        "\n\n## Beside the best of today's Linux\n\nBest: the one of least power among those of the same load without "
        f"bursts ({', '.join(f'`{way}`' for way in TODAY)}, with any idle governor and clocks) whose answers all came "
        "within the bound of the bursts. Tried: how many such points have run, and how many kept the bound.\n\n"
        + markdown_table(
            ("point", "tried", "kept the bound", "best of today's Linux", "its power, mW", "its longest response, µs",
             "bursts save of the machine, %", "of CPUs and L2s, %"),
            [
                (
                    row["one"], row["ran"], row["kept"], row["best"], waiting.watts_text(row, "best_power_w"),
                    f"{row['best_longest_us']:.5g}",
                    *(waiting.mean_text(row, name, 100, 3) for name in ("power", "cpus")),
                )
                for row in best
            ],
        )
    )  # fmt: skip


def best_checks(best: Sequence[Row]) -> list[Check]:
    """By the interval of the saving: the end that is nearer to a miss. A single window has none."""
    return [
        Check(
            f"{row['one']}: bursts need less power than the best of today's Linux",
            student.ends(row["power"], row["power_pm"])[0] > 0,
            f"{waiting.mean_text(row, 'power', 100, 3)} % less than {row['best']}, the best of {row['kept']} points "
            "that keep the bound",
        )
        for row in best
        if row["way"] == "staged" and row["group"] == WAYS
    ]


def checks(points: pa.Table) -> list[Check]:
    every = points.to_pylist()
    found = []
    for row in every:
        none = _beside(every, row)
        if row["way"] != "staged":
            continue
        bound = _bound_us(row)
        found.append(
            Check(
                f"{row['point']}: no request misses the bound",
                row["longest_us"] <= bound,
                f"the longest of {row['events']} responses took {row['longest_us']:.5g} µs, the bound is {bound} µs",
            )
        )
        if row["group"] == "ways" and none is not None:
            found.append(
                Check(
                    f"{row['point']}: bursts save at least {100 * PAPER_POWER:g} % of the machine's power",
                    1 - waiting.at_most(row, none, "power_w") >= PAPER_POWER,
                    f"{waiting.watts_text(row, 'power_w')} mW instead of {waiting.watts_text(none, 'power_w')}: "
                    f"{100 * _saved(row, none):.3g} %; CPUs and L2s {1e3 * row['cpus_w']:.4g} instead of "
                    f"{1e3 * none['cpus_w']:.4g}",
                )
            )
    return found


def plot_curves(points: pa.Table, saved: Sequence[Row], label: str) -> Figure | None:
    """What bursts save over the period, the rate, and how busy the server is without them: each time all else is as in
    the group `ways`. The server is made busier by more work in a request."""
    every = {row["point"]: row for row in points.to_pylist()}
    rows = [
        {**every[row["one"]], **row, "none_busy": 100 * every[row["other"]]["busy"],
         "period_ms": every[row["one"]]["period_us"] / 1000}
        for row in saved
    ]  # fmt: skip
    usual = next((row for row in rows if row["group"] == WAYS and row["way"] == "staged"), None)
    if usual is None:
        return None
    axes = (
        ("period_us", "period_ms", "time between bursts (ms)"),
        ("rate", "rate", "requests a second"),
        ("terms", "none_busy", "busy without bursts (%)"),
    )
    same = ("way", "period_us", *SAME)
    return savings.plot(
        f"What bursts save\n{label}",
        [
            savings.Curves(
                about,
                {what: savings.over(rows, usual, name, same, share, at)
                 for share, what in (("power", "machine"), ("cpus", "CPUs, L2s"))},
            )
            for name, at, about in axes
        ],
    )  # fmt: skip
