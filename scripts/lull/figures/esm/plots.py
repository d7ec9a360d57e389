# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the ESM experiments: curves over the rate of events, with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lull.figures.esm.points import ESM, PULL, Curves, Row, difference, ends_of
from lull.plotting import style


@dataclass(frozen=True)
class Mark:
    """A number of the paper, at one value of the axis, or over all values if `at` is None."""

    what: str
    value: float
    at: float | None = None


METHODS = {
    "power_w": "machine, event counts (McPAT, calibrated)",
    "em_w": "machine, utilisation x power (em)",
    "cores_w": "cores, event counts (McPAT, calibrated)",
    "em_cores_w": "cores, utilisation x power (em)",
}
"""The two methods of the paper, for the machine and for cores: the measures with the titles of their panels."""


def plot_power(curves: Curves, heading: str, label: str) -> Figure:
    """Draw the power of the whole machine and of its cores, by two methods."""
    figure, axes = style.panels(len(METHODS), 2, 2.2)
    handles: dict[str, Artist] = {}
    for axis, (measure, title) in zip(axes, METHODS.items(), strict=True):
        draw_curves(axis, curves, measure, 1e3, handles)
        axis.set_title(title)
        axis.set_xlabel(heading)
        axis.set_ylabel("mean power (mW)")
    figure.suptitle(f"Power\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles), columns=4)
    return figure


def plot_latency(curves: Curves, heading: str, label: str) -> Figure:
    figure, axes = style.panels(2, 2, 2.6, shared=True)
    handles: dict[str, Artist] = {}
    for axis, (measure, title) in zip(axes, (("latency_us", "mean"), ("p99_us", "99th percentile")), strict=True):
        draw_curves(axis, curves, measure, 1e-3, handles)
        axis.set_title(title)
        axis.set_xlabel(heading)
        axis.set_yscale("log")
    axes[0].set_ylabel("hardware to handler (ms)")
    figure.suptitle(f"Latency\n{label}")
    style.legend_below(figure, list(handles.values()), list(handles), columns=4)
    return figure


def plot_gain(
    curves: Curves,
    heading: str,
    label: str,
    shares: Mapping[Any, tuple[float, float]],
    sooner: Sequence[Mark],
    saved: Sequence[Mark],
) -> Figure:
    """Draw ESM's gain over the 16 ms poll, beside the paper's. `shares` are of the power that the poll adds to the idle
    machine, as the paper's are."""
    figure, axes = style.panels(2, 2, 2.6)
    places = [at for at in curves[ESM] if at in curves[PULL]]
    ours = [difference(curves[PULL][at], curves[ESM][at], "latency_us") for at in places if _both(curves, at)]
    heard = [at for at in places if _both(curves, at)]
    _dots(axes[0], heard, [gap / 1e3 for gap, _ in ours], [half / 1e3 for _, half in ours], "here")
    axes[0].set_ylabel("latency saved (ms)")
    _dots(axes[1], list(shares), [share for share, _ in shares.values()], [half for _, half in shares.values()], "here")
    axes[1].set_ylabel("power saved (%), of what the poll adds")
    for axis, marks in zip(axes, (sooner, saved), strict=True):
        for number, mark in enumerate(marks):
            name = f"paper: {mark.what}"
            if mark.at is None:
                axis.axhline(mark.value, color="0.5", linewidth=0.8, linestyle=style.LINES[1 + number % 3], label=name)
            else:
                axis.plot([mark.at], [mark.value], linestyle="none", marker="x", color="black", label=name)
        axis.set_xlabel(heading)
        axis.set_ylim(bottom=0)
        axis.legend(fontsize=6)
    figure.suptitle(f"What ESM saves against a 16 ms poll\n{label}")
    return figure


def _both(curves: Curves, at: Any) -> bool:
    return all(curves[name][at]["latency_us"] is not None for name in (ESM, PULL))


def _dots(axis: Axes, places: Sequence[float], values: Sequence[float], halves: Sequence[float], name: str) -> None:
    axis.errorbar(
        places, values, yerr=halves, color="black", linewidth=1, linestyle=style.LINES[0], marker=style.MARKERS[0],
        markersize=3, capsize=2, label=name,
    )  # fmt: skip


def _spread(row: Row, measure: str) -> tuple[float, float]:
    """Return the lengths of an interval below and above its number. They differ for quantiles."""
    if f"{measure}_pm" in row:
        half = row[f"{measure}_pm"] or 0.0
        return half, half
    low, high = (row[end] for end in ends_of(measure))
    return max(row[measure] - low, 0.0), max(high - row[measure], 0.0)


def draw_curves(axis: Axes, curves: Curves, measure: str, scale: float, handles: dict[str, Artist]) -> None:
    """Draw the curves, each with its own marker. Curves of polls are grey."""
    for number, (name, points) in enumerate(curves.items()):
        own = [(at, row) for at, row in points.items() if row[measure] is not None]
        if not own:
            continue
        (line, *_) = axis.errorbar(
            [at for at, _ in own],
            [row[measure] * scale for _, row in own],
            yerr=[
                [way * scale for way in ways] for ways in zip(*(_spread(row, measure) for _, row in own), strict=True)
            ],
            color="0.6" if name.startswith("pull") else "black",
            linewidth=0.8,
            linestyle=style.LINES[number % len(style.LINES)],
            marker=style.MARKERS[number % len(style.MARKERS)],
            markerfacecolor="white" if "shadow" in name else None,
            markersize=4,
            capsize=2,
        )
        handles.setdefault(name, line)
