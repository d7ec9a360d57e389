# SPDX-License-Identifier: BSD-3-Clause
"""By how much the answer to each question is off."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Row = dict[str, Any]
Errors = npt.NDArray[np.float64]

NAMES = {
    "cores_j": "joules of the cores, %", "p99_us": "p99 of the wake-up latency, %", "rests_pp": "residencies, points",
}  # fmt: skip


def errors(rows: Sequence[Row], said: str = "said") -> dict[str, Errors]:
    """By how much each point is off: of the prediction, or of the recorded run in its place."""
    found: dict[str, Errors] = {}
    for what in ("cores_j", "p99_us"):
        true = np.array([row[f"true_{what}"] for row in rows])
        found[what] = 100 * np.abs(np.array([row[f"{said}_{what}"] for row in rows]) / true - 1)
    if said == "said":
        found["rests_pp"] = np.array([row["rests_pp"] for row in rows])
    return found
