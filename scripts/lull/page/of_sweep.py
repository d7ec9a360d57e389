# SPDX-License-Identifier: BSD-3-Clause
"""The page of a sweep, or of a scenario's runs, which compares the points."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from lull.compare import measures
from lull.compare.samples import Samples
from lull.energy import rows, view
from lull.figures import time_asleep, traced_wakes
from lull.figures.sample import Sample
from lull.page import manifest, of_results, what_if
from lull.page.page import Page, Section
from lull.plotting import style
from lull.results.drawing import MANIFEST
from lull.rundir.origin import Origin
from lull.runspec.values import text_of
from lull.scenario.folder import FIGURES
from lull.trace.clock import TICK_HZ

CURVES_SHOWN = 12
_ENERGY = ("joules:mcpat:calibrated", "joules:em:calibrated")
_ELSE = "simulated_s"
_LATENCY = (r"wake:total_us:p99", r".*latency.*:p99", r"wake:out_us:p99", r".*:p99", r"simulated_s")
"""Measures of latency, in order of preference. The page begins with the first that any point has."""


def page(samples: Samples, with_sliders: bool = True) -> Page:
    spec = samples.points[0].run.spec
    platforms = ", ".join(dict.fromkeys(point.run.spec.platform.name for point in samples.points))
    version = str(samples.points[0].run.manifest["engine"]["version"])
    origin = Origin(spec.engine, version, spec.cpu, platforms)
    made = Page(f"Sweep {samples.title}", [f"{origin.label}. {len(samples.points)} runs. Made by {samples.command}."])
    if not origin.timed:
        made.warnings.append("These runs are functional only: their times, latencies and powers are no measurements.")
    if samples.missing:
        made.warnings.append(f"{len(samples.missing)} points have not finished, such as {samples.missing[0]}.")
    found = [measures.of_point(point) for point in samples.points]
    _pareto(made.section("Energy against latency", "tradeoff"), samples, found)
    _residency(made.section("Idle states", "residency"), samples)
    _wake_ups(made.section("Wake-ups"), samples)
    _power(made.section("Power over time", "power"), samples)
    if with_sliders:
        _what_if(made, samples)
    made_already = samples.path / FIGURES
    if (made_already / MANIFEST).is_file():
        of_results.show(made.section("Analysis"), made_already)
    _points(made.section("Points"), samples, found)
    section = made.section("Manifest")
    section.text("Of the first point; the others differ in their settings and seed.")
    manifest.show(section, samples.points[0].run.manifest)
    return made


def axes(names: Sequence[str]) -> tuple[str, str]:
    """Return the first measures of the Pareto view: latency for the horizontal axis, energy for the vertical one."""
    latency = next((name for like in _LATENCY for name in names if re.fullmatch(like, name)), names[0])
    return latency, next((name for name in (*_ENERGY, _ELSE) if name in names), names[-1])


def _pareto(section: Section, samples: Samples, found: Sequence[dict[str, float]]) -> None:
    names = list(dict.fromkeys(name for row in found for name in row))
    of_point = {id(point): row for point, row in zip(samples.points, found, strict=True)}
    points = [
        {
            "title": title,
            "settings": _settings(points[0]),
            "values": [{name: float(f"{value:.7g}") for name, value in of_point[id(one)].items()} for one in points],
        }
        for title, points in samples.by_title().items()
    ]
    across, up = axes(names)
    data: dict[str, Any] = {
        "measures": names, "units": {name: measures.unit_of(name) for name in names}, "points": points, "x": across,
        "y": up,
    }  # fmt: skip
    caption = (
        "Each mark is one point of the sweep, the mean over its seeds. The line joins those that no other point beats "
        "in both, where less is better. Any two measures may be set against each other."
    )
    section.pareto(data, caption)
    if not any(name in names for name in _ENERGY):
        section.text("No account of energy yet: lull energy RUNDIR makes one for a run on gem5.")


def _settings(point: Sample) -> list[str]:
    told = [f"{key} = {text_of(value)}" for key, value in point.settings.items()]
    return [point.title, *told] if point.title else told


def _residency(section: Section, samples: Samples) -> None:
    table = time_asleep.df_residency(samples.points)
    if table.num_rows:
        section.figure("shares", time_asleep.plot_by_point(table), "Of the time of the command, by Linux's own count.")
    else:
        section.text("These runs left no count of idle states.")


def _wake_ups(section: Section, samples: Samples) -> None:
    table = traced_wakes.df_by_point(samples.points)
    if table.num_rows:
        caption = (
            "Means over all wake-ups that led to a task, of every seed; where nothing measured them, by the trace."
        )
        section.figure("phases", traced_wakes.plot_by_point(table), caption)
    else:
        section.text("These runs tell nothing of single wake-ups: neither a trace nor wake-latency's own records.")


def _power(section: Section, samples: Samples) -> None:
    curves = [(title, points[0]) for title, points in samples.by_title().items() if points[0].ledger]
    if not curves:
        section.text("No account of energy yet.")
        return
    section.figure("total", plot_total(curves[:CURVES_SHOWN]), "The whole machine's, of the first seed of each point.")
    if len(curves) > CURVES_SHOWN:
        section.text(f"{len(curves) - CURVES_SHOWN} more points: lull report RUNDIR shows each by itself.")


def plot_total(curves: Sequence[tuple[str, Sample]]) -> Figure:
    """Draw the watts of the whole machine over time, a curve for each point."""
    figure, (axis,) = style.panels(1, 1, 2.6)
    for number, (title, point) in enumerate(curves):
        assert point.ledger is not None
        backend = max(backend for backend, _ in point.joules())  # mcpat, if there are both
        power = view.df_power(point.ledger, backend, rows.CALIBRATED)
        whole = power.group_by(["start", "end"]).aggregate([("watts", "sum")]).sort_by("start")
        start, watts = whole["start"].to_numpy(), whole["watts_sum"].to_numpy()
        begin, end = start[0], pc.max(whole["end"]).as_py()
        axis.step(
            np.append(start - begin, end - begin) * 1e3 / TICK_HZ, np.append(watts, watts[-1]), where="post",
            color=str(0.6 * (number // len(style.LINES)) / 3), linestyle=style.LINES[number % len(style.LINES)],
            label=title or "run",
        )  # fmt: skip
    axis.set(xlabel="time (ms)", ylabel="power (W)", ylim=(0, None))
    figure.suptitle("Power over time")
    return figure


def _what_if(made: Page, samples: Samples) -> None:
    """Add sliders for one point only, because each point needs its own grid."""
    point = next((point for point in samples.points if what_if.can_be_asked(point)), None)
    if point is None:
        return
    section = made.section("What if")
    if len(samples.points) > 1:
        section.text(f"Of the first point that has a trace, {point.run.name}: lull report RUNDIR asks another one.")
    what_if.show(section, point)


def _points(section: Section, samples: Samples, found: Sequence[dict[str, float]]) -> None:
    settings = list(dict.fromkeys(key for point in samples.points for key in point.settings))
    names = list(dict.fromkeys(name for row in found for name in row))
    across = list(dict.fromkeys([*axes(names), *(name for name in names if name.startswith(("watts:", "residency:")))]))
    table = [
        [point.run.name, *(_text(point.settings.get(key)) for key in settings), point.seed,
         *(f"{row[name]:.6g}" if name in row else None for name in across)]
        for point, row in zip(samples.points, found, strict=True)
    ]  # fmt: skip
    section.table(["point", *settings, "seed", *across], table)
    every = [
        {"point": point.title, "seed": point.seed, **row} for point, row in zip(samples.points, found, strict=True)
    ]
    section.folded("Every measure of every point", json.dumps(every, indent=1))


def _text(value: Any) -> str | None:
    return None if value is None else text_of(value)
