# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of a result. Only its stored tables are needed, no runs.

An analysis with figures has a function `draw(stored) -> list[Drawing]`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure

from lull.errors import UserError
from lull.files import whole
from lull.plotting import style
from lull.results import manifest, reasons
from lull.rundir.origin import Origin
from lull.scenario import experiments

MANIFEST = manifest.FILE
SUMMARY = "summary.md"
_HEADING = "\n## Figures\n"
"""The heading of a summary's last part."""


@dataclass(frozen=True)
class Stored:
    """A result's tables by name, and their origin: engine, platform and command."""

    origin: Origin
    tables: Mapping[str, pa.Table]

    @property
    def label(self) -> str:
        return self.origin.label

    def rows(self, name: str) -> pa.Table | None:
        """Return the table with this name, or None if there is no such table or it has no rows."""
        table = self.tables.get(name)
        return table if table is not None and table.num_rows else None


@dataclass(frozen=True)
class Drawing:
    name: str
    figure: Figure
    caption: str


def of_tables(analysis: ModuleType, stored: Stored) -> list[Drawing]:
    draw = getattr(analysis, "draw", None)
    return [] if draw is None else list(draw(stored))


class Tables(dict[str, pa.Table]):
    """The tables of a folder of results/, by name."""

    def __init__(self, folder: Path) -> None:
        super().__init__({path.stem: _table(path) for path in sorted(folder.glob("*.parquet")) if path.is_file()})
        self.folder = folder

    def __missing__(self, name: str) -> pa.Table:
        raise UserError(f"{self.folder / name}.parquet: missing; {manifest.REMEDY}")


def tables_of(folder: Path) -> dict[str, pa.Table]:
    """Return a result's tables by name."""
    return Tables(folder)


def _table(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        said = str(error).partition("\n")[0].rstrip(".")
        raise UserError(f"{path}: cut off, or not a table ({said}); {manifest.REMEDY}") from error


def read(folder: Path) -> tuple[ModuleType, Stored]:
    """Return the analysis and the tables of a written result."""
    about = manifest.read(folder)
    return analysis_of(about), Stored(Origin.of_manifest(about), tables_of(folder))


def analysis_of(about: manifest.ResultManifest) -> ModuleType:
    """Return the analysis that a manifest names. Older manifests name only the scenario, whose analysis it is."""
    return experiments.analysis_in(experiments.named(about.get("analysis") or about["scenario"]))


def of_folder(folder: Path) -> list[Drawing]:
    """Return the figures of a written result."""
    return of_tables(*read(folder))


def draw(folder: Path, into: Path | None = None) -> list[Path]:
    """Write a result's figures again, and its summary with captions and with the section of reasons from its README.

    Figures that the result no longer has are removed from its own folder.
    """
    target = into or folder
    drawings, label = of_folder(folder), _label(folder)
    saved = [path for drawing in drawings for path in style.save(drawing.figure, target, drawing.name)]
    if into is None:
        for path in (*folder.glob("*.pdf"), *folder.glob("*.png")):
            if path not in saved:
                path.unlink()
    text = (folder / SUMMARY).read_text(encoding="utf-8").partition(_HEADING)[0]
    text = reasons.renewed(text, manifest.read(folder)["scenario"], tables_of(folder))
    if drawings:
        captions = [f"- `{drawing.name}`: {drawing.caption} {label}.\n" for drawing in drawings]
        text += _HEADING + "\n" + "".join(captions)
    with whole.written(target / SUMMARY) as partial:
        partial.write_text(text, encoding="utf-8")
    return saved


def _label(folder: Path) -> str:
    return Origin.of_manifest(manifest.read(folder)).label
