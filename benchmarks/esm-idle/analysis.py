# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `esm-idle`: figure 6.1 of the paper, what an application costs that nobody uses."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures.esm import boots as esm_boots
from lull.figures.esm import paired, two_methods
from lull.figures.esm import points as esm_points
from lull.figures.esm import runs as esm_runs
from lull.figures.esm import tables as esm_tables
from lull.figures.esm.plots import METHODS
from lull.plotting import style
from lull.plotting.markdown import markdown_table
from lull.plotting.numbers import with_interval
from lull.results.against import Against
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result, need
from lull.runspec.values import Value
from lull.scenario.runs import Runs

AXIS = "delay_us"
PAPER_S = 120
"""The length of the paper's run, to which CPU time is scaled."""
LOOKED_AFTER_S = 1.0
"""Linux's deadline server for ordinary tasks wakes a CPU once, 0.95 s after an ordinary task ran there first."""
PAPER = {16000: 12.14}
"""Seconds of CPU time that the paper gives, by delay."""


def analyse(runs: Runs) -> Result:
    result = conclude(esm_tables.of_points(esm_runs.read(runs), AXIS), runs.names, runs.timed)
    if not runs.timed:
        result.summary += f"\n{runs.label}: no joules, and so no figures.\n"
    return result


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables alone."""
    table = tables["points"]
    result = Result(
        summary=f"## CPU time in {PAPER_S} s\n\nOf shorter runs, scaled: an idle application does the same over and "
        "over. With 95 % intervals over repetitions.\n\n" + _cpu_text(table),
        tables=dict(tables),
        checks=checks(table, need(tables, "repetitions", "began_s")),
    )
    if not timed:
        return result
    differences = need(tables, "differences", *paired.COLUMNS)
    boots = tables.get("boots", esm_boots.NONE)
    result.summary += "\n## Points\n\n" + esm_points.points_text(table, AXIS, "delay, µs")
    result.summary += paired.text(differences, AXIS, "delay, µs")
    result.summary += esm_boots.text(boots, AXIS, "delay, µs") + two_methods.text(table)
    result.checks += [*power_checks(differences), *esm_boots.checks(boots)]
    return result


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("points")
    if table is None or not stored.origin.timed:
        return []
    cpu, power = plot_cpu(table, stored.label), plot_power(table, stored.label)
    return [
        Drawing("cpu-time", cpu, "CPU time of an idle application over the delay of its poll."),
        Drawing("power", power, "Mean power with an idle application, over the delay of its poll."),
    ]


def against(stored: Stored) -> list[Against]:
    """CPU time of the polls that the paper has; the baseline waits in epoll."""
    table = stored.rows("points")
    polls, waiting = _split(table) if table is not None else ([], [])
    epoll = [f"epoll: {row['cpu_share'] * PAPER_S:.3g}" for row in waiting if row["series"] == esm_points.EPOLL]
    baseline = epoll[0] if epoll else "-"
    return [
        Against(
            f"CPU time in {PAPER_S} s of {row['series']}", "s", esm_points.cell(row, "cpu_share", PAPER_S),
            f"{PAPER[row[AXIS]]:g}", baseline, "ESM paper",
        )
        for row in polls
        if row[AXIS] in PAPER
    ]  # fmt: skip


def plot_cpu(table: pa.Table, label: str) -> Figure:
    figure, (axis,) = style.panels(1, 1, 2.8)
    polls, waiting = _split(table)
    seconds = [row["cpu_share"] * PAPER_S for row in polls]
    axis.errorbar(
        [row[AXIS] for row in polls], seconds, yerr=[(row["cpu_share_pm"] or 0) * PAPER_S for row in polls],
        color="black", linewidth=1, marker=style.MARKERS[0], markersize=4, capsize=2, label="pull",
    )  # fmt: skip
    axis.plot(list(PAPER), list(PAPER.values()), linestyle="none", marker="x", color="black", label="paper, pull")
    for number, row in enumerate(waiting):
        text = f"{row['series']}: {row['cpu_share'] * PAPER_S:.3g} s"
        axis.annotate(text, (0.02, 0.06 + 0.08 * number), xycoords="axes fraction")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("delay of the poll (µs)")
    axis.set_ylabel(f"CPU time in {PAPER_S} s (s)")
    axis.legend()
    figure.suptitle(f"CPU time of an idle application\n{label}")
    return figure


def plot_power(table: pa.Table, label: str) -> Figure:
    figure, axes = style.panels(len(METHODS), 2, 2.2)
    polls, waiting = _split(table)
    for axis, (measure, title) in zip(axes, METHODS.items(), strict=True):
        axis.errorbar(
            [row[AXIS] for row in polls], [row[measure] * 1e3 for row in polls],
            yerr=[(row[f"{measure}_pm"] or 0) * 1e3 for row in polls],
            color="black", linewidth=1, marker=style.MARKERS[0], markersize=4, capsize=2, label="pull",
        )  # fmt: skip
        for number, row in enumerate(waiting):
            line = style.LINES[1 + number % 3]
            axis.axhline(row[measure] * 1e3, color="0.4", linewidth=0.8, linestyle=line, label=row["series"])
        axis.set_xscale("log")
        axis.set_title(title)
        axis.set_xlabel("delay of the poll (µs)")
        axis.set_ylabel("mean power (mW)")
        axis.legend()
    figure.suptitle(f"Power with an idle application\n{label}")
    return figure


def checks(table: pa.Table, repetitions: pa.Table) -> list[Check]:
    found = []
    waiting = [row for row in repetitions.to_pylist() if row["series"].startswith(esm_points.ESM)]
    if waiting:
        cpu_s = sum(row["cpu_share"] * row["seconds"] for row in waiting)
        wakes = sum(
            round((row["own_wakes_hz"] + row["device_wakes_hz"]) * row["seconds"])
            for row in waiting
            if row["began_s"] >= LOOKED_AFTER_S
        )
        names = ", ".join(dict.fromkeys(row["point"] for row in waiting))
        says = (
            f"{cpu_s:g} s of CPU time, and from {LOOKED_AFTER_S:g} s after its start on {wakes} wake-ups of main CPUs "
            f"by it or for it, in {names}"
        )
        found.append(Check("an idle ESM application uses no CPU", cpu_s == 0 and wakes == 0, says))
    polls = [(int(row[AXIS]), row["cpu_share"]) for row in _split(table)[0]]
    if len(polls) > 1:
        # Below the timer's slack of 50 us a shorter delay is none.
        slow = [share for delay, share in polls if delay >= 100]
        passed = slow == sorted(slow, reverse=True)
        says = ", ".join(f"{delay} µs: {share:.3%}" for delay, share in polls)
        found.append(Check("a poll that sleeps longer uses less CPU", passed, says))
    return found


def power_checks(differences: pa.Table) -> list[Check]:
    """No poll is shown to burn less: no interval of a difference is wholly above 0."""
    found = [
        row
        for row in differences.to_pylist()
        if row["series"] == esm_points.ESM and row["against"].startswith("pull") and row["power_w"] is not None
    ]
    if not found:
        return []
    worst = max(found, key=lambda row: row["power_w"] - (row["power_w_pm"] or 0))
    value, half = worst["power_w"] * 1e3, (worst["power_w_pm"] or 0) * 1e3
    says = f"at most {with_interval(value, half, '+')} mW, against {worst['against']}"
    return [Check("an idle ESM application burns no more than any poll", value - half <= 0, says)]


def _split(table: pa.Table) -> tuple[list[esm_points.Row], list[esm_points.Row]]:
    """Polls whose look is a system call, by their delay, and those that wait: all at the usual clocks and depth."""
    rows = [row for row in table.to_pylist() if _is_usual(row)]
    polls = [row for row in rows if _is_poll(row) and esm_points.LOOK not in row["series"]]
    return sorted(polls, key=lambda row: int(row[AXIS])), [row for row in rows if not _is_poll(row)]


def _looks(table: pa.Table) -> list[esm_points.Row]:
    """Polls whose look costs more, by what it costs."""
    looks = (row for row in table.to_pylist() if esm_points.LOOK in row["series"] and _is_usual(row))
    return sorted(looks, key=lambda row: float(row["cpu_share"]))


def _is_usual(values: Mapping[str, Value]) -> bool:
    """Whether a point has the scenario's own clocks, depth and boot, as all points of an older result do."""
    return (values.get("cpufreq", "schedutil"), values.get("deepest", "C3"), values.get("boot") or 0) == (
        "schedutil",
        "C3",
        0,
    )


def _is_poll(row: esm_points.Row) -> bool:
    return str(row["series"]).startswith("pull")


def _cpu_text(table: pa.Table) -> str:
    polls, waiting = _split(table)
    others = [row for row in table.to_pylist() if not _is_usual(row)]
    rows = [
        (
            row["series"],
            esm_points.cell(row, "cpu_share", PAPER_S),
            f"{row['clock_cpu_share'] * PAPER_S:.4g}",
            esm_points.cell(row, "own_wakes_hz"),
            f"{PAPER[row[AXIS]]:g}" if _is_poll(row) and row[AXIS] in PAPER else "-",
        )
        for row in [*polls, *_looks(table), *waiting, *others]
    ]
    headings = ("", "s, of the trace", "s, of the process's clock", "wake-ups/s", "paper, s")
    return markdown_table(headings, rows)
