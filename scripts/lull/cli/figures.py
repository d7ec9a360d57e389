# SPDX-License-Identifier: BSD-3-Clause
"""`lull figures`: the tables and figures of a scenario's runs."""

from pathlib import Path
from typing import Annotated

import typer

from lull.files import yaml_file
from lull.host.progress import report
from lull.results import making
from lull.scenario.folder import FIGURES, ScenarioFolder
from lull.scenario.load import load_scenario
from lull.scenario.schema import Scenario


def figures(
    runs: Annotated[Path, typer.Argument(help="folder made by `lull run`", metavar="RUNS")],
    publish: Annotated[
        bool,
        typer.Option(
            "--publish",
            help="copy tables and figures into results/; only for runs on gem5 in which every point has finished "
            "(an experiment with `in_pieces` may have fewer)",
        ),
    ] = False,
) -> None:
    """Make the tables and figures of a scenario's runs again.

    Only points that have finished are used.

    Example: lull figures runs/wake-latency-tiny-gem5-detailed --publish
    """
    sweep = ScenarioFolder.open(runs)
    make(sweep, load_scenario(sweep.scenario()), publish)


def make_if_complete(sweep: ScenarioFolder, scenario: Scenario) -> None:
    """Make the figures if every point has finished. Missing points would make the figures' conclusions wrong."""
    if making.is_complete(sweep):
        make(sweep, scenario, publish=False)


def make(sweep: ScenarioFolder, scenario: Scenario, publish: bool) -> None:
    runs, found = making.make(sweep, scenario)
    # matplotlib takes a second to load, which commands that draw nothing do not pay.
    from lull.results import drawing, result

    folder = sweep.path / FIGURES
    typer.echo((folder / drawing.SUMMARY).read_text())
    report(f"figures: {folder}")
    if publish:
        report(f"results: {yaml_file.shown(result.publish(runs, folder))}")
    result.must_hold(found.checks)
