# SPDX-License-Identifier: BSD-3-Clause
"""Power by two methods that share nothing but the run: McPAT's tables from event counts, and Linux's energy model from
time at each operating point. The paper set a counter model beside an integrated battery model.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lull.figures.esm_points import Row
from lull.figures.result import markdown_table

ENOUGH = 3
"""Points for a line."""


@dataclass(frozen=True)
class Agreement:
    """Least squares over points: watts by McPAT = `constant` + `slope` x watts by the energy model."""

    points: int
    correlation: float
    slope: float
    constant: float
    worst: float
    """The farthest of all points from the line, in watts."""


def agreement(rows: list[Row], mcpat: str, em: str) -> Agreement | None:
    pairs = np.array([(row[em], row[mcpat]) for row in rows if row[em] is not None and row[mcpat] is not None])
    if len(pairs) < ENOUGH or not pairs.std(axis=0).all():
        return None
    x, y = pairs.T
    slope, constant = np.polyfit(x, y, 1)
    away = np.abs(y - slope * x - constant).max()
    return Agreement(len(pairs), float(np.corrcoef(x, y)[0, 1]), float(slope), float(constant), float(away))


def text(points: pa.Table) -> str:
    rows = points.to_pylist()
    found = [
        (what, one)
        for what, mcpat, em in (("the machine", "power_w", "em_w"), ("CPUs", "cpus_w", "em_cpus_w"))
        if (one := agreement(rows, mcpat, em))
    ]
    if not found:
        return ""
    lines = [
        (
            what, one.points, f"{one.correlation:.4f}", f"{one.slope:.3f}",
            *(f"{watts * 1e3:.3g}" for watts in (one.constant, one.worst)),
        )
        for what, one in found
    ]  # fmt: skip
    headings = ("power of", "points", "correlation", "slope", "constant, mW", "farthest from the line, mW")
    return (
        "\n## Two methods\n\nMcPAT, calibrated, over `em`, the energy model that Linux schedules by, which knows "
        "operating points and time alone. The constant is what it leaves out: leakage, and clocks of CPUs asleep.\n\n"
        + markdown_table(headings, lines)
    )
