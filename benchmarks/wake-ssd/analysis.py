# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `wake-ssd`: figure 1 of the engagement paper, and what it leaves out."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result
from lull.rundir.run import Run
from lull.scenario.runs import Runs
from lull.statistics import student

REQUESTS, MODEL = "requests.jsonl", "model.jsonl"
PLACE = ("way", "drive", "gap_us", "state", "governor", "cpufreq", "exit_us", "cpu")
USUAL = "performance"
"""The clocks of points that do not say any: they are older than the parameter."""
FASTEST = "busy"
"""Nothing sleeps on the program's CPU: slowdowns are beside this way."""
PAPER_GAP_US, PAPER_SLOWDOWN, PAPER_AHEAD = 1000, 1.01, 0.37
"""Of the 99th percentile, at 1 ms between reads: without anticipatory wakeup, and with it."""
SLOWDOWN, ENERGY = 0.10, 0.02
"""By how much a predicted read may be slower than with no sleep, and need more power than without prediction."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    requests, windows = df_requests(runs), waiting.df_windows(runs, _place)
    points = df_points(runs, requests, windows)
    models = df_models(runs)
    tables = {"requests": requests, "windows": windows, "points": points, **({"models": models} if models else {})}
    return conclude(tables, [run.name for run in runs.runs])


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str]) -> Result:
    """From the tables of those points that have run, of all."""
    table, pairs = tables["points"], df_pairs(tables["windows"])
    return Result(
        summary="## A read, by what is done about sleep\n\n"
        + waiting.so_far(table, points)
        + "Latency: from the program's call to its return, with 95 % bootstrap intervals. Slowdown: beside the way "
        f"`{FASTEST}` with the same pause, or the longest shorter one. Power of the machine: mean with a 95 % interval "
        "over windows.\n\n"
        + _points_text(table)
        + _pairs_text(pairs)
        + "\n## What was predicted\n\nThe line that the block layer learned, how far it was off, and when "
        "the requests came: in their window, before it, or after it.\n\n" + _models_text(tables.get("models")),
        tables={**tables, **({"pairs": pairs} if pairs.num_rows else {})},
        checks=checks(table) if waiting.is_timed(table) else [],
    )


def draw(stored: Stored) -> list[Drawing]:
    points = waiting.drawable(stored)
    if points is None:
        return []
    return [
        Drawing(
            "gaps", plot_gaps(points, stored.label),
            "Slowdown of a read's 99th percentile, and power of the machine, over the time between reads.",
        )
    ]  # fmt: skip


def against(stored: Stored) -> list[Against]:
    found = []
    for row in _slowed(stored.rows("points")):
        paper = {"none": PAPER_SLOWDOWN, "ahead": PAPER_AHEAD}.get(row["way"])
        if row["group"] == "gaps" and row["gap_us"] == PAPER_GAP_US and paper and row["p99_slowdown"] is not None:
            found.append(
                Against(
                    f"p99 of a read with 1 ms between reads, `{row['way']}`, slower than without sleep", "%",
                    f"{100 * row['p99_slowdown']:.3g}", f"{100 * paper:.3g}", source="engagement paper, figure 1",
                )
            )  # fmt: skip
    return found


def df_requests(runs: Runs) -> pa.Table:
    """A row per read after the first ones, which are there to settle."""
    return pa.Table.from_pylist([row for run in runs.runs for row in _requests(run)])


def _requests(run: Run) -> list[Row]:
    with run.understanding(REQUESTS):
        return [
            {**_place(run), "number": number, "latency_us": int(line["took_ns"]) / 1e3}
            for number, line in enumerate(run.lines(REQUESTS))
            if number >= int(run.values["settle"])
        ]


def _place(run: Run) -> Row:
    return waiting.place(run, PLACE)


def df_models(runs: Runs) -> pa.Table | None:
    """A row per point whose reads were predicted: what the block layer learned, and how good it was."""
    found = []
    for run in runs.runs:
        if run.values["way"] != "ahead":
            continue
        with run.understanding(MODEL):
            found += [
                {**_place(run), **{key: int(line[key]) for key in line if key != "what"}}
                for line in run.lines(MODEL)
                if line["what"] == "reads"
            ]
    return pa.Table.from_pylist(found) if found else None


def df_points(runs: Runs, requests: pa.Table, windows: pa.Table) -> pa.Table:
    """A row per point: quantiles of the latency, and power."""
    return waiting.df_points(runs, _place, requests, windows, "latency_us")


def df_pairs(windows: pa.Table) -> pa.Table:
    """How much more power each way takes than prediction, window by window: a row with all windows that both have, and
    one without the first. In windows of one number the program has run as long."""
    every = waiting.by_point(windows) if waiting.is_timed(windows) else {}
    predicted = [own[0] for own in every.values() if own[0]["way"] == "ahead"]
    found = [
        _pair(own[first:], every[ahead["point"]][first:], part)
        for own in every.values()
        if own[0]["way"] != "ahead" and (ahead := _predicted(predicted, own[0]))
        for part, first in (("all", 0), ("later", 1))
    ]
    return pa.Table.from_pylist(found, schema=_PAIRS)


def _predicted(every: Sequence[Row], row: Row) -> Row | None:
    """The nearest point with prediction, and all else the same."""
    return _nearest([ahead for ahead in every if _alike(ahead) == _alike(row)], row)


def _nearest(others: Sequence[Row], row: Row) -> Row | None:
    """The first point of the row's group, or the first one if none is of this group."""
    return max(others, key=lambda other: bool(other["group"] == row["group"]), default=None)


