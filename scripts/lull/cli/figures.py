# SPDX-License-Identifier: BSD-3-Clause
"""`lull figures`: the tables and figures of a scenario's runs."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

from lull.files import locks, yaml_file
from lull.host.progress import Progress, report
from lull.scenario.folder import FIGURES, ScenarioFolder, finished
from lull.scenario.load import load_scenario
from lull.scenario.schema import Scenario


def figures(
    runs: Annotated[Path, typer.Argument(help="a folder made by `lull run`", metavar="RUNS")],
    publish: Annotated[
        bool, typer.Option("--publish", help="put them into results/ as well: of gem5 only, and all but the soak whole")
    ] = False,
) -> None:
    """Make the tables and figures of a scenario's runs again.

    Of the points that have finished.

    Example: lull figures runs/wake-latency-tiny-gem5-detailed --publish
    """
    sweep = ScenarioFolder.open(runs)
    make(sweep, load_scenario(sweep.scenario()), publish)


def make_if_complete(sweep: ScenarioFolder, scenario: Scenario) -> None:
    """After the last point; before it there is nothing to conclude."""
    recorded = sweep.read()["points"]
    assert isinstance(recorded, list)
    missing = [point["name"] for point in recorded if finished(sweep.folder(point["name"])) is None]
    if missing:
        report(f"figures: {len(missing)} of {len(recorded)} points are not there yet, such as {missing[0]}")
        return
    make(sweep, scenario, publish=False)


def alone(sweep: ScenarioFolder) -> AbstractContextManager[None]:
    """Commands that share a folder end together, and would write the same ledgers."""
    return locks.exclusive(sweep.lock(FIGURES), lambda: report("figures: another command is making them, waiting"))


def make(sweep: ScenarioFolder, scenario: Scenario, publish: bool) -> None:
    # matplotlib takes a second to load, which commands that draw nothing do not pay.
    from lull.results import drawing, result
    from lull.scenario import runs as source

    runs = source.read(sweep, scenario)
    if runs.missing:
        report(f"figures: without {len(runs.missing)} points that have not finished, such as {runs.missing[0]}")
    folder = sweep.path / FIGURES
    with alone(sweep), Progress(f"analyse {len(runs.runs)} points"):
        found: result.Result = runs.analysis.analyse(runs)
        result.write(found, runs, folder)
    typer.echo((folder / drawing.SUMMARY).read_text())
    report(f"figures: {folder}")
    if publish:
        report(f"results: {yaml_file.shown(result.publish(runs, folder))}")
    result.must_hold(found.checks)
