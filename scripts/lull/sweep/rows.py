# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a sweep's table, kept from one time to the next: thousands of runs are read once, not at each look.

A row is kept beside what its run's files looked like (size and time of each), and taken for as long as they look so
and the package's sources are the same. It can be removed at any time.
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
    """The row of each, made where none is kept for its run as it is; the others are written down in `place`."""
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
    """Whatever is not as we write it is not there."""
    try:
        kept = json.loads(path.read_bytes())
        rows = kept["rows"] if kept["sources"] == rundir.sources() else {}
        return {name: (looks, row) for name, (looks, row) in rows.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _looks(run: Path) -> list[object]:
    """A stamp of all that a row is made of: size and time of the files in `_OWN` and of the guest's files."""
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