def _alike(row: Row) -> tuple[object, ...]:
    """What two points share that are compared by their way."""
    same = (row.get(name) for name in PLACE if name not in ("way", "cpufreq"))
    return (*same, _clocks(row))


def _pair(own: list[Row], ahead: list[Row], part: str) -> Row:
    both = min(len(own), len(ahead))
    own, ahead = own[:both], ahead[:both]
    line: Row = {"point": own[0]["point"], "ahead": ahead[0]["point"], "part": part, "windows": len(own)}
    for name in ("power_w", "cpus_w"):
        ours, theirs = ([row[name] for row in side] for side in (own, ahead))
        line[name], line[f"{name}_pm"] = student.paired(theirs, ours)
        line[f"ahead_{name}"] = sum(theirs) / len(theirs)
    return line


_PAIRS = pa.schema(
    [*((name, pa.string()) for name in ("point", "ahead", "part")), ("windows", pa.int64())]
    + [(name.format(of), pa.float64()) for of in ("power_w", "cpus_w") for name in ("{}", "{}_pm", "ahead_{}")]
)


def _pairs_text(pairs: pa.Table) -> str:
    if not pairs.num_rows:
        return ""
    return (
        "\n### More power than with prediction, window by window\n\nMeans of the differences between windows of the "
        "same number, with 95 % intervals. *Later*: without the first window.\n\n"
        + markdown_table(
            ("point", "windows", "number", "more power, mW", "%", "of the CPUs, mW"),
            [
                (
                    row["point"], row["part"], row["windows"], waiting.watts_text(row, "power_w"),
                    f"{100 * row['power_w'] / row['ahead_power_w']:.3g}", waiting.watts_text(row, "cpus_w"),
                )
                for row in pairs.to_pylist()
            ],
        )
    )  # fmt: skip


def _slowed(points: pa.Table | None) -> list[Row]:
    """The rows with how much slower each is than the same pause without sleep; None where that has not run."""
    found = points.to_pylist() if points is not None else []
    for row in found:
        fastest = _beside(found, row, FASTEST)
        for name in ("median", "p99"):
            row[f"{name}_slowdown"] = row[f"{name}_us"] / fastest[f"{name}_us"] - 1 if fastest else None
    return found


def _beside(every: list[Row], row: Row, way: str) -> Row | None:
    """The nearest point with another way, and the same drive, pause and clocks. A CPU that never sleeps is not
    simulated for the longest pauses, so it may have had a shorter pause."""
    same = [
        other
        for other in every
        if other["way"] == way
        and other["drive"] == row["drive"]
        and (other["gap_us"] == row["gap_us"] or (way == FASTEST and other["gap_us"] < row["gap_us"]))
        and _clocks(other) == _clocks(row)
        and other["governor"] == "menu"
    ]
    longest = max((other["gap_us"] for other in same), default=None)
    return _nearest([other for other in same if other["gap_us"] == longest], row)


def _clocks(row: Row) -> str:
    return row.get("cpufreq") or USUAL


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:+.3g} %"


