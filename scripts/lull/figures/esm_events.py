# SPDX-License-Identifier: BSD-3-Clause
"""What the analyses of `esm-keyboard` and `esm-gesture` share: the same application, other events."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure

from lull.figures import esm_checks, esm_plots, esm_points, esm_runs
from lull.figures.esm_plots import Curves, Mark
from lull.figures.esm_points import ESM, PULL, difference
from lull.figures.esm_runs import Measured
from lull.figures.result import Result, markdown_table
from lull.figures.source import Runs


@dataclass(frozen=True)
class Experiment:
    axis: str
    """The parameter that is varied; `heading` is what it is called."""
    heading: str
    sooner_ms: Sequence[Mark]
    """The paper's gains in latency over the 16 ms poll."""
    saved_percent: Sequence[Mark]
    """The paper's gains in power."""


def analyse(
    runs: Runs, what: Experiment, aside: Callable[[Measured], bool] = lambda _: False
) -> tuple[Result, pa.Table]:
    """All but what is one experiment's own: points that are `aside` are in the tables, not on its curves."""
    points = esm_runs.read(runs)
    table = esm_points.df_points(points, what.axis)
    ordinary = [row for own, row in zip(points, table.to_pylist(), strict=True) if not aside(own)]
    curves = esm_points.by_series(ordinary, what.axis)
    result = Result(
        summary="## Points\n\nMeans with 95 % intervals over repetitions (Student's t); quantiles of all events of a "
        "point, with bootstrap intervals. Power is the whole machine's.\n\n"
        + esm_points.points_text(table, what.axis, what.heading),
        tables={"points": table, "repetitions": esm_points.df_repetitions(points, what.axis)},
        checks=[esm_checks.delivered(points)],
    )
    if not runs.timed:
        result.summary += f"\n{runs.label}: no joules, and so no figures and nothing to compare.\n"
        return result, table
    result.checks += esm_checks.clocks(points)
    result.checks += esm_checks.against_pull(curves, what.heading) + esm_checks.against_epoll(curves, what.heading)
    result.summary += "\n## Beside the paper\n\n" + _paper(curves, what)
    power, latency = (draw(curves, what.heading, runs.label) for draw in (esm_plots.plot_power, esm_plots.plot_latency))
    _add(result, runs, "power", power, "Mean power by two methods.")
    _add(result, runs, "latency", latency, "From the device to the handler.")
    if {ESM, PULL} <= curves.keys():
        gain = esm_plots.plot_gain(curves, what.heading, runs.label, what.sooner_ms, what.saved_percent)
        _add(result, runs, "gain", gain, "What ESM saves against a 16 ms poll, beside the paper's numbers.")
    return result, table


def _add(result: Result, runs: Runs, name: str, figure: Figure, caption: str) -> None:
    result.figures[name] = figure
    result.captions[name] = f"{caption} {runs.label}."


def _paper(curves: Curves, what: Experiment) -> str:
    """The gains of ESM over the 16 ms poll: where the paper has a number, and the mean over all places."""
    pull, esm = curves.get(PULL, {}), curves.get(ESM, {})
    rows = []
    for name, marks, measure, unit in (
        ("latency saved", what.sooner_ms, "latency_us", "ms"),
        ("power saved, machine", what.saved_percent, "power_w", "%"),
        ("power saved, CPUs", what.saved_percent, "cpus_w", "%"),
    ):
        gains: dict[Any, tuple[float, float]] = {}
        for at in pull:
            if at in esm and pull[at][measure] is not None and esm[at][measure] is not None:
                gap, half = difference(pull[at], esm[at], measure)
                scale = 1e-3 if unit == "ms" else 100 / pull[at][measure]
                gains[at] = gap * scale, half * scale
        if not gains:
            continue
        for mark in marks:
            if mark.at is not None and mark.at not in gains:
                continue
            if mark.at is not None:
                ours = f"{gains[mark.at][0]:.3g} ± {gains[mark.at][1]:.2g}"
            else:
                every = [gap for gap, _ in gains.values()]
                ours = f"mean {sum(every) / len(every):.3g}, {min(every):.3g} to {max(every):.3g}"
            rows.append((f"{name}, {unit}", mark.what, f"{mark.value:g}", ours))
    return markdown_table(("ESM against a 16 ms poll", "", "paper", "here"), rows)
