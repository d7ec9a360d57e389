# SPDX-License-Identifier: BSD-3-Clause
"""Makes the result of a scenario's finished runs, on the command line or in a notebook."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from lull.files import locks
from lull.host.progress import Progress, report
from lull.scenario.folder import FIGURES, ScenarioFolder, finished
from lull.scenario.schema import Scenario

if TYPE_CHECKING:
    from lull.results.result import Result
    from lull.scenario.runs import Runs


def alone(sweep: ScenarioFolder) -> AbstractContextManager[None]:
    """Return a lock: commands that share a folder end at the same time, and would write the same ledgers."""
    return locks.exclusive(sweep.lock(FIGURES), lambda: report("figures: another command is making them, waiting"))


def is_complete(sweep: ScenarioFolder) -> bool:
    """Return true if all points have finished. Otherwise print how many are missing."""
    recorded = sweep.read()["points"]
    assert isinstance(recorded, list)
    missing = [point["name"] for point in recorded if finished(sweep.folder(point["name"])) is None]
    if missing:
        report(f"figures: {len(missing)} of {len(recorded)} points are not there yet, such as {missing[0]}")
    return not missing


def make(sweep: ScenarioFolder, scenario: Scenario) -> "tuple[Runs, Result]":
    """Make the tables, figures and checks of the finished points. Return the runs and the result."""
    # matplotlib takes a second to load, which commands that draw nothing do not pay.
    from lull.results import conditions, result
    from lull.scenario import runs as source

    runs = source.read(sweep, scenario)
    if runs.missing:
        report(f"figures: without {len(runs.missing)} points that have not finished, such as {runs.missing[0]}")
    with alone(sweep), Progress(f"analyse {len(runs.runs)} points"):
        found: result.Result = runs.analysis.analyse(runs)
        result.with_conditions(found, conditions.df_conditions(runs.runs))
        result.write(found, runs, sweep.path / FIGURES)
    return runs, found
