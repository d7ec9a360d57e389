# SPDX-License-Identifier: BSD-3-Clause
"""The analysis of the scenario `esm-phase`: a poll, whose events always come at the same time after a look."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from lull.figures.esm import checks as esm_checks
from lull.figures.esm import paired, two_methods
from lull.figures.esm import plots as esm_plots
from lull.figures.esm import points as esm_points
from lull.figures.esm import runs as esm_runs
from lull.figures.esm import tables as esm_tables
from lull.figures.esm.points import ESM, PULL, RANDOM
from lull.plotting import style
from lull.plotting.numbers import with_interval
from lull.results.drawing import Drawing, Stored
from lull.results.result import Check, Result, need
from lull.scenario.runs import Runs
from lull.statistics import student

AXIS = "after_us"
HEADING = "µs after a look"
PERIOD_US = 16000
"""The time from one look to the next in the series PULL."""
LATE_US = 1000.0
"""How much longer than until the next look an answer may take: timer slack, the way out of sleep, the look itself."""

Row = dict[str, Any]


def analyse(runs: Runs) -> Result:
    result = conclude(esm_tables.of_points(esm_runs.read(runs), AXIS), runs.names, runs.timed)
    return result if runs.timed else esm_tables.without_joules(result, runs.label)


def conclude(tables: Mapping[str, pa.Table], points: Sequence[str], timed: bool = True) -> Result:
    """From the tables alone."""
    table = need(tables, "points", *esm_checks.COLUMNS)
    rows = table.to_pylist()
    result = Result(
        summary="## Points\n\nMeans with 95 % intervals over repetitions.\n\n"
        + esm_points.points_text(table, AXIS, HEADING),
        tables=dict(tables),
        checks=[esm_checks.delivered(rows), *waits_for_the_look(rows)],
    )
    if not timed:
        return result
    differences = need(tables, "differences", *paired.COLUMNS)
    result.summary += paired.text(differences, AXIS, HEADING) + two_methods.text(table)
    result.checks += esm_checks.clocks(rows)
    result.checks += esm_checks.against_pull(differences.to_pylist(), AXIS, HEADING)
    result.checks += as_at_random(differences.to_pylist())
    return result


def waits_for_the_look(rows: Sequence[Row]) -> list[Check]:
    """Check that an event waits in a poll until the next look is due, and not for a look later."""
    polls = [row for row in rows if row["series"] == PULL and row["median_us"] is not None]
    if not polls:
        return []
    after = [(row["median_us"] - (PERIOD_US - row[AXIS]) % PERIOD_US, row[AXIS]) for row in polls]
    least, most = min(after), max(after)
    says = (
        f"the median answer comes {least[0]:.3g} µs after the look is due at {least[1]} {HEADING}, and "
        f"{most[0]:.3g} µs at {most[1]}; may be 0 to {LATE_US:g}"
    )
    return [Check("a poll answers when the next look is due", least[0] >= 0 and most[0] < LATE_US, says)]


def as_at_random(rows: Sequence[Row]) -> list[Check]:
    """Check that the saving at random times lies between the least and the most of the savings at fixed times."""
    known = [row for row in rows if row["power_w"] is not None and row["power_w_pm"] is not None]
    fixed = [row for row in known if (row["series"], row["against"]) == (ESM, PULL)]
    random = [row for row in known if (row["series"], row["against"]) == (f"{ESM}{RANDOM}", f"{PULL}{RANDOM}")]
    if len(fixed) < 2 or not random:
        return []
    (own,) = random
    least, most = max(fixed, key=lambda row: row["power_w"]), min(fixed, key=lambda row: row["power_w"])
    low, high = _ends(own)
    passed = _ends(most)[0] <= high and low <= _ends(least)[1]
    says = (
        f"at random {_saved(own)} mW; least {_saved(least)} at {least[AXIS]} {HEADING}, most {_saved(most)} at "
        f"{most[AXIS]}"
    )
    return [Check("ESM saves at random times what it saves at fixed ones", passed, says)]


def _ends(row: Row) -> tuple[float, float]:
    return student.ends(row["power_w"], row["power_w_pm"])


def _saved(row: Row) -> str:
    return with_interval(-row["power_w"], row["power_w_pm"], scale=1e3)


def draw(stored: Stored) -> list[Drawing]:
    table = stored.rows("points")
    if table is None or not stored.origin.timed:
        return []
    return [Drawing("phase", plot(table, stored.label), "Power, and the time to an answer, over the phase of events.")]


def plot(table: pa.Table, label: str) -> Figure:
    """Power and mean latency over the phase, a line for each way to get events."""
    ordinary = [row for row in table.to_pylist() if row["events"] and RANDOM not in row["series"]]
    curves = {
        series: {at / 1e3: row for at, row in sorted(known.items())}
        for series, known in esm_points.by_series(ordinary, AXIS).items()
    }
    figure, axes = style.panels(2, 2, 2.6)
    handles: dict[str, Artist] = {}
    columns = (("power_w", 1e3, "mean power (mW)"), ("latency_us", 1e-3, "mean time to an answer (ms)"))
    for axis, (column, scale, heading) in zip(axes, columns, strict=True):
        esm_plots.draw_curves(axis, curves, column, scale, handles)
        axis.set_xlabel("time from a look to an event (ms)")
        axis.set_ylabel(heading)
    figure.suptitle(f"Events at a fixed time after a look\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles), columns=4)
    return figure
