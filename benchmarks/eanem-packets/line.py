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
SCHEMA = pa.schema(
    [("group", pa.string()), ("mss", pa.int64()), ("intervals", pa.int64())]
    + [(name, pa.float64()) for name in ("alpha", "alpha_pm", "beta", "beta_pm", "r2")]
)


def fit(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Return slope and intercept by least squares, half of their 95 % intervals, and the share that is explained."""
    at, there = np.asarray(x, np.float64), np.asarray(y, np.float64)
    count, middle = at.size, float(at.mean())
    spread = float(((at - middle) ** 2).sum())
    if count < LEAST or spread == 0:
        nothing = ("alpha", "alpha_pm", "beta", "beta_pm", "r2")
        return dict.fromkeys(nothing, math.nan)
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
