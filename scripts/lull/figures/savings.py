# SPDX-License-Identifier: BSD-3-Clause
"""Curves of savings over one parameter, such as the rate of requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from lull.figures import waiting
from lull.plotting import style

Row = dict[str, Any]
LEAST = 2
"""The smallest number of points for a curve."""


@dataclass(frozen=True)
class Curves:
    about: str
    """The label of the horizontal axis."""
    by_name: Mapping[str, Sequence[tuple[float, float, float | None]]]
    """The points of each curve: value of the axis, saved share, and half of its interval."""


def over(
    rows: Sequence[Row], usual: Row, name: str, same: Sequence[str], share: str, at: str = ""
) -> list[tuple[float, float, float | None]]:
    """Return the curve of the column `share` over the column `name`. Its rows equal `usual` in all other columns of
    `same`. If given, `at` is the column for the axis instead of `name`."""
    others = [other for other in same if other != name]
    found = {
        float(row[at or name]): (float(row[share]), row[f"{share}_pm"])
        for row in rows
        if waiting.alike(row, usual, others)
    }
    return [(place, *found[place]) for place in sorted(found)]


def plot(title: str, every: Sequence[Curves]) -> Figure | None:
    """Draw a panel for each group of curves that has enough points. Return None if none has."""
    drawn = [curves for curves in every if max((len(points) for points in curves.by_name.values()), default=0) >= LEAST]
    if not drawn:
        return None
    figure, axes = style.panels(len(drawn), len(drawn), 2.4, shared=False)
    for axis, curves in zip(axes, drawn, strict=True):
        for number, (label, points) in enumerate(curves.by_name.items()):
            axis.errorbar(
                [place for place, _, _ in points], [100 * share for _, share, _ in points],
                [100 * (half or 0) for _, _, half in points], label=label, color="black", markerfacecolor="white",
                marker=style.MARKERS[number], linestyle=style.LINES[number], linewidth=0.8, capsize=2,
            )  # fmt: skip
        axis.axhline(0, color="0.7", linewidth=0.6, zorder=0)
        axis.set_xlabel(curves.about)
    axes[0].set_ylabel("saved (%)")
    axes[0].legend()
    figure.suptitle(title)
    return figure
