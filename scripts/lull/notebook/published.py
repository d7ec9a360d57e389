# SPDX-License-Identifier: BSD-3-Clause
"""A result: what an analysis concluded, published in `results/` or made of the runs at hand."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import matplotlib
import pyarrow as pa
from matplotlib.figure import Figure

from lull.errors import UserError
from lull.files import json_file
from lull.files.blocks import quoted
from lull.files.paths import ROOT
from lull.notebook import house
from lull.notebook.frame import Frame, Kind, frame_of
from lull.results import drawing
from lull.results.result import CHECKS, RESULTS


class Markdown(str):
    """A text that a notebook shows as it is meant."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


class ResultView:
    """A result's folder, opened."""

    def __init__(self, path: Path, kind: Kind | None = None) -> None:
        self.path, self._kind = path, kind

    def __repr__(self) -> str:
        return f"<lull result {self.path.name}: {', '.join(self.tables)}>"

    @property
    def tables(self) -> list[str]:
        """The names of its tables, for `df()`."""
        return list(self._tables)

    def df(self, name: str) -> Frame:
        """A table by its name."""
        if name not in self._tables:
            raise UserError(f"{self.path}: no table {name!r}; use {quoted(self.tables)}")
        return frame_of(self._tables[name], self._kind)

    @cached_property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest: what was asked, the outcome of every point, and what made the points."""
        return json_file.read(self.path / drawing.MANIFEST, "publish the result again")

    @cached_property
    def summary(self) -> Markdown:
        """The page with its tables and checks."""
        return Markdown((self.path / drawing.SUMMARY).read_text(encoding="utf-8"))

    @property
    def checks(self) -> Frame:
        """The checks: `name`, `passed`, and in `says` their numbers."""
        path = self.path / CHECKS
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: cannot be read as JSON ({error}); publish the result again") from None
        names = ("name", "passed", "says")
        return frame_of(pa.table({name: [check[name] for check in found] for name in names}), self._kind)

    @property
    def figures(self) -> dict[str, Figure]:
        """Drawn anew from the tables, by name."""
        with matplotlib.rc_context(house.style.HOUSE):
            return {one.name: one.figure for one in drawing.of_folder(self.path)}

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        return drawing.tables_of(self.path)


@overload
def results(name: None = None) -> list[str]: ...
@overload
def results(name: str | Path, frames: Kind | None = None) -> ResultView: ...
def results(name: str | Path | None = None, frames: Kind | None = None) -> ResultView | list[str]:
    """A published result by its name, such as "wake-latency", or by its folder; without a name, the names of all."""
    names = sorted(path.parent.name for path in RESULTS.glob(f"*/{drawing.SUMMARY}"))
    if name is None:
        return names
    if name in names:
        return in_folder(RESULTS / str(name), frames)
    if Path(name).is_dir():
        return in_folder(Path(name), frames)
    raise UserError(f"{name}: no published result, and no folder; use {quoted(names)}")


def in_folder(path: Path, kind: Kind | None = None) -> ResultView:
    if not (path / drawing.SUMMARY).is_file() or not (path / drawing.MANIFEST).is_file():
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        raise UserError(f"{shown}: not a result ({drawing.SUMMARY} is missing); `lull figures` makes one of runs")
    return ResultView(path.resolve(), kind)
