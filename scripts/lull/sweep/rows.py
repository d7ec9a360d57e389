# SPDX-License-Identifier: BSD-3-Clause
"""A cache of the rows of a sweep's table, so that thousands of runs are read only once.

A cached row is used as long as the run's files have the same sizes and times, and the package's sources are the same.
The cache can be removed at any time.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from lull.files import json_file
from lull.rundir import folder as rundir
from lull.runspec.values import Value

KEPT = ".rows.json"
Row = dict[str, Value | None]
Point = TypeVar("Point")

_OWN = (rundir.RUN, rundir.MANIFEST, rundir.LEDGER, rundir.STDOUT)


def of(
    place: Path, points: Sequence[Point], run_of: Callable[[Point], Path], make: Callable[[Point], Row]
) -> list[Row]:
    """Return the row of each point, from the cache in `place` or made by `make`. Update the cache."""
    kept = _read(place / KEPT)
    found: list[Row] = []
    changed: dict[str, tuple[list[object], Row]] = {}
    now: dict[str, tuple[list[object], Row]] = {}
    for point in points:
        run = run_of(point)
        looks = _looks(run)
        before = kept.get(run.name)
        if before is not None and before[0] == looks:
            row = before[1]
        else:
            row = make(point)
            changed[run.name] = (looks, row)
        now[run.name] = (looks, row)
        found.append(row)
    if changed:
        json_file.write_small(place / KEPT, {"sources": rundir.sources(), "rows": now})
    return found


def _read(path: Path) -> Mapping[str, tuple[list[object], Row]]:
    """Return the cached rows. A damaged file, or one of other sources, counts as empty."""
    try:
        kept = json.loads(path.read_bytes())
        rows = kept["rows"] if kept["sources"] == rundir.sources() else {}
        return {name: (looks, row) for name, (looks, row) in rows.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _looks(run: Path) -> list[object]:
    """Return names, sizes and times of the files from which a row is made: those in `_OWN`, and the guest's files."""
    found: list[object] = []
    for folder, names in ((run, _OWN), (run / rundir.FILES, None)):
        try:
            with os.scandir(folder) as entries:
                here = sorted(
                    (entry for entry in entries if names is None or entry.name in names), key=lambda one: one.name
                )
                for entry in here:
                    stat = entry.stat()
                    found.append([entry.name, stat.st_size, stat.st_mtime_ns])
        except OSError:
            continue
    return found
