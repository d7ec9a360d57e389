# SPDX-License-Identifier: BSD-3-Clause
"""Converts a matplotlib figure to data for the page's script.

So every figure of the project becomes interactive without extra code. Artists are assigned to entries of the legend by
their looks, as a reader of the figure does. An artist of an unknown kind is an error, so that a figure on the page
never lacks a part.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch
from matplotlib.ticker import FixedLocator, FuncFormatter

Block = dict[str, Any]
DIGITS = 7
_DASHES = {"-": "", "--": "6 3", "-.": "7 3 2 3", ":": "2 3"}
_INVISIBLE = ("None", "none", "", " ", None)


@dataclass(frozen=True)
class Chart:
    name: str
    title: str
    caption: str
    panels: list[Block] = field(default_factory=list)
    legend: list[str] = field(default_factory=list)


def of_figure(name: str, figure: Figure, caption: str = "") -> Chart:
    axes = [axis for axis in figure.axes if axis.get_visible()]
    labels = _Labels(axes)
    panels = [_panel(axis, labels) for axis in axes]
    shown = [str(series["label"]) for panel in panels for series in panel["series"] if series["label"]]
    return Chart(name, figure.get_suptitle(), caption, panels, list(dict.fromkeys(shown)))


class _Labels:
    """The legend's entry of each artist: its own label, its container's, or that of an artist that looks the same."""

    def __init__(self, axes: Sequence[Axes]) -> None:
        self._of: dict[int, str] = {}
        self._by_look: dict[tuple[object, ...], str] = {}
        for axis in axes:
            for container in axis.containers:
                for artist in _parts(container):
                    self._name(artist, str(container.get_label()))
            for artist in axis.get_children():
                self._name(artist, str(artist.get_label()))
        for axis in axes:  # the parts of a container go by the looks of its first
            for container in axis.containers:
                first, *others = _parts(container)
                for artist in others:
                    self._of.setdefault(id(artist), self.of(first))

    def of(self, artist: Artist) -> str:
        return self._of.get(id(artist)) or self._by_look.get(_look(artist), "")

    def _name(self, artist: Artist, label: str) -> None:
        if label and not label.startswith("_"):
            self._of[id(artist)] = label
            self._by_look.setdefault(_look(artist), label)


def _parts(container: Any) -> list[Artist]:
    if isinstance(container, ErrorbarContainer):
        line, caps, bars = container.lines
        return [*([line] if line is not None else []), *bars, *caps]
    return list(container.patches) if isinstance(container, BarContainer) else list(container)


def _look(artist: Artist) -> tuple[object, ...]:
    if isinstance(artist, Line2D):
        mark = artist.get_marker()
        inside = str(artist.get_markerfacecolor()) if mark not in _INVISIBLE else ""
        return ("line", to_hex(artist.get_color()), artist.get_linestyle(), str(mark), inside)
    if isinstance(artist, Rectangle | StepPatch):
        return ("patch", to_hex(artist.get_facecolor()), artist.get_hatch())
    if isinstance(artist, PolyCollection):
        return ("poly", *(to_hex(tuple(shade)) for shade in np.asarray(artist.get_facecolor()).tolist()))
    return (id(artist),)


def _panel(axis: Axes, labels: _Labels) -> Block:
    texts = [text.get_text().replace("\n", " ") for text in axis.texts if text.get_text()]
    return {
        "title": axis.get_title(),
        "x": _scale(axis, "x"),
        "y": _scale(axis, "y"),
        "series": list(_series(axis, labels)),
        "notes": texts,
    }


def _scale(axis: Axes, which: str) -> Block:
    one = axis.xaxis if which == "x" else axis.yaxis
    low, high = axis.get_xlim() if which == "x" else axis.get_ylim()
    ticks = None
    if isinstance(one.get_major_locator(), FixedLocator):
        name = one.get_major_formatter()
        named = isinstance(name, FuncFormatter)  # what set_xticks makes of names
        ticks = [[_number(at), name(at) if named else f"{at:g}"] for at in map(float, one.get_majorticklocs())]
    kind = "log" if one.get_scale() == "log" else "linear"
    return {"label": one.get_label_text(), "kind": kind, "from": _number(low), "to": _number(high), "ticks": ticks}


def _series(axis: Axes, labels: _Labels) -> Iterator[Block]:
    caps = {
        id(cap) for bars in axis.containers if isinstance(bars, ErrorbarContainer) for cap in bars.lines[1]
    }  # fmt: skip
    upright = {
        id(patch): bars.orientation != "horizontal"
        for bars in axis.containers
        if isinstance(bars, BarContainer)
        for patch in bars.patches
    }
    whiskers = [one for one in axis.collections if isinstance(one, LineCollection)]
    for collection in axis.collections:
        if collection not in whiskers:
            yield _collection(collection, labels)
    boxes: dict[tuple[str, bool], Block] = {}
    for patch in axis.patches:
        label = labels.of(patch)
        if isinstance(patch, StepPatch):
            yield _area(patch, label)
        elif not isinstance(patch, Rectangle):
            raise _unknown(patch)
        elif id(patch) in upright:  # the bars of an entry are one series
            block = {"kind": "bars", "label": label, "upright": upright[id(patch)], "boxes": []}
            boxes.setdefault((label, upright[id(patch)]), block)["boxes"].append(_box(patch))
        else:
            yield _band(patch, axis, label)
    yield from boxes.values()
    for line in axis.lines:
        if id(line) not in caps and (found := _line(line, axis, labels.of(line))):
            yield found
    for collection in whiskers:  # over what they are of
        yield _collection(collection, labels)


def _line(line: Line2D, axis: Axes, label: str) -> Block | None:
    drawn = line.get_linestyle() not in _INVISIBLE
    mark = None if line.get_marker() in _INVISIBLE else str(line.get_marker())
    if not drawn and mark is None:
        return None
    look = {"label": label, "dash": _DASHES.get(str(line.get_linestyle()), ""), "mark": mark}
    x, y = (_numbers(line.get_data(orig=False)[place]) for place in (0, 1))
    in_x, in_y = line.get_transform().contains_branch_seperately(axis.transData)
    if in_x and in_y:
        step = line.get_drawstyle() == "steps-post"
        return {**look, "kind": "line" if drawn else "points", "x": x, "y": y, "step": step}
    return {**look, "kind": "rule", "axis": "x" if in_x else "y", "at": x[0] if in_x else y[0]}


def _collection(collection: Artist, labels: _Labels) -> Block:
    label = labels.of(collection)
    if isinstance(collection, LineCollection):
        segments = [[*_numbers(np.ravel(segment))] for segment in collection.get_segments()]
        return {"kind": "segments", "label": label, "segments": segments}
    if isinstance(collection, PolyCollection):
        outlines = [np.asarray(path.vertices).tolist() for path in collection.get_paths()]
        outlines = [[_numbers(point) for point in outline] for outline in outlines]
        return {"kind": "polygons", "label": label, "outlines": outlines}
    if isinstance(collection, PathCollection):
        places = np.asarray(collection.get_offsets())
        return {
            "kind": "points", "label": label, "dash": "", "mark": "o", "x": _numbers(places[:, 0]),
            "y": _numbers(places[:, 1]), "step": False,
        }  # fmt: skip
    raise _unknown(collection)


def _area(patch: StepPatch, label: str) -> Block:
    values, edges, baseline = patch.get_data()
    low = np.zeros(len(values)) if baseline is None else np.broadcast_to(np.asarray(baseline), len(values))
    return {"kind": "area", "label": label, "edges": _numbers(edges), "low": _numbers(low), "high": _numbers(values)}


def _box(patch: Rectangle) -> list[float]:
    return _numbers([patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height()])


def _band(patch: Rectangle, axis: Axes, label: str) -> Block:
    """Return the data of a band: a part of one axis, across the whole panel."""
    in_x, in_y = patch.get_data_transform().contains_branch_seperately(axis.transData)
    if in_x == in_y:
        raise _unknown(patch)
    x, y, width, height = _box(patch)
    along = (x, x + width) if in_x else (y, y + height)
    return {"kind": "band", "label": label, "axis": "x" if in_x else "y", "from": along[0], "to": along[1]}


def _numbers(values: Any) -> list[float]:
    return [_number(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def _number(value: float) -> float:
    """Return the value, rounded to visible digits. Raise ValueError for NaN and infinity, which JSON does not have."""
    if not np.isfinite(value):
        raise ValueError("a figure has a value that is no number")
    return float(f"{value:.{DIGITS}g}")


def _unknown(artist: Artist) -> NotImplementedError:
    return NotImplementedError(f"{type(artist).__name__}: no chart on a page for it; add it to lull.page.chart")
