# SPDX-License-Identifier: BSD-3-Clause
"""Compares the power of cores by two methods: McPAT's tables (event counts), and Linux's energy model (time at each
operating point). The paper compared a counter model with an integrated battery model.

The two methods are not independent. McPAT's dynamic factor of a core is fitted, on one busy loop, to the energy model's
coefficient. (The Tegra's A15 has the Exynos 5422's in both.) The methods differ in how power depends on the activity of
a core, and in the power asleep. The energy model has no L2s. The power of memory is gem5's in both.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lull.figures.esm.points import Row
from lull.plotting.markdown import markdown_table

ENOUGH = 3
"""The smallest number of points for a fitted line."""


@dataclass(frozen=True)
class Agreement:
    """A least-squares line over points: watts by McPAT = `constant` + `slope` x watts by the energy model."""

    points: int
    correlation: float
    slope: float
    constant: float
    worst: float
    """The largest distance of a point from the line, in watts."""


def agreement(points: list[Row]) -> Agreement | None:
    watts = [(row["em_cores_w"], row["cores_w"]) for row in points]
    pairs = np.array([pair for pair in watts if None not in pair])
    if len(pairs) < ENOUGH or not pairs.std(axis=0).all():
        return None
    x, y = pairs.T
    slope, constant = np.polyfit(x, y, 1)
    away = np.abs(y - slope * x - constant).max()
    return Agreement(len(pairs), float(np.corrcoef(x, y)[0, 1]), float(slope), float(constant), float(away))


def text(points: pa.Table) -> str:
    one = agreement(points.to_pylist())
    if not one:
        return ""
    numbers = (
        one.points, f"{one.correlation:.4f}", f"{one.slope:.3f}",
        *(f"{watts * 1e3:.3g}" for watts in (one.constant, one.worst)),
    )  # fmt: skip
    headings = ("points", "correlation", "slope", "constant, mW", "farthest from the line, mW")
    return (
        "\n## Two methods\n\nPower of cores by McPAT, calibrated, over `em`, the energy model that Linux schedules by, "
        "which knows operating points and time alone. McPAT's dynamic factor is fitted to the same coefficient on one "
        "busy loop, so the two are not independent. The constant is what `em` leaves out: leakage of cores asleep.\n\n"
        + markdown_table(headings, [numbers])
    )
