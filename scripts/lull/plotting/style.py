# SPDX-License-Identifier: BSD-3-Clause
"""The style of every figure: readable without colour, as wide as a column, the same bytes from the same data."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure

from lull.files import whole

GREYS = ("0.80", "0.25", "0.50", "0.70", "0.95")
HATCHES = ("xxx", "", "///", "...", "")
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH_IN = 7.0

HOUSE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.titlesize": 9,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "pdf.fonttype": 42,
    "svg.hashsalt": "lull",
}
"""Settings of matplotlib. Figures are made without pyplot, so that no window system and no notebook is involved."""

matplotlib.rcParams.update(HOUSE)


def fill(number: int) -> dict[str, Any]:
    """The look of the `number`th kind of bar. After each round of greys the hatches move on by one, so that the first
    15 kinds differ."""
    round_, grey = divmod(number, len(GREYS))
    return {"facecolor": GREYS[grey], "hatch": HATCHES[(grey + round_) % len(HATCHES)]}


def panels(count: int, columns: int, height_in: float, shared: bool = False) -> tuple[Figure, list[Axes]]:
    """Return a figure with `count` panels in rows of `columns`."""
    rows = -(-count // columns)
    figure = Figure(figsize=(WIDTH_IN, height_in * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=shared, sharey=shared)
    every = [axis for row in axes for axis in row]
    for axis in every[count:]:
        axis.set_visible(False)
    return figure, every[:count]


def legend_below(
    figure: Figure, handles: Sequence[Artist | Container], labels: Sequence[str], columns: int = 5
) -> None:
    for handle, label in zip(handles, labels, strict=True):
        handle.set_label(label)  # for programs that read the figure, such as `lull.page.chart`
    # A container of artists is drawn in a legend as well as one of them; matplotlib's types do not know.
    figure.legend(cast("Sequence[Artist]", handles), labels, loc="outside lower center", ncols=columns)


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Save a figure as PDF and PNG, and return the paths. The files have no dates, so that equal data makes equal
    files."""
    undated: dict[str, dict[str, Any]] = {
        "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
        "png": {"metadata": {"Software": None}, "dpi": 160},
    }
    paths = []
    for kind, options in undated.items():
        image = io.BytesIO()  # in memory first: on a full disk, matplotlib would raise its own error
        figure.savefig(image, format=kind, **options)
        paths.append(folder / f"{name}.{kind}")
        with whole.written(paths[-1]) as partial:
            partial.write_bytes(image.getvalue())
    return paths
