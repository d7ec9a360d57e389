# SPDX-License-Identifier: BSD-3-Clause
"""Opens paths: a run, a sweep, a scenario's runs or a published result."""

from collections.abc import Sequence
from pathlib import Path

from lull.compare import samples
from lull.errors import UserError
from lull.notebook import asking
from lull.notebook.frame import Frame, Kind, known
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


def what_if(
    paths: str | Path | Sequence[str | Path],
    *settings: str,
    grid: Sequence[str] = (),
    frames: Kind | None = None,
    reasons: bool = False,
) -> Frame:
    """What several runs would have been, as `lull what-if` has it: each run's rows, and those of the mean of its
    repetitions. `reasons` is that of `RunView.what_if`.

        lull.what_if(["runs/boot-1", "runs/boot-2", "runs/boot-3"], "cstates.C3.exit_us=15")
    """
    asked = asking.question(settings, grid)
    if not paths:
        raise UserError("what_if: no run named; name folders, such as what_if(['runs/a', 'runs/b'], 'governor=teo')")
    views = [open(path, frames) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    return asking.asked_of([source for view in views for source in view._sources], asked, frames, reasons)
