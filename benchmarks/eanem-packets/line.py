# SPDX-License-Identifier: BSD-3-Clause
"""A straight line through points, with intervals. Assumed: the points' spread is normal and the same everywhere."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from lull.statistics import student

Floats = NDArray[np.float64]

LEAST = 3
"""Points that a line with intervals takes."""
FULL = 0.98
"""A CPU that is busier than this may have had more to do than it could."""
FIT = ("alpha", "alpha_pm", "beta", "beta_pm", "r2")
PRICE = ("cycles", "tau_us", "base_mhz", "alpha_t", "beta_t")
SCHEMA = pa.schema(
    [("group", pa.string())]
    + [(name, pa.int64()) for name in ("mss", "frequencies", "phases", "intervals", "full")]
    + [(name, pa.float64()) for name in (*FIT, "r2_intervals", "error")]
    + [(f"{name}{end}", pa.float64()) for name in PRICE for end in ("", "_pm")]
    + [(name, pa.float64()) for name in ("r2_t", "r2_t_intervals", "tau_us_least", "tau_us_most")]
)
"""`alpha` and `beta` are of equation 1. `alpha_t`, `beta_t` and `tau_us` are of the other fit, and go together.
`r2_t` is of the loads of phases that this fit goes through; `r2_t_intervals` and `r2_intervals` are of the packets of
intervals. `tau_us_least` and `tau_us_most` are of the fits without one point: the intervals take the phases of a point
to be independent, although they have one clock and one boot.
"""
WOKEN = ("cycles_w", "tau_w_us", "wake_cycles")
WAKES = pa.schema(
    [("group", pa.string()), ("mss", pa.int64()), ("phases", pa.int64())]
    + [(f"{name}{end}", pa.float64()) for name in WOKEN for end in ("", "_pm")]
    + [(name, pa.float64()) for name in ("r2_w", "r2_w_intervals", "tau_w_us_least", "tau_w_us_most")]
)
"""The fit that counts the CPU's wake-ups. `r2_w` is of the loads of phases that the fit goes through, `r2_w_intervals`
of the packets of intervals, as `r2_t_intervals`. `tau_w_us_least` and `tau_w_us_most` are as those of the other fit."""
LINES = pa.schema(
    [("group", pa.string()), ("mss", pa.int64()), ("mhz", pa.int64())]
    + [(name, pa.float64()) for name in (*FIT, "r2_intervals", "error", "packet_us")]
)
"""A line for each frequency. `packet_us` is what one packet more takes at it."""


def fit(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Return slope and intercept by least squares, half of their 95 % intervals, and the share that is explained."""
    (alpha, beta), squares, r2 = _solve([x, [1.0] * len(x)], y)
    alpha_pm, beta_pm = np.sqrt(np.diag(squares))
    return dict(zip(FIT, map(float, (alpha, alpha_pm, beta, beta_pm, r2)), strict=True))


def price(packets_s: Sequence[float], ghz: Sequence[float], load: Sequence[float]) -> dict[str, float]:
    """Return what a packet costs: cycles, and the time tau that is the same at each frequency, such as that of memory.

    load = packets/s · (cycles / frequency + tau) + base / frequency. Equation 1 is this without tau. Cycles and base
    are also given as its coefficients: load = (packets/s - beta_t) / alpha_t / frequency + packets/s · tau.
    """
    clock, rate = np.asarray(ghz, np.float64), np.asarray(packets_s, np.float64)
    found, squares, r2 = _solve([rate / clock / 1e9, rate / 1e6, 1 / clock / 1e3], load)
    cycles, _, base = found
    # How cycles, tau and base change alpha_t and beta_t. Their intervals are to first order.
    slopes = np.array([[-1e9 / cycles**2, 0, 0], [1e6 * base / cycles**2, 0, -1e6 / cycles]])
    values = (*found, 1e9 / cycles, -1e6 * base / cycles)
    halves = np.sqrt([*np.diag(squares), *np.diag(slopes @ squares @ slopes.T)])
    return _with_halves(PRICE, values, halves) | {"r2_t": r2}