def _points_text(points: pa.Table) -> str:
    timed = waiting.is_timed(points)
    headings = (
        "group", "drive", "pause, µs", "way", "governor", "clocks", "exit, µs", "reads", "median, µs", "slowdown",
        "p99, µs", "slowdown",
    ) + (("power, mW",) if timed else ())  # fmt: skip
    return markdown_table(
        headings,
        [
            (
                row["group"], row["drive"], row["gap_us"], row["way"], row["governor"], _clocks(row),
                f"{row['exit_us']:g}" if row["group"] == "exits" else "-", row["events"],
                waiting.quantile_text(row, "median"), _percent(row["median_slowdown"]),
                waiting.quantile_text(row, "p99"), _percent(row["p99_slowdown"]),
                *((waiting.watts_text(row, "power_w"),) if timed else ()),
            )
            for row in _slowed(points)
        ],
    )  # fmt: skip


def _models_text(models: pa.Table | None) -> str:
    if models is None:
        return "No point predicts.\n"
    return markdown_table(
        ("point", "latency without bytes, µs", "off on average, µs", "reads", "predicted", "in time", "early", "late"),
        [
            (
                row["point"], f"{row['ns'] / 1e3:.4g}", f"{row['error_ns'] / 1e3:.3g}", row["seen"], row["predicted"],
                row["hits"], row["early"], row["late"],
            )
            for row in models.to_pylist()
        ],
    )  # fmt: skip


def checks(points: pa.Table) -> list[Check]:
    """A predicted read is as quick as without sleep, for the power of a governor's guess: by the intervals of both."""
    every = _slowed(points)
    found = []
    for row in every:
        fastest, none = _beside(every, row, FASTEST), _beside(every, row, "none")
        if row["way"] != "ahead" or row["group"] not in ("gaps", "pauses", "clocks", "nvme") or not fastest or not none:
            continue
        place = f"{row['drive']}, {row['gap_us']} µs between reads"
        place += f", {_clocks(row)}" if _clocks(row) != USUAL else ""
        found.append(
            Check(
                f"{place}: a predicted read is at most {100 * SLOWDOWN:g} % slower than without sleep",
                row["p99_high_us"] <= (1 + SLOWDOWN) * fastest["p99_low_us"],
                f"p99 {waiting.quantile_text(row, 'p99')} µs, {waiting.quantile_text(fastest, 'p99')} without sleep, "
                f"{none['p99_us']:.4g} by the governor",
            )
        )
        found.append(
            Check(
                f"{place}: it needs at most {100 * ENERGY:g} % more power than a governor's guess",
                waiting.at_most(row, none, "power_w") <= 1 + ENERGY,
                f"{waiting.watts_text(row, 'power_w')} mW, {waiting.watts_text(none, 'power_w')} by the governor, "
                f"{waiting.watts_text(fastest, 'power_w')} without sleep",
            )
        )
    return found


def plot_gaps(points: pa.Table, label: str) -> Figure:
    rows = [row for row in _slowed(points) if row["group"] in ("gaps", "pauses", "busy")]
    figure, axes = style.panels(2, 2, 2.6)
    gaps = sorted({row["gap_us"] for row in rows})
    for number, way in enumerate(dict.fromkeys(row["way"] for row in rows)):
        own = sorted((row for row in rows if row["way"] == way), key=lambda row: row["gap_us"])
        at = [gaps.index(row["gap_us"]) for row in own]
        look: dict[str, Any] = {
            "color": "black", "marker": style.MARKERS[number % len(style.MARKERS)], "markersize": 5, "linewidth": 0.8,
            "label": way,
        }  # fmt: skip
        if all(row["p99_slowdown"] is not None for row in own):
            axes[0].plot(at, [100 * row["p99_slowdown"] for row in own], **look)
        axes[1].plot(at, [1e3 * row["power_w"] for row in own], **look)
    for axis in axes:
        axis.set_xticks(range(len(gaps)), [f"{gap / 1000:g}" for gap in gaps])
        axis.set_xlabel("time between reads (ms)")
    axes[1].legend()
    axes[0].set_ylabel("slowdown of the p99 (%)")
    axes[1].set_ylabel("power of the machine (mW)")
    figure.suptitle(f"Reads of 4 KiB\n{label}")
    return figure
