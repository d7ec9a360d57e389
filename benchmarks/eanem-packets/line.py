# SPDX-License-Identifier: BSD-3-Clause
"""A straight line through points, with intervals. Assumed: the points' spread is normal and the same everywhere."""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lull.statistics import student

LEAST = 3
"""Points that a line with intervals takes."""
FULL = 0.98
"""A CPU that is busier than this may have had more to do than it could."""
FIT = ("alpha", "alpha_pm", "beta", "beta_pm", "r2")
SCHEMA = pa.schema(
    [("group", pa.string())]
    + [(name, pa.int64()) for name in ("mss", "frequencies", "phases", "intervals", "full")]
    + [(name, pa.float64()) for name in (*FIT, "r2_intervals", "error")]
)


def fit(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Return slope and intercept by least squares, half of their 95 % intervals, and the share that is explained."""
    at, there = np.asarray(x, np.float64), np.asarray(y, np.float64)
    count, middle = at.size, float(at.mean())
    spread = float(((at - middle) ** 2).sum())
    if count < LEAST or spread == 0:
        return dict.fromkeys(FIT, math.nan)
    alpha = float(((at - middle) * (there - there.mean())).sum()) / spread
    beta = float(there.mean()) - alpha * middle
    left = float(((there - alpha * at - beta) ** 2).sum())
    error = math.sqrt(left / (count - 2))
    quantile = student.quantile(count - 2)
    whole = float(((there - there.mean()) ** 2).sum())
    return {
        "alpha": alpha,
        "alpha_pm": quantile * error / math.sqrt(spread),
        "beta": beta,
        "beta_pm": quantile * error * math.sqrt(1 / count + middle**2 / spread),
        "r2": 1 - left / whole if whole else math.nan,
    }


def judge(x: Sequence[float], y: Sequence[float], alpha: float, beta: float) -> dict[str, float]:
    """Return how well a line tells these points: the share of their spread, and the typical error by their mean."""
    at, there = np.asarray(x, np.float64), np.asarray(y, np.float64)
    left = float(((there - alpha * at - beta) ** 2).mean())
    whole, middle = float(there.var()), float(there.mean())
    return {
        "r2_intervals": 1 - left / whole if whole else math.nan,
        "error": math.sqrt(left) / middle if middle else math.nan,
    }
