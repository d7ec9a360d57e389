# SPDX-License-Identifier: BSD-3-Clause
"""`lull demo`: a small version of the experiment `esm-keyboard`, and the page of all results."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from lull.cli import plot, what_if
from lull.cli import report as page
from lull.cli.options import PlatformOption
from lull.engines.choose import choose
from lull.files import paths
from lull.host import terminal
from lull.host.progress import Progress, report
from lull.results import making
from lull.scenario import points as resolved
from lull.scenario.folder import FAILED, HUNG, MadeOtherwise, ScenarioFolder, refuse_others, run_points
from lull.scenario.load import load_scenario
from lull.scenario.points import Wishes

SCENARIO = "esm-keyboard"
SMALL = ("rate=600", "windows=3", "window_ms=200", "settle_ms=50")
"""Six keys in 0.6 s of simulated time: enough to see the experiment work, too few to measure."""
POINTS = ("models/*",)
AXIS = "rate"
FIGURES = "published"
"""A folder beside the runs. The figures of results/ are drawn into this folder, and results/ stays as it is."""
RECORDING = paths.RESULTS / "recordings" / "drags"
WHAT_IF = ("cstates.C3.exit_us=10,30,90", "governor=menu,teo")
TIMED = {
    "latency, µs": ("latency_us", 1.0),
    "CPU time, %": ("cpu_share", 100.0),
    "wake-ups/s of main CPUs": ("main_wakes_hz", 1.0),
    "cores, mW": ("cores_w", 1e3),
    "machine, mW": ("power_w", 1e3),
}
"""Columns of the table: the heading, then the measure and the factor that turns it into the heading's unit."""


def demo(
    platform: PlatformOption = "tiny",
    out: Annotated[
        Path | None, typer.Option(help="folder for the runs; if not given, runs/demo-<platform>-<engine>")
    ] = None,
) -> None:
    """Run one application three ways, and show all results.

    The application gets its keys by polling, by epoll and by ESM. On gem5 the demo shows latency and energy. Without
    gem5, QEMU runs it, which shows only that everything works. Then `lull what-if` predicts from a recorded run what
    other idle states would have changed. At the end the demo draws the published figures again from their data, and
    writes report.html.

    Example: lull demo --platform exynos5422
    """
    engine = choose(None)
    timed = engine.name == "gem5"
    scenario = load_scenario(SCENARIO)
    wishes = Wishes(engine.name, platform, "detailed" if timed else None, SMALL)
    points = resolved.resolve(scenario, wishes, POINTS)
    place = out or Path("runs") / f"demo-{platform}-{engine.name}"
    try:
        refuse_others(place, points, engine)
    except MadeOtherwise:
        # The demo's own folder holds minutes of work, and is made again. A folder that a user named may hold hours.
        if out is not None:
            raise
        report(f"{place}: some of it is of an earlier version, and made again")
    sweep = ScenarioFolder.create(place, scenario.name, f"./lull demo --platform {platform}", points)
    done = run_points(sweep, points, engine, again=False, renew=out is None)
    bad = [item for item in done if item.how in (FAILED, HUNG)]
    for item in bad:
        report(f"{item.name} {item.how}: {item.note}; its folder is {sweep.folder(item.name)}")
    if bad:
        raise typer.Exit(1)
    # numpy, pyarrow and matplotlib take a second to load, which commands that show nothing do not pay.
    from lull.figures.esm import points as esm_points
    from lull.figures.esm import runs as esm_runs
    from lull.page import of_results
    from lull.scenario import runs as source

    with making.alone(sweep), Progress("account for energy" if timed else "read what came"):
        measured = esm_runs.read(source.read(sweep, scenario))
    rows = esm_points.df_points(measured, AXIS).to_pylist()
    terminal.console().print(_table(rows, TIMED if timed else {}))
    if timed:
        report("the runs above, on gem5, are too short to conclude from: the intervals are those of 95 %")
    else:
        report("no gem5 found: the runs above, on QEMU, are functional only; they say nothing about time or energy")
    report(f"what if C3 took another time to leave? Predicted from a run on gem5, {RECORDING.relative_to(paths.ROOT)}:")
    what_if.what_if([RECORDING], grid=list(WHAT_IF))
    plot.plot(plot.ALL, sweep.path / FIGURES)
    page.report(paths.RESULTS.name)
    report("the figures and these sentences are from results/, all made on gem5:")
    for sentence in of_results.sentences(plot.chosen(paths.RESULTS, plot.ALL)):
        report(f"- {sentence}")


def _table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, tuple[str, float]]) -> Table:
    from lull.figures.esm.points import cell

    table = Table("keys come by", "events", *columns)
    for row in rows:
        numbers = (cell(dict(row), name, scale) for name, scale in columns.values())
        table.add_row(row["series"], str(row["events"]), *numbers)
    return table