def judge_price(
    packets_s: Sequence[float], ghz: Sequence[float], load: Sequence[float], price: Mapping[str, float]
) -> float:
    """Return the share of the spread of these packets that `price` tells from their loads."""
    clock, busy = np.asarray(ghz, np.float64), np.asarray(load, np.float64)
    said = (busy - price["base_mhz"] / clock / 1e3) / (price["cycles"] / clock / 1e9 + price["tau_us"] / 1e6)
    return judge(said.tolist(), packets_s, 1, 0)["r2_intervals"]


def woken(
    packets_s: Sequence[float], wakes_s: Sequence[float], ghz: Sequence[float], load: Sequence[float]
) -> dict[str, float]:
    """Return what a packet costs, and what a wake-up of the CPU costs, however many packets this wake-up brings.

    load = packets/s · (cycles / frequency + tau) + wake-ups/s · wake cycles / frequency.
    """
    clock, rate, wakes = (np.asarray(values, np.float64) for values in (ghz, packets_s, wakes_s))
    found, squares, r2 = _solve([rate / clock / 1e9, rate / 1e6, wakes / clock / 1e9], load)
    return _with_halves(WOKEN, found, np.sqrt(np.diag(squares))) | {"r2_w": r2}


def judge_woken(
    packets_s: Sequence[float],
    wakes_s: Sequence[float],
    ghz: Sequence[float],
    load: Sequence[float],
    told: Mapping[str, float],
) -> float:
    """Return the share of the spread of these packets that `told` tells from their loads and wake-ups."""
    clock, wakes, busy = (np.asarray(values, np.float64) for values in (ghz, wakes_s, load))
    packet = told["cycles_w"] / clock / 1e9 + told["tau_w_us"] / 1e6
    said = (busy - wakes * told["wake_cycles"] / clock / 1e9) / packet
    return judge(said.tolist(), packets_s, 1, 0)["r2_intervals"]


def _with_halves(names: Sequence[str], values: Iterable[float], halves: Iterable[float]) -> dict[str, float]:
    """Each value by its name, and half of its interval by `name_pm`."""
    told: dict[str, float] = {}
    for name, value, half in zip(names, values, halves, strict=True):
        told |= {name: float(value), f"{name}_pm": float(half)}
    return told


def _solve(columns: Sequence[ArrayLike], y: ArrayLike) -> tuple[Floats, Floats, float]:
    """Return the coefficients by least squares, their covariances, and the share that is explained.

    The covariances are scaled: the diagonal has the squares of half of the 95 % intervals.
    """
    at, there = np.stack([np.asarray(column, np.float64) for column in columns], 1), np.asarray(y, np.float64)
    count, width = at.shape
    if count <= width or np.linalg.matrix_rank(at) < width:
        return np.full(width, math.nan), np.full((width, width), math.nan), math.nan
    found: Floats = np.asarray(np.linalg.lstsq(at, there, rcond=None)[0], np.float64)
    left = float(((there - at @ found) ** 2).sum())
    covariances: Floats = left / (count - width) * np.linalg.inv(at.T @ at)
    whole = float(((there - there.mean()) ** 2).sum())
    return found, student.quantile(count - width) ** 2 * covariances, 1 - left / whole if whole else math.nan


def judge(x: Sequence[float], y: Sequence[float], alpha: float, beta: float) -> dict[str, float]:
    """Return how well a line tells these points: the share of their spread, and the typical error by their mean."""
    at, there = np.asarray(x, np.float64), np.asarray(y, np.float64)
    left = float(((there - alpha * at - beta) ** 2).mean())
    whole, middle = float(there.var()), float(there.mean())
    return {
        "r2_intervals": 1 - left / whole if whole else math.nan,
        "error": math.sqrt(left) / middle if middle else math.nan,
    }
