# SPDX-License-Identifier: BSD-3-Clause
"""Opens a path: a run, a sweep, a scenario's runs or a published result."""

from pathlib import Path

from lull.compare import samples
from lull.errors import UserError
from lull.notebook.frame import Kind, known
from lull.notebook.many_runs import SweepView
from lull.notebook.one_run import RunView
from lull.notebook.source import Source
from lull.results import drawing


def open(path: str | Path, frames: Kind | None = None) -> RunView | SweepView:  # noqa: A001 # as lull.open
    """A run's folder, a scenario's folder of points, or a sweep's: the right kind of object for each.

    `frames` is "pandas", "polars" or "arrow", for this object alone. What was read once is kept: open a folder again
    after it has changed.
    """
    place = Path(path)
    kind = known(frames) if frames else None
    if samples.kind_of(place) is None and (place / drawing.SUMMARY).is_file():
        raise UserError(f"{path}: the folder of a result; open it by lull.results({str(path)!r})")
    found = samples.read(place)
    if found.kind != "run":
        return SweepView(found, str(path), kind)
    return RunView(found, Source(found.points[0], str(path)), kind)
