# SPDX-License-Identifier: BSD-3-Clause
"""A straight line through points, with intervals. Assumed: the points' spread is normal and the same everywhere."""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from lull.statistics import student

LEAST = 3
"""Points that a line with intervals takes."""
FULL = 0.98
"""A CPU that is busier than this may have had more to do than it could."""
FIT = ("alpha", "alpha_pm", "beta", "beta_pm", "r2")
PRICE = ("cycles", "cycles_pm", "time_us", "time_us_pm", "base_mhz", "base_mhz_pm", "r2")
SCHEMA = pa.schema(
    [("group", pa.string())]
    + [(name, pa.int64()) for name in ("mss", "frequencies", "phases", "intervals", "full")]
    + [(name, pa.float64()) for name in (*FIT, "r2_intervals", "error")]
)


def fit(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Return slope and intercept by least squares, half of their 95 % intervals, and the share that is explained."""
    (alpha, beta), (alpha_pm, beta_pm), r2 = _solve([x, [1.0] * len(x)], y)
    return dict(zip(FIT, (alpha, alpha_pm, beta, beta_pm, r2), strict=True))


def price(packets_s: Sequence[float], ghz: Sequence[float], load: Sequence[float]) -> dict[str, float]:
    """Return what a packet costs: cycles, and time that is the same at each frequency, such as that of memory.

    load = packets/s · (cycles / frequency + time) + base / frequency. Equation 1 is this without the time.
    """
    clock, rate = np.asarray(ghz, np.float64), np.asarray(packets_s, np.float64)
    found, halves, r2 = _solve([rate / clock / 1e9, rate / 1e6, 1 / clock / 1e3], load)
    return dict(zip(PRICE, (*(value for pair in zip(found, halves, strict=True) for value in pair), r2), strict=True))


def _solve(columns: Sequence[ArrayLike], y: ArrayLike) -> tuple[list[float], list[float], float]:
    """Return the coefficients by least squares, half of their 95 % intervals, and the share that is explained."""
    at, there = np.stack([np.asarray(column, np.float64) for column in columns], 1), np.asarray(y, np.float64)
    count, width = at.shape
    if count <= width or np.linalg.matrix_rank(at) < width:
        return [math.nan] * width, [math.nan] * width, math.nan
    found = np.linalg.lstsq(at, there, rcond=None)[0]
    left = float(((there - at @ found) ** 2).sum())
    errors = np.sqrt(left / (count - width) * np.diag(np.linalg.inv(at.T @ at)))
    whole = float(((there - there.mean()) ** 2).sum())
    halves = student.quantile(count - width) * errors
    return found.tolist(), halves.tolist(), 1 - left / whole if whole else math.nan


def judge(x: Sequence[float], y: Sequence[float], alpha: float, beta: float) -> dict[str, float]:
    """Return how well a line tells these points: the share of their spread, and the typical error by their mean."""
    at, there = np.asarray(x, np.float64), np.asarray(y, np.float64)
    left = float(((there - alpha * at - beta) ** 2).mean())
    whole, middle = float(there.var()), float(there.mean())
    return {
        "r2_intervals": 1 - left / whole if whole else math.nan,
        "error": math.sqrt(left) / middle if middle else math.nan,
    }
