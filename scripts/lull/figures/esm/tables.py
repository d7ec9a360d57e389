# SPDX-License-Identifier: BSD-3-Clause
"""The tables that the analyses of the ESM experiments have in common."""

from collections.abc import Sequence

import pyarrow as pa

from lull.figures.esm import boots as esm_boots
from lull.figures.esm import paired
from lull.figures.esm import points as esm_points
from lull.figures.esm.runs import Measured
from lull.results.result import Result


def of_points(points: Sequence[Measured], axis: str) -> dict[str, pa.Table]:
    """Return the tables of points, repetitions and differences, and `boots` if points ran in several boots."""
    boots = esm_boots.df_boots(points, axis)
    return {
        "points": esm_points.df_points(points, axis),
        "repetitions": esm_points.df_repetitions(points, axis),
        "differences": paired.df_differences(points, axis),
        **({"boots": boots} if boots.num_rows else {}),
    }


def without_joules(result: Result, label: str) -> Result:
    """Return the result of runs on an engine without timing: the summary says what is missing, and why."""
    result.summary += f"\n{label}: no joules, and so no figures and nothing to compare.\n"
    return result
